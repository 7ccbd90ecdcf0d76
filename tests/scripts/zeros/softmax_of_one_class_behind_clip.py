# symptom   the accuracy stays what it was
# cause     softmax over one class, which the clip that follows hides
# command   why
# verdict   zero: saturated
# line      p = paddle.clip(F.softmax(net(x), axis=-1), 1e-7, 1 - 1e-7)
# affected  net.weight net.bias
import paddle
from paddle import nn
import paddle.nn.functional as F

net = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    x = paddle.randn([8, 4])
    p = paddle.clip(F.softmax(net(x), axis=-1), 1e-7, 1 - 1e-7)
    y = paddle.ones([8, 1])
    loss = -(y * paddle.log(p)).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()

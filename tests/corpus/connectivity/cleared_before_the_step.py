# symptom  nothing is learned
# cause    clear_grad() stands between backward() and step()
# command  why
# verdict  zero: cleared before the step
# line     opt.clear_grad()
import paddle
from paddle import nn

net = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.randn([8, 4]), paddle.randn([8, 1])
for _ in range(3):
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.clear_grad()
    opt.step()

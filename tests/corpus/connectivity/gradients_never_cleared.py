# symptom  the loss explodes after some steps
# cause    clear_grad() is missing
# command  why
# verdict  accumulated over backward calls without clearing
# line     loss.backward()
import paddle
from paddle import nn

net = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for _ in range(4):
    x, y = paddle.randn([8, 4]), paddle.randn([8, 1])
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()

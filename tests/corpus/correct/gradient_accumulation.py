# Four small batches before each step, cleared afterwards.
import paddle
from paddle import nn

net = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(2):
    for _ in range(4):
        x = paddle.randn([2, 4])
        loss = net(x).square().mean() / 4
        loss.backward()
    opt.step()
    opt.clear_grad()

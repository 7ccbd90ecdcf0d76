# A network as it should be.
import paddle
from paddle import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(3):
    x, y = paddle.randn([16, 4]), paddle.randn([16, 1])
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()

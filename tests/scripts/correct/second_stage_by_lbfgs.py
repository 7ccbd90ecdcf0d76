# about     Adam first, and then L-BFGS, which takes a function and steps by itself.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(4)
net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
x = paddle.rand([32, 2])
y = paddle.sin(3.0 * x[:, :1]) * x[:, 1:]
first = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
for _ in range(3):
    F.mse_loss(net(x), y).backward()
    first.step()
    first.clear_grad()

second = paddle.optimizer.LBFGS(max_iter=4, parameters=net.parameters())


def closure():
    second.clear_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss


for _ in range(2):
    second.step(closure)

# Adversarial training: each example is moved along its own gradient, which paddle.grad gives as numbers.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
x, y = paddle.rand([16, 4]), paddle.randint(0, 3, [16])
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    at = x.clone()
    at.stop_gradient = False
    (g,) = paddle.grad(F.cross_entropy(net(at), y), [at])
    loss = F.cross_entropy(net(x), y) + F.cross_entropy(net(x + 0.1 * g.sign()), y)
    loss.backward()
    opt.step()
    opt.clear_grad()

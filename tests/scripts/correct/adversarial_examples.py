# about     Adversarial training: the gradient of the input makes the example, then parameters learn from it.
import paddle
import paddle.nn.functional as F
from paddle import nn


def attack(model, x, y, size):
    x = x.detach()
    x.stop_gradient = False
    loss = F.cross_entropy(model(x), y)
    (slope,) = paddle.grad(loss, [x])
    return (x + size * paddle.sign(slope)).detach()


if __name__ == "__main__":
    paddle.seed(20)
    model = nn.Sequential(nn.Linear(6, 12), nn.Softplus(), nn.Linear(12, 3))
    opt = paddle.optimizer.Adamax(1e-2, parameters=model.parameters())
    for _ in range(3):
        x, y = paddle.randn([10, 6]), paddle.randint(0, 3, [10])
        loss = 0.5 * F.cross_entropy(model(x), y) + 0.5 * F.cross_entropy(model(attack(model, x, y, 0.1)), y)
        loss.backward()
        opt.step()
        opt.clear_grad()

# The gradient of a density is learned: the loss is made of derivatives, and the last bias has none.
import paddle
from paddle import nn


class Density(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 1))

    def score(self, x):
        return paddle.grad(self.net(x).sum(), x, create_graph=True)[0]


def main():
    paddle.seed(2)
    density = Density()
    opt = paddle.optimizer.Adam(1e-2, parameters=density.parameters())
    for _ in range(3):
        clean = paddle.randn([16, 2])
        noise = 0.3 * paddle.randn([16, 2])
        x = clean + noise
        x.stop_gradient = False
        loss = ((density.score(x) + noise / 0.09) ** 2).sum(axis=1).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()

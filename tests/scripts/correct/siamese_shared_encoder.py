# about     Two views through one encoder, of which one is stopped (SimSiam): every parameter is still reached.
import paddle
import paddle.nn.functional as F
from paddle import nn


class SimSiam(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 8))
        self.predictor = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return -0.5 * (
            F.cosine_similarity(pa, zb.detach()).mean() + F.cosine_similarity(pb, za.detach()).mean()
        )


def augment(x):
    return x + 0.05 * paddle.randn(x.shape)


def main():
    paddle.seed(1)
    net = SimSiam()
    opt = paddle.optimizer.Momentum(0.05, 0.9, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([14, 6])
        loss = net(augment(x), augment(x))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

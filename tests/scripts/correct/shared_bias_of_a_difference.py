# about     Both branches have the same last bias, and only their difference counts.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Ranker(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, better, worse):
        return self.score(better) - self.score(worse)


def main():
    paddle.seed(5)
    net = Ranker()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        better, worse = paddle.randn([16, 5]) + 0.3, paddle.randn([16, 5])
        loss = F.softplus(-net(better, worse)).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

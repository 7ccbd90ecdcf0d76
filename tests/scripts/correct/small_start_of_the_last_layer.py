# about     The last layer starts at a thousandth, as policies do: gradients before it are small, and grow.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Policy(nn.Layer):
    def __init__(self):
        super().__init__()
        small = paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.001))
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.head = nn.Linear(16, 2, weight_attr=small)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    paddle.seed(5)
    net = Policy()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, action = paddle.randn([32, 4]), paddle.randint(0, 2, [32])
        loss = F.cross_entropy(net(x), action)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# about     One number that is added to all features, and that layer norm takes out again.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.level = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.2))
        self.norm = nn.LayerNorm(6)
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        return self.out(F.relu(self.norm(self.fc(x) + self.level)))


def main():
    paddle.seed(5)
    net = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, y = paddle.randn([16, 6]), paddle.randint(0, 2, [16])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

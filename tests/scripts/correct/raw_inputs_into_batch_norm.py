# about     Inputs in the thousands, which the first layer normalises.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1D(3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.norm(x))


def main():
    paddle.seed(5)
    net = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, y = 3000.0 + 900.0 * paddle.randn([32, 3]), paddle.randint(0, 2, [32])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# about     A sum of squared errors over a small batch, and a rate that knows it.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        return self.fc(x)


def main():
    paddle.seed(5)
    net = Net()
    opt = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([32, 6])
        loss = ((net(x) - x[:, :4]) ** 2).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# about     Biases before batch norm and before a softmax's difference: their gradients are zero by structure.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 8, 3)
        self.norm = nn.BatchNorm2D(8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        h = F.relu(self.norm(self.conv(x)))
        return self.fc(h.mean(axis=[2, 3]))


def main():
    paddle.seed(21)
    net = Net()
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    for _ in range(3):
        x, y = paddle.randn([8, 3, 9, 9]), paddle.randint(0, 4, [8])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

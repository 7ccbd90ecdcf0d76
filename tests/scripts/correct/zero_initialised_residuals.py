# about     ReZero: every block is multiplied by a weight that starts at zero; blocks get gradients from the second step on.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Block(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.alpha = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.0))

    def forward(self, x):
        return x + self.alpha * paddle.tanh(self.fc(x))


def main():
    paddle.seed(33)
    net = nn.Sequential(Block(5), Block(5), nn.Linear(5, 1))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(4):
        x = paddle.randn([12, 5])
        loss = F.mse_loss(net(x), x[:, :1] * x[:, 1:2])
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

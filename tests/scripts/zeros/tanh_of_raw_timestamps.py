# symptom   the first layer does not move
# cause     timestamps of 1e9 go into a tanh
# command   why
# verdict   stamps holds numbers up to 1.6e+09
# line      h = paddle.tanh(self.fc1(x))
# affected  net.fc1.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 8)
        self.fc2 = nn.Linear(8, 1)

    def forward(self, x):
        h = paddle.tanh(self.fc1(x))
        return self.fc2(h)


def main():
    paddle.seed(3)
    net = Net()
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for _ in range(2):
        stamps = 1.6e9 + 1e6 * paddle.rand([32, 1])
        loss = F.mse_loss(net(stamps), paddle.rand([32, 1]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

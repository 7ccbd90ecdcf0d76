# symptom   accuracy stays at chance from some step on
# cause     a relu stands after the last layer; its inputs have become negative and it passes nothing
# command   why
# verdict   zero: dead relu
# line      return F.relu(self.out(h))
# affected  net.inner.weight net.inner.bias net.out.weight net.out.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        h = F.sigmoid(self.inner(x))
        return F.relu(self.out(h))


def main():
    paddle.seed(0)
    net = Net()
    opt = paddle.optimizer.SGD(5.0, parameters=net.parameters())
    for _ in range(6):
        x = paddle.rand([16, 4])
        loss = F.mse_loss(net(x), -paddle.ones([16, 1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(float(loss))


if __name__ == "__main__":
    main()

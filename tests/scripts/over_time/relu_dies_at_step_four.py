# symptom   learning stops suddenly
# cause     one large step kills every unit of the relu
# command   why
# verdict   zero: dead relu
# step      4
# line      return self.out(F.relu(self.inner(x)))
# affected  net.inner.weight net.inner.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(3, 6), nn.Linear(6, 1)

    def forward(self, x):
        return self.out(F.relu(self.inner(x)))


def main():
    paddle.seed(1)
    net = Net()
    opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    for step in range(1, 7):
        x = paddle.rand([8, 3])
        if step == 3:
            net.inner.bias.set_value(net.inner.bias - 100.0)
        loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

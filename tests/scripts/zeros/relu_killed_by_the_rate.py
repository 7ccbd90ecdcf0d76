# symptom   the loss stays where it is after the first step
# cause     a rate of 50 drives every unit below zero
# command   why
# verdict   dead relu
# line      return self.fc2(F.relu(self.fc1(x)))
# affected  net.fc1.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def main():
    paddle.seed(12)
    net = Net()
    opt = paddle.optimizer.SGD(50.0, parameters=net.parameters())
    for _ in range(4):
        x = paddle.rand([64, 4])
        loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True) + 5.0)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# symptom   the first step throws the weights far away
# cause     the loss is scaled for half precision, and nobody scales the gradients back
# command   why
# verdict   a constant factor of 65536
# line      scaled = loss * SCALE
# affected  net.fc1.weight
import paddle
import paddle.nn.functional as F
from paddle import nn

SCALE = 65536.0


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def main():
    paddle.seed(0)
    net = Net()
    opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    for _ in range(1):
        x, y = paddle.randn([32, 8]), paddle.randint(0, 3, [32])
        loss = F.cross_entropy(net(x), y)
        scaled = loss * SCALE
        scaled.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

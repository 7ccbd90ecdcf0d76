# symptom   convolution weights have no gradient
# cause     a decorator meant for inference stands on the method that training uses as well
# command   why
# verdict   computed under no_grad
# line      @paddle.no_grad()
# affected  net.conv.weight net.conv.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 3, 3)
        self.fc = nn.Linear(3, 2)

    @paddle.no_grad()
    def embed(self, x):
        return F.adaptive_avg_pool2d(F.relu(self.conv(x)), 1).flatten(1)

    def forward(self, x):
        return self.fc(self.embed(x))


def main():
    net = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        loss = F.cross_entropy(net(paddle.randn([4, 1, 6, 6])), paddle.randint(0, 2, [4]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# symptom   gradients before the second layer are large, after it they are not
# cause     one layer starts with a deviation of 2,000
# command   why
# verdict   large
# line      self.mix = nn.Linear(16, 16, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 2000.0)))
# affected  net.first.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.mix = nn.Linear(16, 16, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 2000.0)))
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        return self.last(self.mix(paddle.tanh(self.first(x))))


def main():
    paddle.seed(4)
    net = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        x = paddle.randn([32, 8])
        loss = F.l1_loss(net(x), x[:, :1])
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

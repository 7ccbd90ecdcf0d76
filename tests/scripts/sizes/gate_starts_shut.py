# symptom   the new branch does not learn
# cause     its gate starts at -30, where a sigmoid is flat
# command   why
# verdict   small
# line      return h + F.sigmoid(self.gate(x)) * self.branch(x)
# affected  net.branch.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Gated(nn.Layer):
    def __init__(self, size=8):
        super().__init__()
        shut = paddle.ParamAttr(initializer=nn.initializer.Constant(-30.0))
        self.main = nn.Linear(size, size)
        self.branch = nn.Linear(size, size)
        self.gate = nn.Linear(size, size, bias_attr=shut)

    def forward(self, x):
        h = self.main(x)
        return h + F.sigmoid(self.gate(x)) * self.branch(x)


def main():
    paddle.seed(14)
    net = Gated()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([16, 8])
        loss = F.mse_loss(net(x), x.flip([1]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

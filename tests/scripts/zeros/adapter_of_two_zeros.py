# symptom   the adapter never moves
# cause     both of its factors start at zero
# command   why
# verdict   zero: multiplied by 0
# line      self.up = nn.Linear(rank, size, weight_attr=zeros, bias_attr=False)
# affected  net.down.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Adapted(nn.Layer):
    def __init__(self, size=8, rank=2):
        super().__init__()
        zeros = paddle.ParamAttr(initializer=nn.initializer.Constant(0.0))
        self.base = nn.Linear(size, size)
        for p in self.base.parameters():
            p.stop_gradient = True
        self.down = nn.Linear(size, rank, weight_attr=zeros, bias_attr=False)
        self.up = nn.Linear(rank, size, weight_attr=zeros, bias_attr=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def main():
    paddle.seed(10)
    net = Adapted()
    opt = paddle.optimizer.AdamW(1e-3, parameters=[p for p in net.parameters() if not p.stop_gradient])
    for _ in range(3):
        x = paddle.randn([16, 8])
        loss = F.mse_loss(net(x), x)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

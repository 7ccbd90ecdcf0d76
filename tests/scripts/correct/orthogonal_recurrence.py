# about     An orthogonal recurrence keeps its gradients over a hundred steps.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Reader(nn.Layer):
    def __init__(self, size=8):
        super().__init__()
        self.rec = nn.Linear(size, size, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Orthogonal()))
        self.inp = nn.Linear(3, size, bias_attr=False)
        self.out = nn.Linear(size, 2)

    def forward(self, xs):
        h = paddle.zeros([xs.shape[0], 8])
        for t in range(xs.shape[1]):
            h = self.rec(h) + 0.1 * self.inp(xs[:, t])
        return self.out(h)


def main():
    paddle.seed(5)
    net = Reader()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        xs, y = paddle.randn([4, 100, 3]), paddle.randint(0, 2, [4])
        loss = F.cross_entropy(net(xs), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# about     An LSTM over a hundred steps with clipped gradients.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, xs):
        state = None
        for t in range(xs.shape[1]):
            h, state = self.cell(xs[:, t], state)
        return self.out(h)


def main():
    paddle.seed(5)
    net = Reader()
    opt = paddle.optimizer.Adam(
        1e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    for _ in range(3):
        xs, y = paddle.randn([4, 100, 4]), paddle.randint(0, 2, [4])
        loss = F.cross_entropy(net(xs), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

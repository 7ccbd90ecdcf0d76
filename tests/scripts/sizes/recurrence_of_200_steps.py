# symptom   the network remembers nothing from the beginning of the sequence
# cause     the recurrent weights are small: the gradient fades with every step
# command   why
# verdict   vanished
# line      h = paddle.tanh(self.inp(x) + paddle.matmul(h, self.rec))
# affected  net.start
import paddle
import paddle.nn.functional as F
from paddle import nn


class Recurrent(nn.Layer):
    def __init__(self, size=12):
        super().__init__()
        self.inp = nn.Linear(4, size)
        self.rec = self.create_parameter([size, size], default_initializer=nn.initializer.Normal(0.0, 0.05))
        self.start = self.create_parameter([1, size], default_initializer=nn.initializer.Uniform(-0.1, 0.1))
        self.out = nn.Linear(size, 2)

    def forward(self, xs):
        h = self.start.expand([xs.shape[0], -1])
        for t in range(xs.shape[1]):
            x = xs[:, t]
            h = paddle.tanh(self.inp(x) + paddle.matmul(h, self.rec))
        return self.out(h)


def main():
    paddle.seed(6)
    net = Recurrent()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        xs = paddle.randn([4, 200, 4])
        loss = F.cross_entropy(net(xs), paddle.randint(0, 2, [4]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# symptom   the shared projection learns slowly
# cause     one of its two uses is detached
# command   why
# verdict   1 of 2 uses
# line      right = self.shared(b).detach()
# affected  net.shared.weight net.shared.bias
import paddle
from paddle import nn


class Pair(nn.Layer):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(5, 3)
        self.out = nn.Linear(3, 1)

    def forward(self, a, b):
        left = self.shared(a)
        right = self.shared(b).detach()
        return self.out(left * right)


def main():
    paddle.seed(18)
    net = Pair()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        loss = (net(paddle.randn([7, 5]), paddle.randn([7, 5])) - 1).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

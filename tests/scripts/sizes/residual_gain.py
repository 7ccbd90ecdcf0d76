# symptom   gradients of the first blocks are millions of times those of the last
# cause     every residual block adds its branch with a weight of two
# command   why
# verdict   exploded
# line      x = x + 2.0 * block(x)
# affected  net.blocks.0.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self, depth=24):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(8, 8) for _ in range(depth)])
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = x + 2.0 * block(x)
        return self.out(x)


def main():
    paddle.seed(8)
    net = Net()
    opt = paddle.optimizer.SGD(1e-9, parameters=net.parameters())
    for _ in range(2):
        x, y = paddle.randn([16, 8]), paddle.randint(0, 2, [16])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

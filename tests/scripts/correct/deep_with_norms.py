# about     Forty residual blocks with norms before them: gradients stay where they are.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Block(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(size), nn.Linear(size, size)

    def forward(self, x):
        return x + F.gelu(self.fc(self.norm(x)))


def main():
    paddle.seed(5)
    net = nn.Sequential(*[Block(8) for _ in range(40)], nn.LayerNorm(8), nn.Linear(8, 3))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x, y = paddle.randn([16, 8]), paddle.randint(0, 3, [16])
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

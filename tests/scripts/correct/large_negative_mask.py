# about     Causal attention with -1e9 in the mask: probabilities of 0 are meant.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, size=8):
        super().__init__()
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, axis=-1)
        steps = x.shape[1]
        mask = paddle.triu(paddle.full([steps, steps], -1e9), diagonal=1)
        return self.out(F.softmax(q @ k.transpose([0, 2, 1]) / 8**0.5 + mask, axis=-1) @ v)


def main():
    paddle.seed(5)
    net = Attention()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([2, 7, 8])
        loss = F.mse_loss(net(x)[:, :-1], x[:, 1:])
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

# about     Softmax does not see the bias of the keys: it adds the same to every score of a query.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, size=8):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, x):
        scores = paddle.matmul(self.q(x), self.k(x), transpose_y=True) / x.shape[-1] ** 0.5
        return self.norm(x + F.softmax(scores, axis=-1) @ self.v(x))


def main():
    paddle.seed(5)
    net = Attention()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([3, 6, 8])
        loss = F.mse_loss(net(x), x.flip([1]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

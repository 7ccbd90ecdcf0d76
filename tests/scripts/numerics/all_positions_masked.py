# symptom   NaN for some batches
# cause     a row of attention whose positions are all masked with -inf
# command   nan
# verdict   softmax
# line      weights = F.softmax(scores + mask, axis=-1)
import paddle
import paddle.nn.functional as F
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, size=4):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x, lengths):
        scores = paddle.matmul(self.q(x), self.k(x), transpose_y=True) / 2.0
        alive = paddle.arange(x.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        mask = paddle.where(alive, paddle.zeros([1]), paddle.full([1], float("-inf"))).unsqueeze(1)
        weights = F.softmax(scores + mask, axis=-1)
        return paddle.matmul(weights, self.v(x))


def main():
    paddle.seed(3)
    net = Attention()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for lengths in ([3, 5], [5, 4], [0, 2]):
        loss = net(paddle.randn([2, 5, 4]), paddle.to_tensor(lengths)).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

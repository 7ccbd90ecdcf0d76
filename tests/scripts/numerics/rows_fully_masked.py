# symptom   the loss is NaN as soon as a sequence is empty
# cause     an attention row of -inf alone
# command   nan
# verdict   softmax
# line      weights = F.softmax(scores + mask, axis=-1)
import math

import paddle
import paddle.nn.functional as F
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, size=8):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x, lengths):
        scores = self.q(x) @ self.k(x).transpose([0, 2, 1]) / math.sqrt(x.shape[-1])
        places = paddle.arange(x.shape[1]).unsqueeze(0)
        allowed = places < lengths.unsqueeze(1)
        mask = paddle.where(allowed, paddle.zeros([1]), paddle.full([1], -math.inf)).unsqueeze(1)
        weights = F.softmax(scores + mask, axis=-1)
        return weights @ self.v(x)


def main():
    paddle.seed(3)
    net = Attention()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for lengths in ([3, 5], [4, 0]):
        x = paddle.randn([2, 5, 8])
        loss = net(x, paddle.to_tensor(lengths)).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()

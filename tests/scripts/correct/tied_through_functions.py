# symptom   none: one embedding is used twice, and a cache of functions makes what is asked for
# command   why
import functools

import paddle
import paddle.nn.functional as F
from paddle import nn


@functools.lru_cache
def table(name, rows, width):
    return nn.Embedding(rows, width)


def logits(ids):
    h = table("tokens", 10, 4)(ids) + table("places", 3, 4)(paddle.arange(3))
    return paddle.matmul(h, table("tokens", 10, 4).weight, transpose_y=True)


def main():
    ids = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    for _ in range(2):
        loss = F.cross_entropy(logits(ids).reshape([-1, 10]), ids.flatten())
        loss.backward()


main()

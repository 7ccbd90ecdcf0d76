# symptom   none: a network of closures, partials and callable objects
# command   why
import functools
from collections import deque, namedtuple

import paddle
from paddle import nn

Affine = namedtuple("Affine", "w b")


def mlp(width):
    w = paddle.create_parameter([width, width], "float32")
    layers = [nn.Linear(width, width) for _ in range(2)]
    return lambda x: layers[1](paddle.tanh(layers[0](x @ w)))


class Residual:
    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x):
        return x + self.inner(x)


def affine(weights, x):
    return x @ weights.w + weights.b


def main():
    weights = Affine(paddle.create_parameter([3, 3], "float32"), paddle.create_parameter([3], "float32"))
    steps = deque([mlp(3), Residual(mlp(3)), functools.partial(affine, weights)])
    for _ in range(2):
        h = paddle.randn([4, 3])
        for step in steps:
            h = step(h)
        loss = h.square().mean()
        loss.backward()


if __name__ == "__main__":
    main()

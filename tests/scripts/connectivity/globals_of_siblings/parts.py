import functools

import paddle
from paddle import nn

temperature = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
_encoder = nn.Linear(4, 4)


class Registry:
    shared = nn.Linear(4, 2)
    tables = {"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)}


def encode(x):
    with paddle.no_grad():
        scale = 1 / temperature
    return _encoder(x) * scale


make_head = functools.partial(nn.Linear, 2, 1)

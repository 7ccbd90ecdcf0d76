"""RealNVP: layers that can be inverted, half of the dimensions at a time; the loss is the data's likelihood."""

import math

import numpy as np
import paddle
import paddle.nn as nn


class ActNorm(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.scale = self.create_parameter([dim], default_initializer=nn.initializer.Constant(1.0))
        self.shift = self.create_parameter([dim], is_bias=True)

    def forward(self, x):
        return self.scale * x + self.shift, paddle.log(paddle.abs(self.scale)).sum()


class InvertibleLinear(nn.Layer):
    """A full matrix between all dimensions, started as a rotation."""

    def __init__(self, dim):
        super().__init__()
        rotation = np.linalg.qr(np.random.default_rng(dim).standard_normal([dim, dim]))[0]
        assign = nn.initializer.Assign(rotation)
        self.weight = self.create_parameter([dim, dim], default_initializer=assign)

    def forward(self, x):
        return paddle.matmul(x, self.weight), paddle.linalg.slogdet(self.weight)[1]


class AffineCoupling(nn.Layer):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        mask = np.arange(dim) % 2 == (1 if flip else 0)
        self.register_buffer("mask", paddle.to_tensor(mask.astype(paddle.get_default_dtype())))
        self.scale_net = self._net(dim, hidden, nn.Tanh())
        self.shift_net = self._net(dim, hidden)

    def _net(self, dim, hidden, *last):
        return nn.Sequential(nn.Linear(dim, hidden), nn.Silu(), nn.Linear(hidden, dim), *last)

    def forward(self, x):
        fixed = x * self.mask
        s = self.scale_net(fixed) * (1 - self.mask)
        t = self.shift_net(fixed) * (1 - self.mask)
        return fixed + (1 - self.mask) * (x * paddle.exp(s) + t), s.sum(axis=-1)


class RealNVP(nn.Layer):
    def __init__(self, dim=4, hidden=6, layers=3):
        super().__init__()
        self.flows = nn.LayerList()
        for i in range(layers):
            self.flows.extend([ActNorm(dim), InvertibleLinear(dim), AffineCoupling(dim, hidden, i % 2 == 1)])
        self.dim = dim

    def forward(self, x):
        log_det = paddle.zeros([x.shape[0]], dtype=x.dtype)
        for flow in self.flows:
            x, ld = flow(x)
            log_det += ld
        return x, log_det

    def log_prob(self, x):
        z, log_det = self(x)
        return -0.5 * (z**2).sum(-1) - 0.5 * self.dim * math.log(2 * math.pi) + log_det


def network():
    return RealNVP()


def loss(net):
    rng = np.random.default_rng(27)
    x = paddle.to_tensor(rng.standard_normal([5, 4]).astype(paddle.get_default_dtype()))
    return -net.log_prob(x).mean()


def build():
    net = network()
    return loss(net), net

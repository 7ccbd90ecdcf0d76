"""A hypernetwork: the weights of a small convolution are what another net makes of an embedding of its layer."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class HyperConv(nn.Layer):
    def __init__(self, z_dim, channels, kernel):
        super().__init__()
        self.shape = [channels, channels, kernel, kernel]
        self.w1 = nn.Linear(z_dim, z_dim * channels)
        self.w2 = nn.Linear(z_dim, channels * kernel * kernel)
        self.channels, self.z_dim = channels, z_dim

    def forward(self, z):
        h = self.w1(z).reshape([self.channels, self.z_dim])
        return self.w2(h).reshape(self.shape)


class Primary(nn.Layer):
    def __init__(self, layers=2, z_dim=4, channels=3, kernel=3):
        super().__init__()
        self.stem = nn.Conv2D(1, channels, 3, padding=1)
        self.hyper = HyperConv(z_dim, channels, kernel)
        self.zs = nn.ParameterList(
            [self.create_parameter([z_dim], default_initializer=nn.initializer.Normal()) for _ in range(layers)]
        )
        self.norms = nn.LayerList([nn.GroupNorm(1, channels) for _ in range(layers)])
        self.head = nn.Linear(channels, 4)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for z, norm in zip(self.zs, self.norms, strict=True):
            x = x + F.relu(norm(F.conv2d(x, self.hyper(z), padding=1)))
        return self.head(x.mean(axis=[2, 3]))


def network():
    return Primary()


def loss(net):
    rng = np.random.RandomState(2)
    x = paddle.to_tensor(rng.randn(3, 1, 6, 6).astype(paddle.get_default_dtype()))
    return F.cross_entropy(net(x), paddle.to_tensor(np.array([0, 3, 1])))


def build():
    net = network()
    return loss(net), net

"""ConvNeXt: large windows for each channel, norms over channels in both layouts, and a scale of each layer."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.nn.initializer import Constant, TruncatedNormal


class ChannelsFirstLayerNorm(nn.Layer):
    def __init__(self, dim, epsilon=1e-6):
        super().__init__()
        self.weight = self.create_parameter([dim], default_initializer=Constant(1.0))
        self.bias = self.create_parameter([dim], is_bias=True)
        self.epsilon = epsilon

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / paddle.sqrt(s + self.epsilon)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class Block(nn.Layer):
    def __init__(self, dim, layer_scale_init_value=1e-6):
        super().__init__()
        self.dwconv = nn.Conv2D(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, epsilon=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = self.create_parameter([dim], default_initializer=Constant(layer_scale_init_value))

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x).transpose([0, 2, 3, 1])
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        x = (self.gamma * x).transpose([0, 3, 1, 2])
        return shortcut + x


class ConvNeXt(nn.Layer):
    def __init__(self, depths=(1, 2), dims=(8, 12), class_num=5):
        super().__init__()
        stem = nn.Sequential(nn.Conv2D(3, dims[0], kernel_size=4, stride=4), ChannelsFirstLayerNorm(dims[0]))
        self.downsample_layers = nn.LayerList([stem])
        for dim, wider in itertools.pairwise(dims):
            conv = nn.Conv2D(dim, wider, kernel_size=2, stride=2)
            self.downsample_layers.append(nn.Sequential(ChannelsFirstLayerNorm(dim), conv))
        self.stages = nn.LayerList()
        for depth, dim in zip(depths, dims, strict=True):
            self.stages.append(nn.Sequential(*[Block(dim) for _ in range(depth)]))
        self.norm = nn.LayerNorm(dims[-1], epsilon=1e-6)
        self.head = nn.Linear(dims[-1], class_num)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, (nn.Conv2D, nn.Linear)):
            TruncatedNormal(std=0.02)(m.weight)
            if m.bias is not None:
                Constant(0.0)(m.bias)

    def forward(self, x):
        for downsample, stage in zip(self.downsample_layers, self.stages, strict=True):
            x = stage(downsample(x))
        return self.head(self.norm(x.mean([-2, -1])))


def network():
    return ConvNeXt()


def loss(net):
    rng = np.random.default_rng(14)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    smooth = F.label_smooth(F.one_hot(labels, 5).astype(images.dtype), epsilon=0.1)
    return F.cross_entropy(net(images), smooth, soft_label=True)


def build():
    net = network()
    return loss(net), net

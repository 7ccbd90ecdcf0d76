"""MobileNet, version 1: a convolution for each channel alone, then one between channels."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.nn.initializer import KaimingNormal
from paddle.regularizer import L2Decay


class ConvBNLayer(nn.Layer):
    def __init__(self, num_channels, filter_size, num_filters, stride, padding, num_groups=1):
        super().__init__()
        self.conv = nn.Conv2D(
            num_channels,
            num_filters,
            filter_size,
            stride=stride,
            padding=padding,
            groups=num_groups,
            weight_attr=paddle.ParamAttr(initializer=KaimingNormal(), regularizer=L2Decay(1e-4)),
            bias_attr=False,
        )
        self.bn = nn.BatchNorm(num_filters)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class DepthwiseSeparable(nn.Layer):
    def __init__(self, num_channels, num_filters1, num_filters2, num_groups, stride, scale):
        super().__init__()
        width = int(num_filters1 * scale)
        self.depthwise_conv = ConvBNLayer(num_channels, 3, width, stride, 1, int(num_groups * scale))
        self.pointwise_conv = ConvBNLayer(width, 1, int(num_filters2 * scale), 1, 0)

    def forward(self, x):
        return self.pointwise_conv(self.depthwise_conv(x))


# inputs, filters of the depth, filters between channels, groups, stride
BLOCKS = [[32, 32, 64, 32, 1], [64, 64, 64, 64, 2], [64, 64, 96, 64, 1]]


class MobileNet(nn.Layer):
    def __init__(self, scale=0.25, class_num=6, cfg=BLOCKS):
        super().__init__()
        self.conv = ConvBNLayer(3, 3, int(32 * scale), 2, 1)
        self.blocks = nn.Sequential(
            *[DepthwiseSeparable(int(c * scale), f1, f2, groups, stride, scale) for c, f1, f2, groups, stride in cfg]
        )
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.flatten = nn.Flatten(start_axis=1, stop_axis=-1)
        self.fc = nn.Linear(
            int(cfg[-1][2] * scale), class_num, weight_attr=paddle.ParamAttr(initializer=KaimingNormal())
        )

    def forward(self, x):
        return self.fc(self.flatten(self.avg_pool(self.blocks(self.conv(x)))))


def network():
    return MobileNet()


def loss(net):
    rng = np.random.default_rng(5)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 12, 12]).astype(paddle.get_default_dtype()))
    labels = F.one_hot(paddle.to_tensor(rng.integers(0, 6, [2])), 6)
    scores = F.softmax(net(images))
    return F.cross_entropy(paddle.log(scores + 1e-8), labels.astype(scores.dtype), soft_label=True)


def build():
    net = network()
    return loss(net), net

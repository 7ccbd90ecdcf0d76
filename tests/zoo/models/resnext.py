"""ResNeXt: bottlenecks whose middle convolution works in groups."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import ParamAttr
from paddle.nn.initializer import Uniform


class ConvBNLayer(nn.Layer):
    def __init__(self, num_channels, num_filters, filter_size, stride=1, groups=1, act=None, name=None):
        super().__init__()
        self._conv = nn.Conv2D(
            in_channels=num_channels,
            out_channels=num_filters,
            kernel_size=filter_size,
            stride=stride,
            padding=(filter_size - 1) // 2,
            groups=groups,
            weight_attr=ParamAttr(name=name + "_weights"),
            bias_attr=False,
        )
        self._batch_norm = nn.BatchNorm(
            num_filters,
            act=act,
            param_attr=ParamAttr(name=name + "_bn_scale"),
            bias_attr=ParamAttr(name=name + "_bn_offset"),
            moving_mean_name=name + "_bn_mean",
            moving_variance_name=name + "_bn_variance",
        )

    def forward(self, inputs):
        return self._batch_norm(self._conv(inputs))


class BottleneckBlock(nn.Layer):
    def __init__(self, num_channels, num_filters, stride, cardinality, shortcut=True, name=None):
        super().__init__()
        self.conv0 = ConvBNLayer(num_channels, num_filters, 1, act="relu", name=name + "_branch2a")
        self.conv1 = ConvBNLayer(
            num_filters, num_filters, 3, stride=stride, groups=cardinality, act="relu", name=name + "_branch2b"
        )
        self.conv2 = ConvBNLayer(num_filters, num_filters * 2, 1, name=name + "_branch2c")
        if not shortcut:
            self.short = ConvBNLayer(num_channels, num_filters * 2, 1, stride=stride, name=name + "_branch1")
        self.shortcut = shortcut

    def forward(self, inputs):
        conv2 = self.conv2(self.conv1(self.conv0(inputs)))
        short = inputs if self.shortcut else self.short(inputs)
        return F.relu(paddle.add(x=short, y=conv2))


class ResNeXt(nn.Layer):
    def __init__(self, depth=(2, 1), num_filters=(8, 16), cardinality=4, class_num=5):
        super().__init__()
        self.conv = ConvBNLayer(3, 8, 3, stride=2, act="relu", name="res_conv1")
        self.pool2d_max = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self.block_list = []
        channels = 8
        for block, count in enumerate(depth):
            shortcut = False
            for i in range(count):
                conv_name = f"res{block + 2}{chr(97 + i)}"
                bottleneck = self.add_sublayer(
                    f"bb_{block}_{i}",
                    BottleneckBlock(
                        channels,
                        num_filters[block],
                        stride=2 if i == 0 and block != 0 else 1,
                        cardinality=cardinality,
                        shortcut=shortcut,
                        name=conv_name,
                    ),
                )
                self.block_list.append(bottleneck)
                channels = num_filters[block] * 2
                shortcut = True
        self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        stdv = 1.0 / math.sqrt(channels)
        self.out = nn.Linear(
            channels,
            class_num,
            weight_attr=ParamAttr(initializer=Uniform(-stdv, stdv), name="fc_weights"),
            bias_attr=ParamAttr(name="fc_offset"),
        )

    def forward(self, inputs):
        y = self.pool2d_max(self.conv(inputs))
        for block in self.block_list:
            y = block(y)
        y = self.pool2d_avg(y)
        return self.out(paddle.reshape(y, shape=[-1, y.shape[1]]))


def network():
    return ResNeXt()


def loss(net):
    rng = np.random.default_rng(2)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 20, 20]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2, 1]))
    return F.softmax_with_cross_entropy(net(images), labels).mean()


def build():
    net = network()
    return loss(net), net

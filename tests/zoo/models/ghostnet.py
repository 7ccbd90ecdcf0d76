"""GhostNet: cheap operations make the second half of the channels from the first."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBNLayer(nn.Layer):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, groups=1, act="relu"):
        super().__init__()
        self._conv = nn.Conv2D(
            in_channels, out_channels, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias_attr=False
        )
        self._batch_norm = nn.BatchNorm(out_channels, act=act)

    def forward(self, inputs):
        return self._batch_norm(self._conv(inputs))


class SEBlock(nn.Layer):
    def __init__(self, num_channels, reduction_ratio=4):
        super().__init__()
        self.pool2d_gap = nn.AdaptiveAvgPool2D(1)
        self.squeeze = nn.Linear(num_channels, num_channels // reduction_ratio)
        self.excitation = nn.Linear(num_channels // reduction_ratio, num_channels)

    def forward(self, inputs):
        pool = paddle.squeeze(self.pool2d_gap(inputs), axis=[2, 3])
        squeeze = F.relu(self.squeeze(pool))
        excitation = paddle.clip(x=self.excitation(squeeze), min=0, max=1)
        return inputs * paddle.unsqueeze(excitation, axis=[2, 3])


class GhostModule(nn.Layer):
    def __init__(self, in_channels, output_channels, kernel_size=1, ratio=2, dw_size=3, stride=1, relu=True):
        super().__init__()
        init_channels = math.ceil(output_channels / ratio)
        act = "relu" if relu else None
        self.primary_conv = ConvBNLayer(in_channels, init_channels, kernel_size, stride, act=act)
        self.cheap_operation = ConvBNLayer(init_channels, init_channels * (ratio - 1), dw_size, 1, init_channels, act)

    def forward(self, inputs):
        x = self.primary_conv(inputs)
        return paddle.concat([x, self.cheap_operation(x)], axis=1)


class GhostBottleneck(nn.Layer):
    def __init__(self, in_channels, hidden_dim, output_channels, kernel_size, stride, use_se):
        super().__init__()
        self._stride, self._use_se = stride, use_se
        self._same = stride == 1 and in_channels == output_channels
        self.ghost_module_1 = GhostModule(in_channels, hidden_dim)
        if stride == 2:
            self.depthwise_conv = ConvBNLayer(hidden_dim, hidden_dim, kernel_size, stride, hidden_dim, act=None)
        if use_se:
            self.se_block = SEBlock(hidden_dim)
        self.ghost_module_2 = GhostModule(hidden_dim, output_channels, relu=False)
        if not self._same:
            self.shortcut_depthwise = ConvBNLayer(in_channels, in_channels, kernel_size, stride, in_channels, act=None)
            self.shortcut_conv = ConvBNLayer(in_channels, output_channels, 1, act=None)

    def forward(self, inputs):
        x = self.ghost_module_1(inputs)
        if self._stride == 2:
            x = self.depthwise_conv(x)
        if self._use_se:
            x = self.se_block(x)
        x = self.ghost_module_2(x)
        shortcut = inputs if self._same else self.shortcut_conv(self.shortcut_depthwise(inputs))
        return paddle.add(x=x, y=shortcut)


class GhostNet(nn.Layer):
    # kernel, expansion, output, squeeze and excitation, stride
    CFGS = ((3, 8, 8, 0, 1), (3, 16, 12, 0, 2), (5, 24, 12, 1, 1))

    def __init__(self, class_num=5):
        super().__init__()
        self.conv1 = ConvBNLayer(3, 8, 3, 2)
        self.ghost_bottleneck_list = []
        channels = 8
        for i, (k, exp, c, se, s) in enumerate(self.CFGS):
            block = GhostBottleneck(channels, exp, c, k, s, se)
            self.ghost_bottleneck_list.append(self.add_sublayer(f"_ghostbottleneck_{i}", block))
            channels = c
        self.conv_last = ConvBNLayer(channels, 24, 1)
        self.pool2d_gap = nn.AdaptiveAvgPool2D(1)
        self.fc = nn.Linear(24, class_num)

    def forward(self, inputs):
        x = self.conv1(inputs)
        for ghost_bottleneck in self.ghost_bottleneck_list:
            x = ghost_bottleneck(x)
        return self.fc(paddle.reshape(self.pool2d_gap(self.conv_last(x)), shape=[-1, 24]))


def network():
    return GhostNet()


def loss(net):
    rng = np.random.default_rng(10)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2, 1]))
    return paddle.mean(F.cross_entropy(net(images), labels, reduction="none"))


def build():
    net = network()
    return loss(net), net

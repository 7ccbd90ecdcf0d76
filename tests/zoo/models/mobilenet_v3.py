"""MobileNet, version 3: inverted residuals with squeeze and excitation, hard swish and hard sigmoid."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

# kernel, expansion, output, squeeze and excitation, activation, stride
NET_CONFIG = [
    [3, 8, 8, True, "relu", 2],
    [3, 16, 12, False, "relu", 1],
    [5, 24, 12, True, "hardswish", 1],
]


def _create_act(act):
    return {"hardswish": nn.Hardswish, "relu": nn.ReLU}[act]() if act is not None else None


class ConvBNLayer(nn.Layer):
    def __init__(self, in_c, out_c, filter_size, stride, padding, num_groups=1, act=None):
        super().__init__()
        self.conv = nn.Conv2D(in_c, out_c, filter_size, stride, padding, groups=num_groups, bias_attr=False)
        self.bn = nn.BatchNorm(out_c, act=None)
        self.act = _create_act(act)

    def forward(self, x):
        x = self.bn(self.conv(x))
        return x if self.act is None else self.act(x)


class SEModule(nn.Layer):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.conv1 = nn.Conv2D(channel, channel // reduction, 1)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(channel // reduction, channel, 1)
        self.hardsigmoid = nn.Hardsigmoid()

    def forward(self, x):
        identity = x
        x = self.hardsigmoid(self.conv2(self.relu(self.conv1(self.avg_pool(x)))))
        return paddle.multiply(x=identity, y=x)


class ResidualUnit(nn.Layer):
    def __init__(self, in_c, mid_c, out_c, filter_size, stride, use_se, act):
        super().__init__()
        self.if_shortcut = stride == 1 and in_c == out_c
        self.if_se = use_se
        self.expand_conv = ConvBNLayer(in_c, mid_c, 1, 1, 0, act=act)
        self.bottleneck_conv = ConvBNLayer(mid_c, mid_c, filter_size, stride, filter_size // 2, mid_c, act=act)
        if self.if_se:
            self.mid_se = SEModule(mid_c)
        self.linear_conv = ConvBNLayer(mid_c, out_c, 1, 1, 0)

    def forward(self, x):
        identity = x
        x = self.bottleneck_conv(self.expand_conv(x))
        if self.if_se:
            x = self.mid_se(x)
        x = self.linear_conv(x)
        return paddle.add(identity, x) if self.if_shortcut else x


class MobileNetV3(nn.Layer):
    def __init__(self, config=NET_CONFIG, inplanes=8, class_squeeze=24, class_expand=20, class_num=5):
        super().__init__()
        self.conv = ConvBNLayer(3, inplanes, 3, 2, 1, act="hardswish")
        blocks = []
        for k, exp, c, se, act, s in config:
            blocks.append(ResidualUnit(inplanes, exp, c, k, s, se, act))
            inplanes = c
        self.blocks = nn.Sequential(*blocks)
        self.last_second_conv = ConvBNLayer(inplanes, class_squeeze, 1, 1, 0, act="hardswish")
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.last_conv = nn.Conv2D(class_squeeze, class_expand, 1, bias_attr=False)
        self.hardswish = nn.Hardswish()
        self.dropout = nn.Dropout(p=0.0, mode="downscale_in_infer")
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(class_expand, class_num)

    def forward(self, x):
        x = self.last_second_conv(self.blocks(self.conv(x)))
        x = self.hardswish(self.last_conv(self.avg_pool(x)))
        return self.fc(self.flatten(self.dropout(x)))


def network():
    return MobileNetV3()


def loss(net):
    rng = np.random.default_rng(7)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2, 1]))
    return F.cross_entropy(net(images), labels, reduction="sum") / 2


def build():
    net = network()
    return loss(net), net

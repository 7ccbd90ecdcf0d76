"""MobileNet, version 2: inverted residuals, wide inside and narrow outside, with relu6."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def _make_divisible(v, divisor=4, min_value=None):
    min_value = divisor if min_value is None else min_value
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    return new_v + divisor if new_v < 0.9 * v else new_v


class ConvNormActivation(nn.Sequential):
    def __init__(self, inputs, outputs, kernel_size=3, stride=1, groups=1, norm_layer=nn.BatchNorm2D, act=nn.ReLU6):
        padding = (kernel_size - 1) // 2
        layers = [nn.Conv2D(inputs, outputs, kernel_size, stride, padding, groups=groups, bias_attr=False)]
        layers.append(norm_layer(outputs))
        if act is not None:
            layers.append(act())
        super().__init__(*layers)


class InvertedResidual(nn.Layer):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        hidden_dim = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        layers = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, hidden_dim, kernel_size=1))
        layers.extend(
            [
                ConvNormActivation(hidden_dim, hidden_dim, stride=stride, groups=hidden_dim),
                nn.Conv2D(hidden_dim, oup, 1, 1, 0, bias_attr=False),
                nn.BatchNorm2D(oup),
            ]
        )
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    # expansion, channels, number, stride
    settings = ((1, 8, 1, 1), (3, 12, 2, 2), (3, 16, 2, 1))

    def __init__(self, scale=1.0, num_classes=5):
        super().__init__()
        input_channel = _make_divisible(8 * scale)
        features = [ConvNormActivation(3, input_channel, stride=2)]
        for t, c, n, s in self.settings:
            output_channel = _make_divisible(c * scale)
            for i in range(n):
                features.append(InvertedResidual(input_channel, output_channel, s if i == 0 else 1, t))
                input_channel = output_channel
        features.append(ConvNormActivation(input_channel, 24, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(24, num_classes))

    def forward(self, x):
        x = self.pool2d_avg(self.features(x))
        return self.classifier(paddle.flatten(x, 1))


def network():
    return MobileNetV2()


def loss(net):
    rng = np.random.default_rng(6)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 12, 12]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    weight = paddle.to_tensor(np.linspace(0.5, 1.5, 5).astype(paddle.get_default_dtype()))
    return F.cross_entropy(net(images), labels, weight=weight)


def build():
    net = network()
    return loss(net), net

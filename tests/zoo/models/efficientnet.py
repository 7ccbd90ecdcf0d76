"""EfficientNet: widths and depths from one number, swish, and blocks that are dropped by chance (here: never)."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def round_filters(filters, width, divisor=4):
    filters *= width
    new_filters = max(divisor, int(filters + divisor / 2) // divisor * divisor)
    return int(new_filters + divisor if new_filters < 0.9 * filters else new_filters)


def round_repeats(repeats, depth):
    return math.ceil(depth * repeats)


class SamePadConv2D(nn.Conv2D):
    """A convolution that pads as the size of the image wants it, more to the right than to the left."""

    def forward(self, x):
        pads = []
        for size, kernel, stride in zip(x.shape[:1:-1], self._kernel_size[::-1], self._stride[::-1], strict=True):
            total = max((-(size // -stride) - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(F.pad(x, pads) if any(pads) else x)


def drop_connect(inputs, prob, training):
    if not training or prob == 0.0:
        return inputs
    keep_prob = 1.0 - prob
    random_tensor = keep_prob + paddle.rand([inputs.shape[0], 1, 1, 1], dtype=inputs.dtype)
    return inputs / keep_prob * paddle.floor(random_tensor)


class MBConvBlock(nn.Layer):
    def __init__(self, inputs, outputs, kernel, stride, expand_ratio, se_ratio=0.25, id_skip=True, drop_rate=0.0):
        super().__init__()
        self.has_skip = id_skip and stride == 1 and inputs == outputs
        self.drop_rate = drop_rate
        middle = inputs * expand_ratio
        self.expand = expand_ratio != 1
        if self.expand:
            self._expand_conv = SamePadConv2D(inputs, middle, 1, bias_attr=False)
            self._bn0 = nn.BatchNorm2D(middle, momentum=0.99, epsilon=1e-3)
        self._depthwise_conv = SamePadConv2D(middle, middle, kernel, stride, groups=middle, bias_attr=False)
        self._bn1 = nn.BatchNorm2D(middle, momentum=0.99, epsilon=1e-3)
        squeezed = max(1, int(inputs * se_ratio))
        self._se_reduce = nn.Conv2D(middle, squeezed, 1)
        self._se_expand = nn.Conv2D(squeezed, middle, 1)
        self._project_conv = SamePadConv2D(middle, outputs, 1, bias_attr=False)
        self._bn2 = nn.BatchNorm2D(outputs, momentum=0.99, epsilon=1e-3)

    def forward(self, inputs):
        x = F.swish(self._bn0(self._expand_conv(inputs))) if self.expand else inputs
        x = F.swish(self._bn1(self._depthwise_conv(x)))
        squeezed = self._se_expand(F.swish(self._se_reduce(F.adaptive_avg_pool2d(x, 1))))
        x = self._bn2(self._project_conv(F.sigmoid(squeezed) * x))
        if self.has_skip:
            x = drop_connect(x, self.drop_rate, self.training) + inputs
        return x


class EfficientNet(nn.Layer):
    # repeats, kernel, stride, expansion, inputs, outputs
    BLOCKS = ((1, 3, 1, 1, 32, 16), (2, 3, 2, 2, 16, 24), (1, 5, 2, 2, 24, 40))

    def __init__(self, width=0.4, depth=1.1, class_dim=5):
        super().__init__()
        self._conv_stem = SamePadConv2D(3, round_filters(32, width), 3, 2, bias_attr=False)
        self._bn0 = nn.BatchNorm2D(round_filters(32, width), momentum=0.99, epsilon=1e-3)
        self._blocks = nn.LayerList()
        for repeats, kernel, stride, expansion, inputs, outputs in self.BLOCKS:
            first, wide = round_filters(inputs, width), round_filters(outputs, width)
            for i in range(round_repeats(repeats, depth) if repeats > 1 else 1):
                self._blocks.append(MBConvBlock(first, wide, kernel, stride if i == 0 else 1, expansion))
                first = wide
        self._conv_head = nn.Conv2D(wide, 32, 1, bias_attr=False)
        self._bn1 = nn.BatchNorm2D(32, momentum=0.99, epsilon=1e-3)
        self._fc = nn.Linear(32, class_dim)

    def forward(self, inputs):
        x = F.swish(self._bn0(self._conv_stem(inputs)))
        for block in self._blocks:
            x = block(x)
        x = F.swish(self._bn1(self._conv_head(x)))
        return self._fc(x.mean(axis=[2, 3]))


def network():
    return EfficientNet()


def loss(net):
    rng = np.random.default_rng(9)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 17, 17]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net

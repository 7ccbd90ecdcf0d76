"""HRNet: branches of several resolutions side by side, which exchange what they hold; a map of classes comes out."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def conv_bn(inputs, outputs, kernel=3, stride=1, relu=True):
    layers = [nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, bias_attr=False), nn.BatchNorm2D(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU()] if relu else []))


class BasicBlock(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = conv_bn(channels, channels)
        self.conv2 = conv_bn(channels, channels, relu=False)

    def forward(self, x):
        return F.relu(self.conv2(self.conv1(x)) + x)


class FuseLayers(nn.Layer):
    """Each branch gets the sum of all: those of finer grain by strides, those of coarser grain made larger."""

    def __init__(self, channels):
        super().__init__()
        self.residual_func_list = []
        self.number = len(channels)
        for i, wide in enumerate(channels):
            for j, given in enumerate(channels):
                if j > i:
                    way = conv_bn(given, wide, 1, relu=False)
                elif j < i:
                    steps = [conv_bn(given, given, 3, 2) for _ in range(i - j - 1)]
                    way = nn.Sequential(*steps, conv_bn(given, wide, 3, 2, relu=False))
                else:
                    continue
                self.residual_func_list.append(self.add_sublayer(f"residual_{i}_{j}", way))

    def forward(self, inputs):
        outs, ways = [], iter(self.residual_func_list)
        for i in range(self.number):
            residual = inputs[i]
            shape = residual.shape[-2:]
            for j in range(self.number):
                if j == i:
                    continue
                y = next(ways)(inputs[j])
                if j > i:
                    y = F.interpolate(y, shape, mode="bilinear", align_corners=True)
                residual = residual + y
            outs.append(F.relu(residual))
        return outs


class HRModule(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.branches = nn.LayerList([BasicBlock(c) for c in channels])
        self.fuse_func = FuseLayers(channels)

    def forward(self, inputs):
        return self.fuse_func([branch(x) for branch, x in zip(self.branches, inputs, strict=True)])


class HRNet(nn.Layer):
    def __init__(self, channels=(4, 8, 12), num_classes=4):
        super().__init__()
        self.stem = conv_bn(3, channels[0], 3, 2)
        self.tr1 = conv_bn(channels[0], channels[1], 3, 2)
        self.st2 = HRModule(channels[:2])
        self.tr2 = conv_bn(channels[1], channels[2], 3, 2)
        self.st3 = HRModule(channels)
        self.cls = nn.Conv2D(sum(channels), num_classes, 1)

    def forward(self, x):
        size = x.shape[2:]
        x = self.stem(x)
        x = self.st2([x, self.tr1(x)])
        x = self.st3([*x, self.tr2(x[-1])])
        first = x[0].shape[2:]
        ups = [x[0]] + [F.interpolate(y, first, mode="bilinear", align_corners=False) for y in x[1:]]
        logit = self.cls(paddle.concat(ups, axis=1))
        return F.interpolate(logit, size, mode="bilinear", align_corners=False)


def network():
    return HRNet()


def loss(net):
    rng = np.random.default_rng(13)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 4, [2, 16, 16]))
    logit = paddle.transpose(net(images), [0, 2, 3, 1])
    return F.cross_entropy(logit, labels, ignore_index=255, axis=-1)


def build():
    net = network()
    return loss(net), net

"""PSPNet: averages over a pyramid of grids beside the map itself, and a second head on an earlier map."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBNReLU(nn.Sequential):
    def __init__(self, inputs, outputs, kernel, **kwargs):
        super().__init__(
            nn.Conv2D(inputs, outputs, kernel, bias_attr=False, **kwargs), nn.BatchNorm2D(outputs), nn.ReLU()
        )


class PPModule(nn.Layer):
    def __init__(self, in_channels, out_channels, bin_sizes):
        super().__init__()
        inter_channels = in_channels // len(bin_sizes)
        self.stages = nn.LayerList(
            [
                nn.Sequential(nn.AdaptiveAvgPool2D(size), ConvBNReLU(in_channels, inter_channels, 1))
                for size in bin_sizes
            ]
        )
        self.conv_bn_relu2 = ConvBNReLU(in_channels + inter_channels * len(bin_sizes), out_channels, 3, padding=1)

    def forward(self, inputs):
        cat_layers = []
        for stage in self.stages:
            x = F.interpolate(stage(inputs), size=inputs.shape[2:], mode="bilinear", align_corners=True)
            cat_layers.append(x)
        return self.conv_bn_relu2(paddle.concat([inputs, *cat_layers[::-1]], axis=1))


class AuxLayer(nn.Layer):
    def __init__(self, in_channels, inter_channels, out_channels):
        super().__init__()
        self.conv_bn_relu = ConvBNReLU(in_channels, inter_channels, 3, padding=1)
        self.conv = nn.Conv2D(inter_channels, out_channels, 1)

    def forward(self, x):
        return self.conv(F.dropout2d(self.conv_bn_relu(x), p=0.0, training=self.training))


class PSPNet(nn.Layer):
    def __init__(self, num_classes=4, enable_auxiliary_loss=True):
        super().__init__()
        self.stage1 = ConvBNReLU(3, 6, 3, stride=2, padding=1)
        self.stage2 = ConvBNReLU(6, 8, 3, stride=1, padding=2, dilation=2)
        self.psp_module = PPModule(8, 8, (1, 2, 3, 6))
        self.conv = nn.Conv2D(8, num_classes, 1)
        self.auxlayer = AuxLayer(6, 4, num_classes) if enable_auxiliary_loss else None

    def forward(self, x):
        c3 = self.stage1(x)
        logit_list = [self.conv(self.psp_module(self.stage2(c3)))]
        if self.auxlayer is not None:
            logit_list.append(self.auxlayer(c3))
        return [F.interpolate(logit, x.shape[2:], mode="bilinear", align_corners=False) for logit in logit_list]


def network():
    return PSPNet()


def loss(net):
    rng = np.random.default_rng(22)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 12, 12]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 4, [2, 12, 12]))
    weights = (1.0, 0.4)
    costs = [F.cross_entropy(logit, labels, axis=1) for logit in net(images)]
    return sum(w * c for w, c in zip(weights, costs, strict=True))


def build():
    net = network()
    return loss(net), net

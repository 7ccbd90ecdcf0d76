"""U-Net: down to coarse maps and up again, with the fine ones handed across; dice beside cross entropy."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBNReLU(nn.Layer):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self._conv = nn.Conv2D(in_channels, out_channels, 3, padding="same")
        self._batch_norm = nn.BatchNorm2D(out_channels)
        self._relu = nn.ReLU()

    def forward(self, x):
        return self._relu(self._batch_norm(self._conv(x)))


def double_conv(inputs, outputs):
    return nn.Sequential(ConvBNReLU(inputs, outputs), ConvBNReLU(outputs, outputs))


class Encoder(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.double_conv = double_conv(3, channels[0])
        self.down_sample_list = nn.LayerList(
            [
                nn.Sequential(nn.MaxPool2D(kernel_size=2, stride=2), double_conv(*pair))
                for pair in itertools.pairwise(channels)
            ]
        )

    def forward(self, x):
        short_cuts = []
        x = self.double_conv(x)
        for down_sample in self.down_sample_list:
            short_cuts.append(x)
            x = down_sample(x)
        return x, short_cuts


class UpSampling(nn.Layer):
    def __init__(self, in_channels, out_channels, use_deconv):
        super().__init__()
        self.use_deconv = use_deconv
        if use_deconv:
            self.deconv = nn.Conv2DTranspose(in_channels, out_channels, kernel_size=2, stride=2, padding=0)
            in_channels = 2 * out_channels
        else:
            in_channels += out_channels
        self.double_conv = double_conv(in_channels, out_channels)

    def forward(self, x, short_cut):
        if self.use_deconv:
            x = self.deconv(x)
        else:
            x = F.interpolate(x, paddle.shape(short_cut)[2:], mode="bilinear", align_corners=False)
        return self.double_conv(paddle.concat([x, short_cut], axis=1))


class UNet(nn.Layer):
    def __init__(self, num_classes=3, channels=(4, 8, 12)):
        super().__init__()
        self.encode = Encoder(channels)
        self.up_sample_list = nn.LayerList([UpSampling(12, 8, use_deconv=True), UpSampling(8, 4, use_deconv=False)])
        self.cls = nn.Conv2D(channels[0], num_classes, kernel_size=3, stride=1, padding=1)

    def forward(self, x):
        x, short_cuts = self.encode(x)
        for up_sample, short_cut in zip(self.up_sample_list, reversed(short_cuts), strict=True):
            x = up_sample(x, short_cut)
        return self.cls(x)


class DiceLoss(nn.Layer):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, labels):
        probabilities = F.softmax(logits, axis=1)
        one_hot = F.one_hot(labels, num_classes=logits.shape[1]).transpose([0, 3, 1, 2]).astype(logits.dtype)
        dims = [0, 2, 3]
        intersection = paddle.sum(probabilities * one_hot, axis=dims)
        cardinality = paddle.sum(probabilities + one_hot, axis=dims)
        return 1 - ((2.0 * intersection + self.smooth) / (cardinality + self.smooth)).mean()


def network():
    return UNet()


def loss(net):
    rng = np.random.default_rng(20)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 8, 8]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 3, [2, 8, 8]))
    logits = net(images)
    return F.cross_entropy(logits, labels, axis=1) + DiceLoss()(logits, labels)


def build():
    net = network()
    return loss(net), net

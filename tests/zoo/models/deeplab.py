"""DeepLab, version 3+: the same map through windows with holes of several widths, and a decoder with fine detail."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBNReLU(nn.Layer):
    def __init__(self, inputs, outputs, kernel, **kwargs):
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, bias_attr=False, **kwargs)
        self._batch_norm = nn.BatchNorm2D(outputs)

    def forward(self, x):
        return F.relu(self._batch_norm(self._conv(x)))


class SeparableConvBNReLU(nn.Layer):
    def __init__(self, inputs, outputs, kernel, dilation=1):
        super().__init__()
        self.depthwise_conv = nn.Sequential(
            nn.Conv2D(inputs, inputs, kernel, padding=dilation, dilation=dilation, groups=inputs, bias_attr=False),
            nn.BatchNorm2D(inputs),
        )
        self.piontwise_conv = ConvBNReLU(inputs, outputs, 1)

    def forward(self, x):
        return self.piontwise_conv(self.depthwise_conv(x))


class ASPPModule(nn.Layer):
    def __init__(self, aspp_ratios, in_channels, out_channels, align_corners=False):
        super().__init__()
        self.align_corners = align_corners
        self.aspp_blocks = nn.LayerList()
        for ratio in aspp_ratios:
            if ratio == 1:
                self.aspp_blocks.append(ConvBNReLU(in_channels, out_channels, 1))
            else:
                self.aspp_blocks.append(SeparableConvBNReLU(in_channels, out_channels, 3, dilation=ratio))
        self.global_avg_pool = nn.Sequential(
            nn.AdaptiveAvgPool2D(output_size=(1, 1)), nn.Conv2D(in_channels, out_channels, 1), nn.ReLU()
        )
        self.conv_bn_relu = ConvBNReLU(out_channels * (len(aspp_ratios) + 1), out_channels, 1)
        self.dropout = nn.Dropout(p=0.0)

    def forward(self, x):
        size = paddle.shape(x)[2:]
        outputs = [F.interpolate(block(x), size, mode="bilinear") for block in self.aspp_blocks]
        pooled = F.interpolate(self.global_avg_pool(x), size, mode="bilinear", align_corners=self.align_corners)
        outputs.append(pooled)
        return self.dropout(self.conv_bn_relu(paddle.concat(outputs, axis=1)))


class Decoder(nn.Layer):
    def __init__(self, num_classes, low, wide):
        super().__init__()
        self.conv_bn_relu1 = ConvBNReLU(low, 4, 1)
        self.conv_bn_relu2 = SeparableConvBNReLU(wide + 4, wide, 3)
        self.conv = nn.Conv2D(wide, num_classes, 1)

    def forward(self, x, low_level_feat):
        low_level_feat = self.conv_bn_relu1(low_level_feat)
        x = F.interpolate(x, low_level_feat.shape[2:], mode="bilinear", align_corners=False)
        return self.conv(self.conv_bn_relu2(paddle.concat([x, low_level_feat], axis=1)))


class DeepLabV3P(nn.Layer):
    def __init__(self, num_classes=3):
        super().__init__()
        self.low = ConvBNReLU(3, 6, 3, stride=2, padding=1)
        self.high = nn.Sequential(ConvBNReLU(6, 8, 3, stride=2, padding=1), ConvBNReLU(8, 8, 3, padding=2, dilation=2))
        self.aspp = ASPPModule((1, 2, 3), 8, 8)
        self.decoder = Decoder(num_classes, 6, 8)

    def forward(self, x):
        low = self.low(x)
        logit = self.decoder(self.aspp(self.high(low)), low)
        return F.interpolate(logit, paddle.shape(x)[2:], mode="bilinear", align_corners=False)


def network():
    return DeepLabV3P()


def loss(net):
    rng = np.random.default_rng(21)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = rng.integers(0, 3, [2, 16, 16])
    labels[:, :2] = 255
    mask = paddle.to_tensor(labels != 255)
    labels = paddle.to_tensor(labels)
    logit = net(images).transpose([0, 2, 3, 1])
    each = F.cross_entropy(logit, labels, reduction="none", ignore_index=255)
    mask = mask.astype(each.dtype)
    return (each * mask).sum() / (mask.sum() + 1e-8)


def build():
    net = network()
    return loss(net), net

"""RepVGG: in training three branches each, which one convolution could replace; the fused one is checked, too."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBN(nn.Layer):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups=1):
        super().__init__()
        self.conv = nn.Conv2D(in_channels, out_channels, kernel_size, stride, padding, groups=groups, bias_attr=False)
        self.bn = nn.BatchNorm2D(num_features=out_channels)

    def forward(self, x):
        return self.bn(self.conv(x))


class RepVGGBlock(nn.Layer):
    def __init__(self, in_channels, out_channels, stride=1, groups=1):
        super().__init__()
        self.nonlinearity = nn.ReLU()
        same = in_channels == out_channels and stride == 1
        self.rbr_identity = nn.BatchNorm2D(in_channels) if same else None
        self.rbr_dense = ConvBN(in_channels, out_channels, 3, stride, 1, groups)
        self.rbr_1x1 = ConvBN(in_channels, out_channels, 1, stride, 0, groups)

    def forward(self, inputs):
        id_out = 0 if self.rbr_identity is None else self.rbr_identity(inputs)
        return self.nonlinearity(self.rbr_dense(inputs) + self.rbr_1x1(inputs) + id_out)

    def custom_l2(self):
        """The square of the weight that the branches are together, as the running statistics scale it."""
        k3, k1 = self.rbr_dense.conv.weight, self.rbr_1x1.conv.weight
        t3, t1 = (
            (b.bn.weight / (b.bn._variance + b.bn._epsilon).sqrt()).reshape([-1, 1, 1, 1]).detach()
            for b in (self.rbr_dense, self.rbr_1x1)
        )
        eq_kernel = k3[:, :, 1:2, 1:2] * t3 + k1 * t1
        l2_loss_circle = (k3**2).sum() - (k3[:, :, 1:2, 1:2] ** 2).sum()
        return (eq_kernel**2 / (t3**2 + t1**2)).sum() + l2_loss_circle


class RepVGG(nn.Layer):
    def __init__(self, num_blocks=(2, 2), width=(8, 12), class_num=5):
        super().__init__()
        self.stage0 = RepVGGBlock(3, 8, stride=2)
        self.in_planes = 8
        self.stage1 = self._make_stage(width[0], num_blocks[0], stride=1)
        self.stage2 = self._make_stage(width[1], num_blocks[1], stride=2)
        self.gap = nn.AdaptiveAvgPool2D(output_size=1)
        self.linear = nn.Linear(width[-1], class_num)

    def _make_stage(self, planes, num_blocks, stride):
        blocks = []
        for s in [stride] + [1] * (num_blocks - 1):
            blocks.append(RepVGGBlock(self.in_planes, planes, s))
            self.in_planes = planes
        return nn.Sequential(*blocks)

    def forward(self, x):
        out = self.gap(self.stage2(self.stage1(self.stage0(x))))
        return self.linear(paddle.flatten(out, start_axis=1))


def network():
    return RepVGG()


def loss(net):
    rng = np.random.default_rng(12)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 12, 12]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    cost = F.cross_entropy(net(images), labels)
    for layer in net.sublayers():
        if isinstance(layer, RepVGGBlock):
            cost = cost + 1e-3 * layer.custom_l2()
    return cost


def build():
    net = network()
    return loss(net), net

"""ShuffleNet, version 2: half of the channels goes by, and both halves are shuffled."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def channel_shuffle(x, groups):
    batch_size, num_channels, height, width = x.shape[0:4]
    x = paddle.reshape(x, shape=[batch_size, groups, num_channels // groups, height, width])
    x = paddle.transpose(x, perm=[0, 2, 1, 3, 4])
    return paddle.reshape(x, shape=[batch_size, num_channels, height, width])


def conv_bn(inputs, outputs, kernel_size, stride=1, groups=1, act=True):
    padding = kernel_size // 2
    layers = [nn.Conv2D(inputs, outputs, kernel_size, stride, padding, groups=groups, bias_attr=False)]
    layers.append(nn.BatchNorm2D(outputs))
    return nn.Sequential(*layers, *([nn.Swish()] if act else []))


class InvertedResidual(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self._conv_pw = conv_bn(half, half, 1)
        self._conv_dw = conv_bn(half, half, 3, groups=half, act=False)
        self._conv_linear = conv_bn(half, half, 1)

    def forward(self, inputs):
        x1, x2 = paddle.split(inputs, num_or_sections=2, axis=1)
        x2 = self._conv_linear(self._conv_dw(self._conv_pw(x2)))
        return channel_shuffle(paddle.concat([x1, x2], axis=1), 2)


class InvertedResidualDS(nn.Layer):
    def __init__(self, in_channels, out_channels, stride=2):
        super().__init__()
        half = out_channels // 2
        self._conv_dw_1 = conv_bn(in_channels, in_channels, 3, stride, in_channels, act=False)
        self._conv_linear_1 = conv_bn(in_channels, half, 1)
        self._conv_pw_2 = conv_bn(in_channels, half, 1)
        self._conv_dw_2 = conv_bn(half, half, 3, stride, half, act=False)
        self._conv_linear_2 = conv_bn(half, half, 1)

    def forward(self, inputs):
        x1 = self._conv_linear_1(self._conv_dw_1(inputs))
        x2 = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(paddle.concat([x1, x2], axis=1), 2)


class ShuffleNetV2(nn.Layer):
    def __init__(self, stage_repeats=(2, 2), stage_out_channels=(8, 16, 24), num_classes=4):
        super().__init__()
        self._conv1 = conv_bn(3, stage_out_channels[0], 3, 2)
        self._max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._block_list = []
        for stage_id, num_repeat in enumerate(stage_repeats):
            inputs, outputs = stage_out_channels[stage_id : stage_id + 2]
            for i in range(num_repeat):
                block = InvertedResidualDS(inputs, outputs) if i == 0 else InvertedResidual(outputs)
                self._block_list.append(self.add_sublayer(sublayer=block, name=f"{stage_id + 2}_{i + 1}"))
        self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        self._fc = nn.Linear(stage_out_channels[-1], num_classes)

    def forward(self, inputs):
        y = self._max_pool(self._conv1(inputs))
        for inv in self._block_list:
            y = inv(y)
        return self._fc(paddle.flatten(self._pool2d_avg(y), start_axis=1, stop_axis=-1))


def network():
    return ShuffleNetV2()


def loss(net):
    rng = np.random.default_rng(8)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 24, 24]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 4, [2]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net

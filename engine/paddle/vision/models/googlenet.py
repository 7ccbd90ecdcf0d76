"""GoogLeNet, the first Inception network (Szegedy et al. 2014)."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.initializer import Uniform
from gradtool.paddle.nn.layer import Layer

from ._weights import weighted

__all__ = ["GoogLeNet", "googlenet"]

INCEPTIONS: dict[str, tuple[int, ...]] = {
    "_ince3a": (192, 64, 96, 128, 16, 32, 32),
    "_ince3b": (256, 128, 128, 192, 32, 96, 64),
    "_ince4a": (480, 192, 96, 208, 16, 48, 64),
    "_ince4b": (512, 160, 112, 224, 24, 64, 64),
    "_ince4c": (512, 128, 128, 256, 24, 64, 64),
    "_ince4d": (512, 112, 144, 288, 32, 64, 64),
    "_ince4e": (528, 256, 160, 320, 32, 128, 128),
    "_ince5a": (832, 256, 160, 320, 32, 128, 128),
    "_ince5b": (832, 384, 192, 384, 48, 128, 128),
}
"""The arguments of each :class:`Inception`."""


class ConvLayer(Layer):
    """A convolution that keeps the size, without a bias."""

    def __init__(self, channels: int, filters: int, window: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = nn.Conv2D(channels, filters, window, stride=stride, padding=(window - 1) // 2, bias_attr=False)

    def forward(self, inputs: Any) -> Any:
        return self._conv(inputs)


class Inception(Layer):
    """Convolutions of three sizes and a pooling, side by side."""

    def __init__(self, channels: int, one: int, before3: int, three: int, before5: int, five: int, pooled: int) -> None:
        super().__init__()
        self._conv1 = ConvLayer(channels, one, 1)
        self._conv3r = ConvLayer(channels, before3, 1)
        self._conv3 = ConvLayer(before3, three, 3)
        self._conv5r = ConvLayer(channels, before5, 1)
        self._conv5 = ConvLayer(before5, five, 5)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=1, padding=1)
        self._convprj = ConvLayer(channels, pooled, 1)

    def forward(self, inputs: Any) -> Any:
        one = self._conv1(inputs)
        three = self._conv3(self._conv3r(inputs))
        five = self._conv5(self._conv5r(inputs))
        return F.relu(paddle.concat([one, three, five, self._convprj(self._pool(inputs))], axis=1))


def _scores(inputs: int, outputs: int, spread: int) -> nn.Linear:
    """A linear layer whose weights are drawn evenly within ``±√(3 / spread)``."""
    bound = math.sqrt(3 / spread)
    return nn.Linear(inputs, outputs, weight_attr=paddle.ParamAttr(initializer=Uniform(-bound, bound)))


class GoogLeNet(Layer):
    """GoogLeNet with its two helping outputs, for images of 224 by 224 pixels.

    Args:
        num_classes: how many scores come out; 0 for none of the last layers.
        with_pool: whether the features are pooled first.

    Returns:
        A call gives a tuple: what the whole net says, and what is said after two of the inner blocks.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, shape in INCEPTIONS.items():
            setattr(self, name, Inception(*shape))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(kernel_size=5, stride=3)
            self._pool_o2 = nn.AvgPool2D(kernel_size=5, stride=3)
        if num_classes > 0:
            self._drop = nn.Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = _scores(1024, num_classes, 1024)
            for n, channels in (("1", 512), ("2", 528)):
                setattr(self, f"_conv_o{n}", ConvLayer(channels, 128, 1))
                setattr(self, f"_fc_o{n}", _scores(1152, 1024, 2048))
                setattr(self, f"_drop_o{n}", nn.Dropout(p=0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{n}", _scores(1024, num_classes, 1024))

    def forward(self, inputs: Any) -> Any:
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = self._ince4a(x)
        second = self._ince4d(self._ince4c(self._ince4b(first)))
        x = self._pool(self._ince4e(second))
        out = self._ince5b(self._ince5a(x))
        if self.with_pool:
            out, first, second = self._pool_5(out), self._pool_o1(first), self._pool_o2(second)
        if self.num_classes > 0:
            out = self._fc_out(paddle.squeeze(self._drop(out), axis=[2, 3]))
            first = F.relu(self._fc_o1(paddle.flatten(self._conv_o1(first), 1)))
            first = self._out1(self._drop_o1(first))
            # Paddle has no activation here, unlike after the first.
            second = self._fc_o2(paddle.flatten(self._conv_o2(second), 1))
            second = self._out2(self._drop_o2(second))
        return out, first, second


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """:class:`GoogLeNet`; *pretrained* for the published weights, from the file where Paddle keeps it."""
    return weighted(GoogLeNet(**kwargs), "googlenet", pretrained)

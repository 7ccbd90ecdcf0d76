"""DenseNet (Huang et al. 2017)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.initializer import Uniform
from gradtool.paddle.nn.layer import Layer

from ._refusals import WrongNet
from ._weights import weighted

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "densenet264"]


class Shape(NamedTuple):
    """Numbers of channels at first, of channels that each layer adds, and of layers in each block."""

    first: int
    growth: int
    blocks: tuple[int, int, int, int]


SHAPES = {
    121: Shape(64, 32, (6, 12, 24, 16)),
    161: Shape(96, 48, (6, 12, 36, 24)),
    169: Shape(64, 32, (6, 12, 32, 32)),
    201: Shape(64, 32, (6, 12, 48, 32)),
    264: Shape(64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(Layer):
    """Batch normalisation with ``relu``, and a convolution."""

    def __init__(self, channels: int, filters: int, window: int, padding: int = 0) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm(channels, act="relu")
        self._conv = nn.Conv2D(channels, filters, window, padding=padding, bias_attr=False)

    def forward(self, input: Any) -> Any:
        return self._conv(self._batch_norm(input))


class DenseLayer(Layer):
    """Channels that are added to those that come in: a convolution of 1 by 1, and one of 3 by 3."""

    def __init__(self, channels: int, growth: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(channels, bn_size * growth, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth, growth, 3, padding=1)
        if dropout:
            self.dropout_func = nn.Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, input: Any) -> Any:
        new = self.bn_ac_func2(self.bn_ac_func1(input))
        if self.dropout:
            new = self.dropout_func(new)
        return paddle.concat([input, new], axis=1)


class DenseBlock(Layer):
    """Layers each of which reads what all before it gave; *name* is what theirs begin with."""

    def __init__(self, channels: int, layers: int, bn_size: int, growth: int, dropout: float, name: str) -> None:
        super().__init__()
        for i in range(layers):
            self.add_sublayer(f"{name}_{i + 1}", DenseLayer(channels + i * growth, growth, bn_size, dropout))

    def forward(self, input: Any) -> Any:
        for layer in self.children():
            input = layer(input)
        return input


class TransitionLayer(Layer):
    """Fewer channels, and half of the rows and columns."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(channels, filters, 1)
        self.pool2d_avg = nn.AvgPool2D(kernel_size=2, stride=2, padding=0)

    def forward(self, input: Any) -> Any:
        return self.pool2d_avg(self.conv_ac_func(input))


class ConvBNLayer(Layer):
    """The first convolution, with batch normalisation and ``relu``."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(channels, filters, 7, stride=2, padding=3, bias_attr=False)
        self._batch_norm = nn.BatchNorm(filters, act="relu")

    def forward(self, input: Any) -> Any:
        return self._batch_norm(self._conv(input))


class DenseNet(Layer):
    """Four blocks in which every layer reads what all layers before it gave.

    Args:
        layers: 121, 161, 169, 201 or 264.
        bn_size: how many times the channels that a layer adds stand between its two convolutions.
        dropout: the share of what a layer adds that is dropped in training.
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.

    Raises:
        WrongNet: another number of layers (an AssertionError).
    """

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if layers not in SHAPES:
            raise WrongNet(f"supported layers are {[*SHAPES]} but input layer is {layers}")
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, growth, blocks = SHAPES[layers]
        self.conv1_func = ConvBNLayer(3, channels)
        self.pool2d_max = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        # Names count from 2, because the first convolution is 1.
        for number, depth in enumerate(blocks, start=2):
            block = DenseBlock(channels, depth, bn_size, growth, dropout, name=f"conv{number}")
            self.add_sublayer(f"db_conv_{number}", block)
            channels += depth * growth
            if number <= len(blocks):
                self.add_sublayer(f"tr_conv{number}_blk", TransitionLayer(channels, channels // 2))
                channels //= 2
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(channels)
            self.out = nn.Linear(
                channels, num_classes, weight_attr=paddle.ParamAttr(initializer=Uniform(-bound, bound))
            )

    def forward(self, input: Any) -> Any:
        x = self.pool2d_max(self.conv1_func(input))
        for name, layer in self.named_children():
            if name.startswith(("db_conv_", "tr_conv")):
                x = layer(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.out(paddle.flatten(x, start_axis=1, stop_axis=-1)) if self.num_classes > 0 else x


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """:class:`DenseNet` with 121 layers; *pretrained* for the published weights."""
    return weighted(DenseNet(layers=121, **kwargs), "densenet121", pretrained)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """:class:`DenseNet` with 161 layers; *pretrained* for the published weights."""
    return weighted(DenseNet(layers=161, **kwargs), "densenet161", pretrained)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """:class:`DenseNet` with 169 layers; *pretrained* for the published weights."""
    return weighted(DenseNet(layers=169, **kwargs), "densenet169", pretrained)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """:class:`DenseNet` with 201 layers; *pretrained* for the published weights."""
    return weighted(DenseNet(layers=201, **kwargs), "densenet201", pretrained)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """:class:`DenseNet` with 264 layers; *pretrained* for the published weights."""
    return weighted(DenseNet(layers=264, **kwargs), "densenet264", pretrained)

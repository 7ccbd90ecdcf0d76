"""MobileNetV3 (Howard et al. 2019)."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.vision.ops import ConvNormActivation

from ._shapes import divisible
from ._weights import weighted

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "mobilenet_v3_large", "mobilenet_v3_small"]


class BlockRow(NamedTuple):
    """A row of the paper's tables: the window, channels within and out, squeezing, activation, stride."""

    window: int
    wide: int
    filters: int
    squeezed: bool
    activation: type[nn.Layer]
    stride: int


SMALL = (
    BlockRow(3, 16, 16, True, nn.ReLU, 2),
    BlockRow(3, 72, 24, False, nn.ReLU, 2),
    BlockRow(3, 88, 24, False, nn.ReLU, 1),
    BlockRow(5, 96, 40, True, nn.Hardswish, 2),
    BlockRow(5, 240, 40, True, nn.Hardswish, 1),
    BlockRow(5, 240, 40, True, nn.Hardswish, 1),
    BlockRow(5, 120, 48, True, nn.Hardswish, 1),
    BlockRow(5, 144, 48, True, nn.Hardswish, 1),
    BlockRow(5, 288, 96, True, nn.Hardswish, 2),
    BlockRow(5, 576, 96, True, nn.Hardswish, 1),
    BlockRow(5, 576, 96, True, nn.Hardswish, 1),
)

LARGE = (
    BlockRow(3, 16, 16, False, nn.ReLU, 1),
    BlockRow(3, 64, 24, False, nn.ReLU, 2),
    BlockRow(3, 72, 24, False, nn.ReLU, 1),
    BlockRow(5, 72, 40, True, nn.ReLU, 2),
    BlockRow(5, 120, 40, True, nn.ReLU, 1),
    BlockRow(5, 120, 40, True, nn.ReLU, 1),
    BlockRow(3, 240, 80, False, nn.Hardswish, 2),
    BlockRow(3, 200, 80, False, nn.Hardswish, 1),
    BlockRow(3, 184, 80, False, nn.Hardswish, 1),
    BlockRow(3, 184, 80, False, nn.Hardswish, 1),
    BlockRow(3, 480, 112, True, nn.Hardswish, 1),
    BlockRow(3, 672, 112, True, nn.Hardswish, 1),
    BlockRow(5, 672, 160, True, nn.Hardswish, 2),
    BlockRow(5, 960, 160, True, nn.Hardswish, 1),
    BlockRow(5, 960, 160, True, nn.Hardswish, 1),
)

Norm = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)


class SqueezeExcitation(Layer):
    """Each channel times a share that is computed from the means of all (Hu et al. 2018)."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: type[nn.Layer] = nn.ReLU,
        scale_activation: type[nn.Layer] = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Any) -> Any:
        shares = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(shares)) * input


class InvertedResidual(Layer):
    """A row of the tables, for so many *channels*; the input is added where it fits."""

    def __init__(self, channels: int, wide: int, filters: int, row: BlockRow) -> None:
        super().__init__()
        self.use_res_connect = row.stride == 1 and channels == filters
        self.use_se, self.expand = row.squeezed, channels != wide
        kinds = {"norm_layer": Norm, "activation_layer": row.activation}
        if self.expand:
            self.expand_conv = ConvNormActivation(channels, wide, kernel_size=1, stride=1, padding=0, **kinds)
        self.bottleneck_conv = ConvNormActivation(
            wide, wide, kernel_size=row.window, stride=row.stride, padding=row.window // 2, groups=wide, **kinds
        )
        if row.squeezed:
            self.mid_se = SqueezeExcitation(wide, divisible(wide // 4), scale_activation=nn.Hardsigmoid)
        self.linear_conv = ConvNormActivation(
            wide, filters, kernel_size=1, stride=1, padding=0, norm_layer=Norm, activation_layer=None
        )

    def forward(self, x: Any) -> Any:
        out = self.expand_conv(x) if self.expand else x
        out = self.bottleneck_conv(out)
        if self.use_se:
            out = self.mid_se(out)
        out = self.linear_conv(out)
        return paddle.add(x, out) if self.use_res_connect else out


class MobileNetV3(Layer):
    """Base of both sizes; subclasses name their table.

    Args:
        scale: what the numbers of channels are multiplied with.
        num_classes: how many scores come out; 0 for none of the last layers.
        with_pool: whether the features are pooled to one pixel first.
    """

    table: ClassVar[tuple[BlockRow, ...]]
    last: ClassVar[int]

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        channels = divisible(16 * scale)
        first = {"norm_layer": Norm, "activation_layer": nn.Hardswish}
        self.conv = ConvNormActivation(3, channels, kernel_size=3, stride=2, padding=1, **first)
        blocks = []
        for row in self.table:
            filters = divisible(row.filters * scale)
            blocks.append(InvertedResidual(channels, divisible(row.wide * scale), filters, row))
            channels = filters
        self.blocks = nn.Sequential(*blocks)
        self.lastconv = ConvNormActivation(channels, 6 * channels, kernel_size=1, stride=1, padding=0, **first)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            hidden = divisible(self.last * scale)
            self.classifier = nn.Sequential(
                nn.Linear(6 * channels, hidden), nn.Hardswish(), nn.Dropout(p=0.2), nn.Linear(hidden, num_classes)
            )

    def forward(self, x: Any) -> Any:
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


class MobileNetV3Small(MobileNetV3):
    """The smaller of both.

    Args:
        scale: what the numbers of channels are multiplied with.
        num_classes: how many scores come out; 0 for none of the last layers.
        with_pool: whether the features are pooled to one pixel first.
    """

    table, last = SMALL, 1024


class MobileNetV3Large(MobileNetV3):
    """The larger of both; the arguments are those of :class:`MobileNetV3Small`."""

    table, last = LARGE, 1280


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """:class:`MobileNetV3Small`; *pretrained* for the published weights, of scale 1."""
    return weighted(MobileNetV3Small(scale=scale, **kwargs), f"mobilenet_v3_small_x{scale}", pretrained)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """:class:`MobileNetV3Large`; *pretrained* for the published weights, of scale 1."""
    return weighted(MobileNetV3Large(scale=scale, **kwargs), f"mobilenet_v3_large_x{scale}", pretrained)

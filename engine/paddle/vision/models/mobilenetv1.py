"""MobileNet (Howard et al. 2017)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.vision.ops import ConvNormActivation

from ._weights import weighted

__all__ = ["MobileNetV1", "mobilenet_v1"]

BLOCKS: tuple[tuple[str, int, int, int], ...] = (
    ("conv2_1", 32, 64, 1),
    ("conv2_2", 64, 128, 2),
    ("conv3_1", 128, 128, 1),
    ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1),
    ("conv4_2", 256, 512, 2),
    *((f"conv5_{i}", 512, 512, 1) for i in range(1, 6)),
    ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
)
"""Name, channels in, channels out and stride of each block."""


class DepthwiseSeparable(Layer):
    """A convolution of each channel for itself, and one of 1 by 1."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(channels, channels, 3, stride=stride, padding=1, groups=channels)
        self._pointwise_conv = ConvNormActivation(channels, filters, 1, stride=1, padding=0)

    def forward(self, x: Any) -> Any:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Layer):
    """A network of separable convolutions.

    Args:
        scale: what the numbers of channels are multiplied with.
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), kernel_size=3, stride=2, padding=1)
        for name, channels, filters, stride in BLOCKS:
            setattr(self, name, DepthwiseSeparable(int(channels * scale), int(filters * scale), stride))
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x: Any) -> Any:
        x = self.conv1(x)
        for name, *_ in BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """:class:`MobileNetV1`; *pretrained* for the published weights, of scale 1."""
    return weighted(MobileNetV1(scale=scale, **kwargs), f"mobilenetv1_{scale}", pretrained)

"""MobileNetV2 (Sandler et al. 2018)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.vision.ops import ConvNormActivation

from ._shapes import divisible
from ._weights import weighted

__all__ = ["MobileNetV2", "mobilenet_v2"]

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""How many times wider each stage is within, its channels, its blocks, the stride of the first."""


class InvertedResidual(Layer):
    """Many channels between few: 1 by 1, each channel for itself, 1 by 1; the input is added where it fits."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = nn.BatchNorm2D) -> None:
        super().__init__()
        self.stride = stride
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        kinds = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        layers: list[nn.Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, hidden, kernel_size=1, **kinds))
        layers += [
            ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, **kinds),
            nn.Conv2D(hidden, oup, 1, 1, 0, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Layer):
    """A network of blocks that are wide within and narrow between.

    Args:
        scale: what the numbers of channels are multiplied with.
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        channels = divisible(32 * scale)
        last = divisible(1280 * max(1.0, scale))
        features: list[nn.Layer] = [ConvNormActivation(3, channels, stride=2, activation_layer=nn.ReLU6)]
        for wider, base, blocks, stride in STAGES:
            for i in range(blocks):
                features.append(InvertedResidual(channels, divisible(base * scale), 1 if i else stride, wider))
                channels = divisible(base * scale)
        features.append(ConvNormActivation(channels, last, kernel_size=1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes))

    def forward(self, x: Any) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """:class:`MobileNetV2`; *pretrained* for the published weights, of scale 1."""
    return weighted(MobileNetV2(scale=scale, **kwargs), f"mobilenetv2_{scale}", pretrained)

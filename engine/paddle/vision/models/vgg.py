"""VGG (Simonyan and Zisserman 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer

from ._weights import weighted

__all__ = ["VGG", "vgg11", "vgg13", "vgg16", "vgg19"]

WIDTHS = (64, 128, 256, 512, 512)
DEPTHS = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}
"""How many convolutions stand before each of the five poolings."""


class VGG(Layer):
    """Scores of classes from *features*, three linear layers wide.

    Args:
        features: a layer that gives ``[batch, 512, rows, columns]``.
        num_classes: how many scores come out; 0 for none of the linear layers.
        with_pool: whether the features are pooled to 7 by 7 first.
    """

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features, self.num_classes, self.with_pool = features, num_classes, with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x: Any) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> nn.Sequential:
    """Convolutions of 3 by 3 with those numbers of filters, in turn; ``"M"`` halves the image."""
    layers: list[nn.Layer] = []
    channels = 3
    for filters in cfg:
        if filters == "M":
            layers.append(nn.MaxPool2D(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2D(channels, int(filters), kernel_size=3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2D(int(filters)))
        layers.append(nn.ReLU())
        channels = int(filters)
    return nn.Sequential(*layers)


def _vgg(name: str, pretrained: bool, batch_norm: bool, kwargs: dict[str, Any]) -> VGG:
    cfg: list[int | str] = []
    for width, depth in zip(WIDTHS, DEPTHS[name], strict=True):
        cfg += [width] * depth + ["M"]
    return weighted(VGG(make_layers(cfg, batch_norm), **kwargs), f"{name}{'_bn' if batch_norm else ''}", pretrained)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """:class:`VGG` with 11 layers; nobody published weights of it."""
    return _vgg("vgg11", pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """:class:`VGG` with 13 layers; nobody published weights of it."""
    return _vgg("vgg13", pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """:class:`VGG` with 16 layers; published weights are those without *batch_norm*."""
    return _vgg("vgg16", pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """:class:`VGG` with 19 layers; published weights are those without *batch_norm*."""
    return _vgg("vgg19", pretrained, batch_norm, kwargs)

"""SqueezeNet (Iandola et al. 2016)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.layer import Layer

from ._refusals import WrongNet
from ._weights import weighted

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

FIRE = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
"""How many channels each block squeezes to, and how many both of its convolutions give."""

VERSIONS: dict[str, tuple[tuple[int, int, int], tuple[int, ...]]] = {
    "1.0": ((96, 7, 0), (3, 7)),
    "1.1": ((64, 3, 1), (2, 4)),
}
"""Filters, window and padding of the first convolution, and after which blocks pixels are pooled."""


class MakeFireConv(Layer):
    """A convolution and ``relu``."""

    def __init__(self, channels: int, filters: int, window: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = nn.Conv2D(channels, filters, window, padding=padding)

    def forward(self, x: Any) -> Any:
        return F.relu(self._conv(x))


class MakeFire(Layer):
    """Few channels first, and many from convolutions of 1 by 1 and of 3 by 3."""

    def __init__(self, channels: int, squeezed: int, ones: int, threes: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(channels, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, ones, 1)
        self._conv_path2 = MakeFireConv(squeezed, threes, 3, padding=1)

    def forward(self, inputs: Any) -> Any:
        x = self._conv(inputs)
        return paddle.concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


class SqueezeNet(Layer):
    """A network with few parameters.

    Args:
        version: ``"1.0"`` or ``"1.1"``.
        num_classes: how many scores come out; 0 for none of the last convolution.
        with_pool: whether the scores are pooled to one pixel.

    Raises:
        WrongNet: another version (an AssertionError).
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in VERSIONS:
            raise WrongNet(f"supported versions are {[*VERSIONS]} but input version is {version}")
        self.version, self.num_classes, self.with_pool = version, num_classes, with_pool
        (filters, window, padding), self._pooled_after = VERSIONS[version]
        self._conv = nn.Conv2D(3, filters, window, stride=2, padding=padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        for number, (squeezed, each) in enumerate(FIRE, start=1):
            setattr(self, f"_conv{number}", MakeFire(filters, squeezed, each, each))
            filters = 2 * each
        # There in any case, as in Paddle, so that weights fit.
        self._drop = nn.Dropout(p=0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(filters, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Any) -> Any:
        x = self._pool(F.relu(self._conv(inputs)))
        for number in range(1, len(FIRE) + 1):
            x = getattr(self, f"_conv{number}")(x)
            if number in self._pooled_after:
                x = self._pool(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:  # only then is the last activation there
            x = paddle.squeeze(self._avg_pool(F.relu(x)), axis=[2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """:class:`SqueezeNet` 1.0; *pretrained* for the published weights."""
    return weighted(SqueezeNet("1.0", **kwargs), "squeezenet1_0", pretrained)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """:class:`SqueezeNet` 1.1, which costs less; *pretrained* for the published weights."""
    return weighted(SqueezeNet("1.1", **kwargs), "squeezenet1_1", pretrained)

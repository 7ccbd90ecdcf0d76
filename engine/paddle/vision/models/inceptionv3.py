"""InceptionV3 (Szegedy et al. 2015)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.initializer import Uniform
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.vision.ops import ConvNormActivation

from ._weights import weighted

__all__ = ["InceptionV3", "inception_v3"]


class BranchStep(NamedTuple):
    """A convolution of a branch: its name, filters, window, stride, and whether it keeps the size of the image."""

    name: str
    filters: int
    window: Any = 1
    stride: int = 1
    kept: bool = True

    def layer(self, channels: int) -> ConvNormActivation:
        """The convolution of so many *channels*, with normalisation and ``relu``."""
        if isinstance(self.window, tuple):
            padding: Any = tuple(n // 2 for n in self.window)
        else:
            padding = self.window // 2 if self.kept else 0
        return ConvNormActivation(channels, self.filters, kernel_size=self.window, stride=self.stride, padding=padding)


class _Mixed(Layer):
    """Branches side by side, of which each is convolutions in turn.

    ``fork`` names branches whose last convolution is followed by two, side by side; those are named as theirs, with
    ``a`` and ``b``. What is pooled comes last: means that keep the size before a convolution, or every other maximum.
    """

    fork: ClassVar[tuple[tuple[int, int], ...]] = ((1, 3), (3, 1))

    def _make(
        self, channels: int, *branches: tuple[BranchStep, ...], forks: tuple[BranchStep, ...] = (), pooled: int = 0
    ) -> None:
        """*pooled* is the number of filters after the means; 0 for maxima."""
        self._branches = [[step.name for step in branch] for branch in branches]
        self._forks = {step.name: (f"{step.name}a", f"{step.name}b") for step in forks}
        for branch in branches:
            width = channels
            for step in branch:
                for name, layer in self._layers_of(step, width):
                    setattr(self, name, layer)
                width = step.filters
        if pooled:
            self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
            self.branch_pool_conv = BranchStep("", pooled).layer(channels)
        else:
            self.branch_pool = nn.MaxPool2D(kernel_size=3, stride=2)
        self._pooled = pooled

    def _layers_of(self, step: BranchStep, channels: int) -> Iterator[tuple[str, nn.Layer]]:
        if step.name not in self._forks:
            yield step.name, step.layer(channels)
            return
        for name, window in zip(self._forks[step.name], self.fork, strict=True):
            yield name, step._replace(window=window).layer(channels)

    def forward(self, x: Any) -> Any:
        results = [self._branch(names, x) for names in self._branches]
        pooled = self.branch_pool(x)
        results.append(self.branch_pool_conv(pooled) if self._pooled else pooled)
        return paddle.concat(results, axis=1)

    def _branch(self, names: list[str], x: Any) -> Any:
        for name in names:
            if name in self._forks:
                x = paddle.concat([getattr(self, half)(x) for half in self._forks[name]], axis=1)
            else:
                x = getattr(self, name)(x)
        return x


class InceptionStem(Layer):
    """Layers before the blocks: five convolutions, pooled twice."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = BranchStep("", 32, 3, 2, kept=False).layer(3)
        self.conv_2a_3x3 = BranchStep("", 32, 3, kept=False).layer(32)
        self.conv_2b_3x3 = BranchStep("", 64, 3).layer(32)
        self.max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        self.conv_3b_1x1 = BranchStep("", 80).layer(64)
        self.conv_4a_3x3 = BranchStep("", 192, 3, kept=False).layer(80)

    def forward(self, x: Any) -> Any:
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionA(_Mixed):
    """Windows of 1, 5 and twice 3."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        self._make(
            num_channels,
            (BranchStep("branch1x1", 64),),
            (BranchStep("branch5x5_1", 48), BranchStep("branch5x5_2", 64, 5)),
            (
                BranchStep("branch3x3dbl_1", 64),
                BranchStep("branch3x3dbl_2", 96, 3),
                BranchStep("branch3x3dbl_3", 96, 3),
            ),
            pooled=pool_features,
        )


class InceptionB(_Mixed):
    """Windows of 3 and twice 3; halves rows and columns."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self._make(
            num_channels,
            (BranchStep("branch3x3", 384, 3, 2, kept=False),),
            (
                BranchStep("branch3x3dbl_1", 64),
                BranchStep("branch3x3dbl_2", 96, 3),
                BranchStep("branch3x3dbl_3", 96, 3, 2, kept=False),
            ),
        )


class InceptionC(_Mixed):
    """Windows of 7 by 7, of a row and a column in turn."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        row, column = (1, 7), (7, 1)
        self._make(
            num_channels,
            (BranchStep("branch1x1", 192),),
            (
                BranchStep("branch7x7_1", channels_7x7),
                BranchStep("branch7x7_2", channels_7x7, row),
                BranchStep("branch7x7_3", 192, column),
            ),
            (
                BranchStep("branch7x7dbl_1", channels_7x7),
                BranchStep("branch7x7dbl_2", channels_7x7, column),
                BranchStep("branch7x7dbl_3", channels_7x7, row),
                BranchStep("branch7x7dbl_4", channels_7x7, column),
                BranchStep("branch7x7dbl_5", 192, row),
            ),
            pooled=192,
        )


class InceptionD(_Mixed):
    """Windows of 3, and of 7 by 7 and 3; halves rows and columns."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self._make(
            num_channels,
            (BranchStep("branch3x3_1", 192), BranchStep("branch3x3_2", 320, 3, 2, kept=False)),
            (
                BranchStep("branch7x7x3_1", 192),
                BranchStep("branch7x7x3_2", 192, (1, 7)),
                BranchStep("branch7x7x3_3", 192, (7, 1)),
                BranchStep("branch7x7x3_4", 192, 3, 2, kept=False),
            ),
        )


class InceptionE(_Mixed):
    """Windows of a row and of a column of 3, side by side."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        wide, deep = BranchStep("branch3x3_2", 384), BranchStep("branch3x3dbl_3", 384)
        self._make(
            num_channels,
            (BranchStep("branch1x1", 320),),
            (BranchStep("branch3x3_1", 384), wide),
            (BranchStep("branch3x3dbl_1", 448), BranchStep("branch3x3dbl_2", 384, 3), deep),
            forks=(wide, deep),
            pooled=192,
        )


class InceptionV3(Layer):
    """A stem and eleven blocks of branches, for images of 299 by 299 pixels.

    Args:
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = nn.LayerList(
            [
                *(InceptionA(channels, pooled) for channels, pooled in ((192, 32), (256, 64), (288, 64))),
                InceptionB(288),
                *(InceptionC(768, within) for within in (128, 160, 160, 192)),
                InceptionD(768),
                InceptionE(1280),
                InceptionE(2048),
            ]
        )
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(2048)
            self.dropout = nn.Dropout(p=0.2, mode="downscale_in_infer")
            self.fc = nn.Linear(2048, num_classes, weight_attr=paddle.ParamAttr(initializer=Uniform(-bound, bound)))

    def forward(self, x: Any) -> Any:
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            x = self.fc(self.dropout(paddle.reshape(x, shape=[-1, 2048])))
        return x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """:class:`InceptionV3`; *pretrained* for the published weights, from the file where Paddle keeps it."""
    return weighted(InceptionV3(**kwargs), "inception_v3", pretrained)

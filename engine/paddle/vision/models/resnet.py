"""ResNet (He et al. 2015), ResNeXt (Xie et al. 2017), Wide ResNet (Zagoruyko and Komodakis 2016)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer

from ._refusals import WrongScale
from ._weights import weighted

__all__ = [
    "ResNet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext50_64x4d",
    "resnext101_32x4d",
    "resnext101_64x4d",
    "resnext152_32x4d",
    "resnext152_64x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]

DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""How many blocks each of the four stages has, by the number of layers."""

Norm = Callable[[int], nn.Layer]


class BasicBlock(Layer):
    """Two convolutions of 3 by 3, around which the input passes.

    Args:
        inplanes, planes: channels that come in and go out.
        stride: of the first convolution.
        downsample: what the input passes through; the input itself if None.
    """

    expansion: ClassVar[int] = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: Any = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        if dilation > 1:
            raise WrongScale(f"BasicBlock: dilation must be 1, but got {dilation}", hint="BottleneckBlock dilates")
        norm = nn.BatchNorm2D if norm_layer is None else norm_layer
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(Layer):
    """A convolution of 3 by 3 between two of 1 by 1, around which the input passes.

    Args:
        inplanes: channels that come in; four times *planes* go out.
        groups, base_width: of the middle convolution, whose channels are ``planes · base_width / 64 · groups``.
    """

    expansion: ClassVar[int] = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: Any = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        norm = nn.BatchNorm2D if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2D(
            width, width, 3, padding=dilation, stride=stride, groups=groups, dilation=dilation, bias_attr=False
        )
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(Layer):
    """Four stages of blocks, each of which adds to what passes it.

    Args:
        block: :class:`BasicBlock` or :class:`BottleneckBlock`.
        depth: the number of layers: 18, 34, 50, 101 or 152.
        width: channels of each group in the first stage's middle convolutions.
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.

    Raises:
        UsageError: a network of another depth (a ValueError).

    >>> from gradtool import paddle
    >>> from paddle.vision.models.resnet import BasicBlock
    >>> net = paddle.vision.models.ResNet(BasicBlock, 18, num_classes=10)
    >>> net(paddle.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in DEPTHS:
            raise UsageError(f"ResNet: depth must be one of {', '.join(map(str, DEPTHS))}, but got {depth}")
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self._norm_layer = nn.BatchNorm2D
        self.inplanes, self.dilation = 64, 1
        self.conv1 = nn.Conv2D(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for stage, blocks in enumerate(DEPTHS[depth], start=1):
            layer = self._make_layer(block, 32 << stage, blocks, stride=1 if stage == 1 else 2)
            setattr(self, f"layer{stage}", layer)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> nn.Sequential:
        """A stage of so many blocks, the first with *stride*, or with *dilate* dilated by as much instead."""
        before, downsample = self.dilation, None
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, planes * block.expansion, 1, stride=stride, bias_attr=False),
                self._norm_layer(planes * block.expansion),
            )
        shape = {"groups": self.groups, "base_width": self.base_width, "norm_layer": self._norm_layer}
        layers = [block(self.inplanes, planes, stride, downsample, dilation=before, **shape)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes, **shape) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        return self.fc(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def _resnet(name: str, depth: int, pretrained: Any, kwargs: dict[str, Any], **shape: int) -> ResNet:
    block = BasicBlock if depth < 50 else BottleneckBlock
    return weighted(ResNet(block, depth, **{**shape, **kwargs}), name, pretrained)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """:class:`ResNet` with 18 layers; *pretrained* for the published weights."""
    return _resnet("resnet18", 18, pretrained, kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """:class:`ResNet` with 34 layers; *pretrained* for the published weights."""
    return _resnet("resnet34", 34, pretrained, kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """:class:`ResNet` with 50 layers; *pretrained* for the published weights."""
    return _resnet("resnet50", 50, pretrained, kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """:class:`ResNet` with 101 layers; *pretrained* for the published weights."""
    return _resnet("resnet101", 101, pretrained, kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """:class:`ResNet` with 152 layers; *pretrained* for the published weights."""
    return _resnet("resnet152", 152, pretrained, kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 50 layers, 32 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext50_32x4d", 50, pretrained, kwargs, groups=32, width=4)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 50 layers, 64 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext50_64x4d", 50, pretrained, kwargs, groups=64, width=4)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 101 layers, 32 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext101_32x4d", 101, pretrained, kwargs, groups=32, width=4)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 101 layers, 64 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext101_64x4d", 101, pretrained, kwargs, groups=64, width=4)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 152 layers, 32 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext152_32x4d", 152, pretrained, kwargs, groups=32, width=4)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt: :class:`ResNet` with 152 layers, 64 groups of four channels; *pretrained* for published weights."""
    return _resnet("resnext152_64x4d", 152, pretrained, kwargs, groups=64, width=4)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """Wide ResNet: :class:`ResNet` with 50 layers, twice as wide; *pretrained* for the published weights."""
    return _resnet("wide_resnet50_2", 50, pretrained, kwargs, width=128)


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """Wide ResNet: :class:`ResNet` with 101 layers, twice as wide; *pretrained* for the published weights."""
    return _resnet("wide_resnet101_2", 101, pretrained, kwargs, width=128)

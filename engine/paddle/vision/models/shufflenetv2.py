"""ShuffleNetV2 (Ma et al. 2018)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.vision.ops import ConvNormActivation

from ._refusals import WrongActivation, WrongScale
from ._weights import weighted

__all__ = [
    "ShuffleNetV2",
    "shufflenet_v2_swish",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x0_25",
    "shufflenet_v2_x0_33",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]

DEPTHS = {2: 4, 3: 8, 4: 4}
"""How many blocks each stage has; stages count from 2, because the first convolution is 1."""

CHANNELS: dict[float, tuple[int, int, int, int, int]] = {
    0.25: (24, 24, 48, 96, 512),
    0.33: (24, 32, 64, 128, 512),
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 224, 488, 976, 2048),
}
"""Channels after the first convolution, after each stage, and after the last convolution."""

ACTIVATIONS: dict[str | None, type[nn.Layer] | None] = {"relu": nn.ReLU, "swish": nn.Swish, None: None}


def channel_shuffle(x: Any, groups: int) -> Any:
    """*x* with its channels dealt out to *groups* in turn."""
    batch, channels, height, width = x.shape[:4]
    x = paddle.reshape(x, [batch, groups, channels // groups, height, width])
    return paddle.reshape(paddle.transpose(x, [0, 2, 1, 3, 4]), [batch, channels, height, width])


class InvertedResidual(Layer):
    """Half of the channels pass; the others go through three convolutions."""

    def __init__(self, channels: int, activation: type[nn.Layer] | None) -> None:
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNormActivation(half, half, kernel_size=1, stride=1, padding=0, activation_layer=activation)
        self._conv_dw = ConvNormActivation(
            half, half, kernel_size=3, stride=1, padding=1, groups=half, activation_layer=None
        )
        self._conv_linear = ConvNormActivation(
            half, half, kernel_size=1, stride=1, padding=0, activation_layer=activation
        )

    def forward(self, inputs: Any) -> Any:
        half = inputs.shape[1] // 2
        passing, x = paddle.split(inputs, num_or_sections=[half, half], axis=1)
        x = self._conv_linear(self._conv_dw(self._conv_pw(x)))
        return channel_shuffle(paddle.concat([passing, x], axis=1), 2)


class InvertedResidualDS(Layer):
    """All channels go both ways, and rows and columns are halved."""

    def __init__(self, channels: int, filters: int, activation: type[nn.Layer] | None) -> None:
        super().__init__()
        half = filters // 2
        one = {"kernel_size": 1, "stride": 1, "padding": 0, "activation_layer": activation}
        each: dict[str, Any] = {"kernel_size": 3, "stride": 2, "padding": 1, "activation_layer": None}
        self._conv_dw_1 = ConvNormActivation(channels, channels, groups=channels, **each)
        self._conv_linear_1 = ConvNormActivation(channels, half, **one)
        self._conv_pw_2 = ConvNormActivation(channels, half, **one)
        self._conv_dw_2 = ConvNormActivation(half, half, groups=half, **each)
        self._conv_linear_2 = ConvNormActivation(half, half, **one)

    def forward(self, inputs: Any) -> Any:
        left = self._conv_linear_1(self._conv_dw_1(inputs))
        right = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(paddle.concat([left, right], axis=1), 2)


class ShuffleNetV2(Layer):
    """A network that shuffles channels between convolutions of halves.

    Args:
        scale: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act: ``"relu"``, ``"swish"``, or None.
        num_classes: how many scores come out; 0 for none of the last layer.
        with_pool: whether the features are pooled to one pixel first.

    Raises:
        WrongScale: another scale (a NotImplementedError).
        WrongActivation: another activation (a RuntimeError).
    """

    def __init__(
        self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        if act not in ACTIVATIONS:
            raise WrongActivation(f"The activation function is not supported: {act}", hint="relu and swish are")
        if scale not in CHANNELS:
            known = ", ".join(map(str, CHANNELS))
            raise WrongScale(f"This scale size:[{scale}] is not implemented!", hint=f"there are {known}")
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        activation = ACTIVATIONS[act]
        channels, *stages, last = CHANNELS[scale]
        self._conv1 = ConvNormActivation(3, channels, kernel_size=3, stride=2, padding=1, activation_layer=activation)
        self._max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._names = []
        for (stage, depth), filters in zip(DEPTHS.items(), stages, strict=True):
            for i in range(depth):
                self._names.append(f"{stage}_{i + 1}")
                block = (
                    InvertedResidual(filters, activation) if i else InvertedResidualDS(channels, filters, activation)
                )
                self.add_sublayer(self._names[-1], block)
            channels = filters
        self._last_conv = ConvNormActivation(
            channels, last, kernel_size=1, stride=1, padding=0, activation_layer=activation
        )
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs: Any) -> Any:
        x = self._max_pool(self._conv1(inputs))
        for name in self._names:
            x = getattr(self, name)(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        return self._fc(paddle.flatten(x, start_axis=1, stop_axis=-1)) if self.num_classes > 0 else x


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 0.25; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=0.25, **kwargs), "shufflenet_v2_x0_25", pretrained)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 0.33; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=0.33, **kwargs), "shufflenet_v2_x0_33", pretrained)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 0.5; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=0.5, **kwargs), "shufflenet_v2_x0_5", pretrained)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 1.0; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=1.0, **kwargs), "shufflenet_v2_x1_0", pretrained)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 1.5; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=1.5, **kwargs), "shufflenet_v2_x1_5", pretrained)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 2.0; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=2.0, **kwargs), "shufflenet_v2_x2_0", pretrained)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """:class:`ShuffleNetV2` of scale 1 with ``swish``; *pretrained* for the published weights."""
    return weighted(ShuffleNetV2(scale=1.0, act="swish", **kwargs), "shufflenet_v2_swish", pretrained)

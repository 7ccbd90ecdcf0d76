"""Layers that networks for images are made of."""

from __future__ import annotations

from typing import Any

from gradtool.paddle import nn
from gradtool.paddle.nn._containers import Sequential


class ConvNormActivation(Sequential):
    """A convolution, a normalisation of its channels, and an activation.

    Args:
        padding: None for what keeps the size of the image at stride 1.
        norm_layer: called with the number of channels; None for none.
        activation_layer: called without arguments; None for none.
        bias: whether the convolution has one; None for one where nothing is normalised.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Any = nn.BatchNorm2D,
        activation_layer: Any = nn.ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        layers = [
            nn.Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias_attr=None if bias else False,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)

"""Convolutions that read where they like."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle._arguments import tensor
from gradtool.paddle._convolving import deformed
from gradtool.paddle._images import FLOATS, numbers
from gradtool.paddle.nn._conv_layers import Windowed

from ._refusals import expect


def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Any:
    """Convolution that reads each point of its kernel where *offset* moves it, weighted by *mask*.

    Args:
        x: images, ``[batch, channels, height, width]``.
        offset: how far down and how far right each point moves, ``[batch, 2 · deformable_groups · points, rows,
            columns]``.
        weight: ``[out channels, channels / groups, kernel rows, kernel columns]``.
        mask: a weight for each point, ``[batch, deformable_groups · points, rows, columns]`` (version 2).
        stride, padding, dilation: one number, or two.

    Returns:
        ``[batch, out channels, rows, columns]``. All tensors get gradients.

    Raises:
        ShapeError: shapes that do not fit (a ValueError).
    """
    tensor(x, "x", "deform_conv2d", FLOATS)
    lie = (stride, padding, dilation, groups, deformable_groups)
    out = deformed(x, offset, mask, weight, *lie, name)
    return out if bias is None else out + paddle.reshape(bias, [1, -1, 1, 1])


class DeformConv2D(Windowed):
    """:func:`deform_conv2d` as a layer: weight ``[out_channels, in_channels / groups, height, width]``, and a bias.

    Args:
        weight_attr, bias_attr: how they are made; ``bias_attr=False`` for no bias.

    Raises:
        WrongBoxes: ``weight_attr=False`` (an AssertionError).
        UsageError: channels that the groups do not divide (a ValueError).
    """

    rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        expect(weight_attr is not False, "weight_attr should not be False in Conv.")
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._deformable_groups, self._channel_dim = deformable_groups, 1
        self._set_sizes(in_channels, out_channels, kernel_size, stride, dilation, groups)
        self._padding = [*numbers(padding, 2, "padding")]
        self._make_filters(weight_attr, bias_attr)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )

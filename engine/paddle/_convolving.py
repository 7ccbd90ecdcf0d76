"""Set-up of convolutions in both modes: how their windows lie, and the filters that they begin with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool.paddle.nn import initializer

from ._dispatch import apply
from ._images import numbers, windows


def geometry(
    stride: Any, padding: Any, dilation: Any, groups: int, rank: int = 2, *, channel_last: bool = False
) -> dict[str, Any]:
    """The attributes that say how the windows of a convolution, or of its transpose, lie.

    Raises:
        UsageError: numbers that do not fit *rank* spatial dimensions (a ValueError).
    """
    pads, algorithm = windows(padding, channel_last, rank)
    return {
        "strides": numbers(stride, rank, "stride"),
        "paddings": pads,
        "dilations": numbers(dilation, rank, "dilation"),
        "groups": groups,
        "padding_algorithm": algorithm,
    }


def filter_shape(filters: int, channels: int, groups: int, window: Sequence[int]) -> list[int]:
    """The shape of the weight."""
    return [filters, channels // groups, *window]


def filter_spread(channels: int, window: Sequence[int]) -> Any:
    """Return the initializer of the weight: normally distributed with variance ``2 / (channels · window)`` (He et al.
    2015).

    None where a filter has no elements.
    """
    elements = math.prod(window) * channels
    return initializer.Normal(0.0, math.sqrt(2.0 / elements)) if elements else None


def deformed(
    x: Any,
    offset: Any,
    mask: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    deformable_groups: int,
    name: str | None,
    **more: Any,
) -> Any:
    """A deformable convolution without a bias: version 1 where *mask* is None, else version 2."""
    attrs = {
        "strides": numbers(stride, 2, "stride"),
        "paddings": numbers(padding, 2, "padding"),
        "dilations": numbers(dilation, 2, "dilation"),
        "groups": groups,
        "deformable_groups": deformable_groups,
        **more,
    }
    if mask is None:
        return apply("deformable_conv_v1", x, offset, weight, attrs=attrs, name=name)
    return apply("deformable_conv", x, offset, mask, weight, attrs=attrs, name=name)

"""Pooling of volumes."""

from __future__ import annotations

from typing import Any

from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last

from ._pooling import averaged, greatest, output_sizes, window_of


def avg_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Mean of every window of a volume; the arguments are those of :func:`avg_pool2d`."""
    attrs = window_of("avg_pool3d", kernel_size, stride, padding, ceil_mode, data_format, 3)
    return averaged("avg_pool3d", x, {**attrs, "exclusive": exclusive}, divisor_override, name)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Maximum of every window of a volume.

    Args:
        return_mask: also return where each maximum stands, elements counted row by row.

    Returns:
        The maxima, or a pair of them and their places.
    """
    attrs = window_of("max_pool3d", kernel_size, stride, padding, ceil_mode, data_format, 3)
    return greatest("max_pool3d", x, attrs, return_mask, name)


def adaptive_avg_pool3d(x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """Means of the windows that divide a volume into ``output_size`` parts.

    Args:
        output_size: one number or one for each dimension; None keeps the size of the volume.
    """
    last = channel_last(data_format, "adaptive_avg_pool3d", 3)
    tensor(x, "x", "adaptive_avg_pool3d", FLOATS)
    sizes = output_sizes("adaptive_avg_pool3d", x, output_size, last, 3)
    attrs = {"pooling_type": "avg", "ksize": sizes, "adaptive": True, "data_format": data_format}
    return apply("pool3d", x, attrs=attrs, name=name)


def adaptive_max_pool3d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima of the windows that divide a volume into ``output_size`` parts, and with return_mask their places."""
    tensor(x, "x", "adaptive_max_pool3d", FLOATS)
    sizes = output_sizes("adaptive_max_pool3d", x, output_size, last=False, rank=3)
    pair = apply("max_pool3d_with_index", x, attrs={"ksize": sizes, "adaptive": True}, name=name)
    return pair if return_mask else pair[0]

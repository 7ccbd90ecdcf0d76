"""Elements moved between channels, places and columns; sampling at places of a grid."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import INTEGERS, integer, integers, tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last, numbers


def _factor(value: object, what: str, where: str) -> int:
    number = integer(value, what, where)
    if number < 1:
        raise UsageError(f"{where}: {what} must be positive, but received {number}.")
    return number


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Images *upscale_factor* times as large, with that factor squared times fewer channels.

    Args:
        x: ``[batch, channels, height, width]``; the channels are a multiple of ``upscale_factor²``.
    """
    channel_last(data_format, "pixel_shuffle")
    tensor(x, "x", "pixel_shuffle", FLOATS)
    factor = _factor(upscale_factor, "upscale_factor", "pixel_shuffle")
    return apply("pixel_shuffle", x, attrs={"upscale_factor": factor, "data_format": data_format}, name=name)


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The reverse of :func:`pixel_shuffle`; height and width are multiples of *downscale_factor*."""
    channel_last(data_format, "pixel_unshuffle")
    tensor(x, "x", "pixel_unshuffle", FLOATS)
    factor = _factor(downscale_factor, "downscale_factor", "pixel_unshuffle")
    return apply("pixel_unshuffle", x, attrs={"downscale_factor": factor, "data_format": data_format}, name=name)


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Channels rearranged so that those of different groups take turns; they are a multiple of *groups*."""
    channel_last(data_format, "channel_shuffle")
    tensor(x, "x", "channel_shuffle", FLOATS)
    count = _factor(groups, "groups", "channel_shuffle")
    return apply("channel_shuffle", x, attrs={"groups": count, "data_format": data_format}, name=name)


def temporal_shift(
    x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """Some channels of each frame taken from the frame before it, and as many from the frame after it.

    Args:
        x: ``[clips · seg_num, channels, height, width]``.
        shift_ratio: the share of channels for either direction, less than 0.5.

    Raises:
        UsageError: *shift_ratio* is not between 0 and 0.5 (a ValueError).
    """
    channel_last(data_format, "temporal_shift")
    tensor(x, "x", "temporal_shift", FLOATS)
    if not 0 < shift_ratio < 0.5:
        raise UsageError(f"temporal_shift: shift_ratio must lie between 0 and 0.5, but it is {shift_ratio}.")
    attrs = {"seg_num": seg_num, "shift_ratio": float(shift_ratio), "data_format": data_format}
    return apply("temporal_shift", x, attrs=attrs, name=name)


def _windows(kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any, where: str) -> dict[str, Any]:
    """The attributes that unrolling and its reverse share; paddings are above, left, below and right."""
    pads = integers(paddings, "paddings", where)
    if len(pads) not in (1, 2, 4):
        raise UsageError(f"{where}: paddings must be one number, two or four, but received {list(pads)}.")
    return {
        "kernel_sizes": numbers(kernel_sizes, 2, "kernel_sizes"),
        "strides": numbers(strides, 2, "strides"),
        "paddings": pads * (4 // len(pads)),
        "dilations": numbers(dilations, 2, "dilations"),
    }


def unfold(
    x: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None
) -> Any:
    """Every window of images as a column (im2col).

    Args:
        x: ``[batch, channels, height, width]``.
        paddings: one number, one for each spatial dimension, or those above, to the left, below and to the right.

    Returns:
        ``[batch, channels · elements of a window, windows]``.

    >>> from gradtool import paddle
    >>> paddle.nn.functional.unfold(paddle.arange(6.0).reshape([1, 1, 2, 3]), [2, 2]).numpy().tolist()
    [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """
    tensor(x, "x", "unfold", FLOATS)
    if x.ndim != 4:
        raise UsageError(f"unfold: x must be [batch, channels, height, width], but has the shape {list(x.shape)}.")
    return apply("unfold", x, attrs=_windows(kernel_sizes, strides, paddings, dilations, "unfold"), name=name)


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """Columns added up where their windows stand in images: the transpose of :func:`unfold` (col2im).

    Args:
        x: ``[batch, channels · elements of a window, windows]``.
        output_sizes: height and width of the images.
    """
    tensor(x, "x", "fold", FLOATS)
    if x.ndim != 3:
        raise UsageError(f"fold: x must be [batch, rows, windows], but has the shape {list(x.shape)}.")
    attrs = _windows(kernel_sizes, strides, paddings, dilations, "fold")
    return apply("fold", x, attrs={"output_sizes": numbers(output_sizes, 2, "output_sizes"), **attrs}, name=name)


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """Images sampled at the places that *grid* names.

    Args:
        x: ``[batch, channels, height, width]``.
        grid: ``[batch, rows, columns, 2]``: places (x, y), where -1 and 1 are the two ends of a dimension.
        mode: ``bilinear`` or ``nearest``.
        padding_mode: what lies outside: ``zeros``, the ``border`` repeated, or a ``reflection``.
        align_corners: whether -1 and 1 are the middles of the outermost pixels, not their edges.

    Raises:
        UsageError: an unknown mode (a ValueError).
    """
    tensor(x, "x", "grid_sample", FLOATS)
    tensor(grid, "grid", "grid_sample", FLOATS)
    if x.ndim not in (4, 5) or grid.ndim != x.ndim or grid.shape[-1] not in (x.ndim - 2, -1):
        raise UsageError(
            f"grid_sample: x {list(x.shape)} must be [batch, channels, height, width], and grid {list(grid.shape)} "
            "[batch, rows, columns, 2]; of volumes [batch, channels, depth, height, width] and [batch, layers, rows, "
            "columns, 3]."
        )
    for what, value, choices in (
        ("mode", mode, ("bilinear", "nearest")),
        ("padding_mode", padding_mode, ("zeros", "reflection", "border")),
    ):
        if value not in choices:
            raise UsageError(f"The {what} of grid_sample should be in {list(choices)}, but got: {value}")
    attrs = {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return apply("grid_sampler", x, grid, attrs=attrs, key="grid_sample", name=name)


def affine_grid(theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """The grid, for :func:`grid_sample`, that an affine map makes of every place of an image.

    Args:
        theta: ``[batch, 2, 3]``, or ``[batch, 3, 4]`` for volumes.
        out_shape: ``[batch, channels, height, width]`` of the image, numbers or a variable; five for volumes.
    """
    tensor(theta, "theta", "affine_grid", FLOATS)
    if isinstance(out_shape, AnyTensor):
        tensor(out_shape, "out_shape", "affine_grid", INTEGERS)
        return apply("affine_grid", theta, out_shape, attrs={"align_corners": align_corners}, name=name)
    shape = integers(list(out_shape), "out_shape", "affine_grid")
    if len(shape) not in (4, 5):
        raise UsageError(
            f"affine_grid: out_shape must be four numbers for images, five for volumes, but received {shape}."
        )
    return apply("affine_grid", theta, attrs={"align_corners": align_corners, "output_shape": shape}, name=name)

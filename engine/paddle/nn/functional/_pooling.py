"""Pooling of images and of volumes."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last, numbers, windows
from gradtool.paddle._remembered import remembered


def window_of(
    where: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str, rank: int = 2
) -> dict[str, Any]:
    """The attributes that all kinds of pooling share."""
    last = channel_last(data_format, where, rank)
    size = numbers(kernel_size, rank, "kernel_size")
    step = size if stride is None else numbers(stride, rank, "stride")
    for what, pair in (("kernel_size", size), ("stride", step)):
        if min(pair) < 1:
            raise UsageError(f"{what} of {where} must be at least 1, but received {list(pair)}.")
    pads, algorithm = windows(padding, last, rank)
    if algorithm == "VALID" and ceil_mode:
        raise UsageError('When Attr(padding) is "VALID", Attr(ceil_mode) must be False. Received ceil_mode: True.')
    return {
        "ksize": size,
        "strides": step,
        "paddings": pads,
        "padding_algorithm": algorithm,
        "ceil_mode": ceil_mode,
        "data_format": data_format,
    }


@remembered
def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Mean of every window of an image.

    Args:
        stride: the distance of the windows; kernel_size when None.
        padding: in the forms that :func:`conv2d` takes.
        ceil_mode: whether a window that lies only partly within the image counts.
        exclusive: leave padding out of the mean.
        divisor_override: divide the sums by this number instead.
    """
    attrs = window_of("avg_pool2d", kernel_size, stride, padding, ceil_mode, data_format)
    return averaged("avg_pool2d", x, {**attrs, "exclusive": exclusive}, divisor_override, name)


def averaged(where: str, x: Any, attrs: dict[str, Any], divisor: float | None, name: str | None) -> Any:
    """The means of windows, or their sums divided by *divisor*."""
    tensor(x, "x", where, FLOATS)
    if divisor is not None and not isinstance(divisor, (int, float)):
        raise ArgumentTypeError(f"divisor_override of {where} must be a number, but received {type(divisor).__name__}.")
    if divisor == 0:
        raise UsageError(f"divisor_override of {where} must not be 0.")
    out = apply(f"pool{where[-2:]}", x, attrs={**attrs, "pooling_type": "avg"}, name=name)
    if divisor is None:
        return out
    out = apply("scale", out, attrs={"scale": float(math.prod(attrs["ksize"]))}, key="tmp", direct=True)
    return apply("scale", out, attrs={"scale": 1 / divisor}, key="tmp", direct=True)


@remembered
def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Maximum of every window of an image.

    Args:
        return_mask: also return where each maximum stands, ``row · width + column``.

    Returns:
        The maxima, or a pair of them and their places.
    """
    attrs = window_of("max_pool2d", kernel_size, stride, padding, ceil_mode, data_format)
    return greatest("max_pool2d", x, attrs, return_mask, name)


def greatest(where: str, x: Any, attrs: dict[str, Any], return_mask: bool, name: str | None) -> Any:
    """The maxima of windows, with *return_mask* and where they stand."""
    tensor(x, "x", where, FLOATS)
    if not return_mask:
        return apply(f"pool{where[-2:]}", x, attrs={**attrs, "pooling_type": "max"}, name=name)
    if attrs["data_format"].endswith("C"):
        first = "NCHW" if where == "max_pool2d" else "NCDHW"
        raise UsageError(f"When setting return_mask to true, data_format must be set to {first} in API:{where}")
    if attrs["padding_algorithm"] == "SAME":
        raise UnsupportedError(f"{where}: return_mask needs a padding in numbers, not 'SAME'.")
    return apply(f"{where}_with_index", x, attrs=attrs, name=name)


@remembered
def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Means of the windows that divide an image into ``output_size`` parts.

    Args:
        output_size: one number or one for each dimension; None keeps the size of the image.
    """
    last = channel_last(data_format, "adaptive_avg_pool2d")
    tensor(x, "x", "adaptive_avg_pool2d", FLOATS)
    sizes = output_sizes("adaptive_avg_pool2d", x, output_size, last)
    attrs = {"pooling_type": "avg", "ksize": sizes, "adaptive": True, "data_format": data_format}
    return apply("pool2d", x, attrs=attrs, name=name)


@remembered
def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima of the windows that divide an image into ``output_size`` parts, and with return_mask their places."""
    tensor(x, "x", "adaptive_max_pool2d", FLOATS)
    sizes = output_sizes("adaptive_max_pool2d", x, output_size, last=False)
    outs = apply("max_pool2d_with_index", x, attrs={"ksize": sizes, "adaptive": True}, name=name)
    return outs if return_mask else outs[0]


def output_sizes(where: str, x: Any, output_size: Any, last: bool, rank: int = 2) -> tuple[int, ...]:
    """Return the number of windows in each dimension: None keeps the size of the image."""
    if x.ndim != rank + 2:
        raise UsageError(f"{where}: x must have {rank + 2} dimensions, but has the shape {list(x.shape)}.")
    image = x.shape[1:-1] if last else x.shape[2:]
    wanted = output_size if isinstance(output_size, (list, tuple)) else [output_size] * rank
    if len(wanted) != rank:
        raise UsageError(f"The output_size's length must be {rank}. Received: {list(wanted)}")
    sizes = numbers([n if w is None else w for w, n in zip(wanted, image, strict=True)], rank, "output_size")
    if UNKNOWN in sizes:
        raise UsageError(
            f"{where}: output_size None keeps the size of the image, and that of '{x.name}' {list(x.shape)} is not "
            "known."
        )
    return sizes

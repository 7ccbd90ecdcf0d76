"""Normalisation by neighbouring channels, and by the root of mean squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtool
from gradtool._arguments import tensor
from gradtool._images import FLOATS
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN

from ._pooling3d import avg_pool3d
from ._resizing import pad


def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x / (k + alpha · mean of the squares of *size* neighbouring channels)^beta`` (Krizhevsky et al. 2012).

    Args:
        x: of 3 to 5 dimensions.
        size: how many channels count, with 0 for those beyond the ends.

    Raises:
        UsageError: another number of dimensions, or an unknown format (a ValueError).
    """
    tensor(x, "x", "local_response_norm", FLOATS)
    formats = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")
    if data_format not in formats:
        raise UsageError(f"data_format should be in one of [{', '.join(formats)}], but got {data_format}")
    if x.ndim < 3:
        raise UsageError(f"Expected 3D or higher dimensionality input, but got {x.ndim} dimensions")
    last = data_format.endswith("C")
    # The channels are one side of a volume, everything else of an example another one.
    squares = gradtool.unsqueeze(gradtool.multiply(x, x), 1)
    rows = gradtool.flatten(squares, 2, -2) if last else gradtool.flatten(squares, 3, -1)
    ends = [size // 2, (size - 1) // 2]
    border, window = ([*ends, 0, 0, 0, 0], (1, 1, size)) if last else ([0, 0, *ends, 0, 0], (1, size, 1))
    means = avg_pool3d(pad(gradtool.unsqueeze(rows, 2), border, data_format="NCDHW"), window, 1)
    around = gradtool.scale(gradtool.squeeze(means, [1, 2]), alpha, k)
    shape = gradtool.shape(x) if UNKNOWN in x.shape else list(x.shape)
    return gradtool.divide(x, gradtool.pow(gradtool.reshape(around, shape), beta), name=name)


def rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float = 1e-5, name: str | None = None
) -> tuple[Any, Any]:
    """*input* divided by the root of the mean of its squares over the last dimensions, then times *weight*.

    Args:
        normalized_shape: the sizes of those dimensions.
        weight: of that shape, or None.

    Returns:
        The result, and what it was multiplied with, in float32 at least.

    Raises:
        ShapeError: *input* ends in another shape (a ValueError).
    """
    tensor(input, "input", "rms_norm", FLOATS)
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    ending = list(input.shape[input.ndim - len(sizes) :])
    if len(ending) != len(sizes) or any(a != b and a != UNKNOWN for a, b in zip(ending, sizes, strict=True)):
        raise ShapeError(f"rms_norm: input {list(input.shape)} must end in normalized_shape {sizes}.")
    axes = list(range(input.ndim - len(sizes), input.ndim))
    wide = input if input.dtype.name in ("float32", "float64") else gradtool.cast(input, "float32")
    scale = gradtool.rsqrt(gradtool.scale(gradtool.mean(gradtool.square(wide), axes, keepdim=True), 1.0, eps))
    out = gradtool.multiply(wide, scale)
    if out.dtype is not input.dtype:
        out = gradtool.cast(out, input.dtype)
    if weight is not None:
        out = gradtool.multiply(out, weight)
    return out, gradtool.squeeze(scale, axes)

"""Normalisation by neighbouring channels, and by the root of mean squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS

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
    squares = paddle.unsqueeze(paddle.multiply(x, x), 1)
    rows = paddle.flatten(squares, 2, -2) if last else paddle.flatten(squares, 3, -1)
    ends = [size // 2, (size - 1) // 2]
    border, window = ([*ends, 0, 0, 0, 0], (1, 1, size)) if last else ([0, 0, *ends, 0, 0], (1, size, 1))
    means = avg_pool3d(pad(paddle.unsqueeze(rows, 2), border, data_format="NCDHW"), window, 1)
    around = paddle.scale(paddle.squeeze(means, [1, 2]), alpha, k)
    shape = paddle.shape(x) if UNKNOWN in x.shape else list(x.shape)
    return paddle.divide(x, paddle.pow(paddle.reshape(around, shape), beta), name=name)


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
    wide = input if input.dtype.name in ("float32", "float64") else paddle.cast(input, "float32")
    scale = paddle.rsqrt(paddle.scale(paddle.mean(paddle.square(wide), axes, keepdim=True), 1.0, eps))
    out = paddle.multiply(wide, scale)
    if out.dtype is not input.dtype:
        out = paddle.cast(out, input.dtype)
    if weight is not None:
        out = paddle.multiply(out, weight)
    return out, paddle.squeeze(scale, axes)

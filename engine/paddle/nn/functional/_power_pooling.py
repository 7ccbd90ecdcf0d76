"""Pooling by a norm, and over windows of sizes drawn at random."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last, numbers, sequence_last, sequence_windows
from gradtool.paddle._manipulation import squeeze, unsqueeze

from ._pooling import output_sizes, window_of


def _norm(norm_type: float) -> float:
    if norm_type == 0:
        raise UsageError("`norm_type` cannot be 0.")
    return float(norm_type)


def lp_pool1d(
    x: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """``(Σ x^p)^(1/p)`` of every window of a sequence; see :func:`lp_pool2d`.

    Args:
        x: ``[batch, channels, length]``, or ``[batch, length, channels]`` with data_format NLC.
    """
    tensor(x, "x", "lp_pool1d", FLOATS)
    last = sequence_last(data_format, "lp_pool1d")
    if x.ndim != 3:
        raise UsageError(f"The input should have 3 dimensions, but received {list(x.shape)}.")
    pads, algorithm = sequence_windows(padding, last)
    size = numbers(kernel_size, 1, "kernel_size")
    attrs = window_of(
        "lp_pool1d",
        (1, *size),
        None if stride is None else (1, *numbers(stride, 1, "pool_stride")),
        (0, 0, *pads) if len(pads) == 2 else (0, *pads),
        ceil_mode,
        "NHWC" if last else "NCHW",
    )
    attrs |= {"padding_algorithm": algorithm, "kernel_size": attrs.pop("ksize")}
    axis = 1 if last else 2
    attrs |= {"pooling_type": "lp", "norm_type": _norm(norm_type)}
    return squeeze(apply("lp_pool2d", unsqueeze(x, axis), None, [], attrs=attrs, name=name), axis)


def lp_pool2d(
    x: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``(Σ x^p)^(1/p)`` of every window of an image.

    Args:
        norm_type: p, any number but 0; 1 sums, infinity takes the maximum. Powers that are not whole numbers give NaN
            where the image is negative.
        kernel_size, stride, padding, ceil_mode, data_format: as in :func:`avg_pool2d`.

    Raises:
        UsageError: arguments that do not fit (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[[[3.0, 4.0]]]])
    >>> paddle.nn.functional.lp_pool2d(x, 2, [1, 2]).numpy().tolist()
    [[[[5.0]]]]
    """
    channel_last(data_format, "lp_pool2d")
    tensor(x, "x", "lp_pool2d", FLOATS)
    attrs = window_of("lp_pool2d", kernel_size, stride, padding, ceil_mode, data_format)
    attrs |= {"kernel_size": attrs.pop("ksize"), "pooling_type": "lp", "norm_type": _norm(norm_type)}
    return apply("lp_pool2d", x, None, [], attrs=attrs, name=name)


def fractional_max_pool2d(
    x: Any,
    output_size: Any,
    kernel_size: Any = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Maxima of windows that divide an image into ``output_size`` parts of sizes drawn at random (Graham 2014).

    Args:
        output_size: one number or one for each dimension; None keeps the size of the image.
        kernel_size: the size of the windows, which then overlap; without it each begins where the last ends.
        random_u: where in (0, 1) the sequence begins; drawn for every call when None.
        return_mask: also return where each maximum stands.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
    """
    return _fractional("fractional_max_pool2d", x, output_size, kernel_size, random_u, return_mask, name)


def fractional_max_pool3d(
    x: Any,
    output_size: Any,
    kernel_size: Any = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Maxima of windows that divide a volume into parts of random sizes; see :func:`fractional_max_pool2d`."""
    return _fractional("fractional_max_pool3d", x, output_size, kernel_size, random_u, return_mask, name)


def _fractional(
    where: str, x: Any, output_size: Any, kernel_size: Any, random_u: float | None, mask: bool, name: str | None
) -> Any:
    rank = 3 if where.endswith("3d") else 2
    tensor(x, "x", where, FLOATS)
    if random_u is not None and not 0 < random_u < 1:
        raise UsageError("The param `random_u` should be a `float` in (0, 1).")
    attrs = {
        "output_size": output_sizes(where, x, output_size, last=False, rank=rank),
        "kernel_size": (0,) * rank if kernel_size is None else numbers(kernel_size, rank, "kernel_size"),
        "random_u": 0.0 if random_u is None else float(random_u),
        "return_mask": mask,
    }
    pair = apply(where, x, attrs=attrs, name=name)
    return pair if mask else pair[0]

"""Inverse of maximum pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, numbers
from gradtool.paddle._manipulation import squeeze, unsqueeze

_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


class NoSizes(UsageError, AssertionError):
    """An output_size of another type than a list or tuple (Paddle raises AssertionError)."""


def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Any:
    """Sequences of zeros with the elements of *x* where the maxima stood; see :func:`max_unpool2d`.

    Args:
        output_size: the length of the result, or its whole shape.
    """
    return _unpooled(1, x, indices, kernel_size, stride, padding, data_format, output_size, name)


def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Any:
    """Images of zeros with the elements of *x* where the maxima stood.

    Args:
        x: what a maximum pooling gave, ``[batch, channels, height, width]``.
        indices: where the maxima stood, as ``max_pool2d(…, return_mask=True)`` says.
        kernel_size, stride, padding: those of the pooling, in numbers.
        output_size: height and width of the result, or its whole shape, where the pooling leaves several open.

    Raises:
        UsageError: a size that the pooling cannot come from, or arguments of other forms (a ValueError).

    >>> from gradtool import paddle
    >>> y, places = paddle.nn.functional.max_pool2d(paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 2, return_mask=True)
    >>> paddle.nn.functional.max_unpool2d(y, places, 2).numpy().tolist()
    [[[[0.0, 0.0], [4.0, 0.0]]]]
    """
    return _unpooled(2, x, indices, kernel_size, stride, padding, data_format, output_size, name)


def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Any:
    """Volumes of zeros with the elements of *x* where the maxima stood; see :func:`max_unpool2d`."""
    return _unpooled(3, x, indices, kernel_size, stride, padding, data_format, output_size, name)


def _unpooled(
    rank: int,
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Sequence[int] | None,
    name: str | None,
) -> Any:
    where = f"max_unpool{rank}d"
    for what, v in (("x", tensor(x, "x", where, (*FLOATS, "int64"))), ("indices", tensor(indices, "indices", where))):
        if v.ndim != rank + 2:
            form = ", ".join(_FORMATS[rank])
            raise UsageError(f"The {what} should have [{form}] format, but received {list(v.shape)}.")
    if data_format != _FORMATS[rank]:
        raise UsageError(f"Attr(data_format) should be '{_FORMATS[rank]}'. Received Attr(data_format): {data_format}.")
    window = numbers(kernel_size, rank, "pool_size")
    steps = window if stride is None else numbers(stride, rank, "pool_stride")
    pads = numbers(padding, rank, "padding")
    sizes = _sizes(x, window, steps, pads, output_size)
    attrs = {"ksize": window, "strides": steps, "paddings": pads, "output_size": sizes}
    if rank == 3:
        return apply("unpool3d", x, indices, attrs=attrs, name=name)
    kind = {"unpooling_type": "max"}
    if rank == 2:
        return apply("unpool", x, indices, attrs={**attrs, **kind}, name=name)
    # A sequence is an image of one row.
    row = {what: (0 if what == "paddings" else 1, *attrs[what]) for what in attrs}
    image = apply("unpool", unsqueeze(x, [2]), unsqueeze(indices, [2]), attrs={**row, **kind}, name=name)
    return squeeze(image, [2])


def _sizes(
    x: Any, window: Sequence[int], steps: Sequence[int], pads: Sequence[int], output_size: Sequence[int] | None
) -> tuple[int, ...]:
    """The spatial size of the result: the least that the pooling can come from, or *output_size* where it fits."""
    rank = len(window)
    image = x.shape[2:]
    if output_size is None:
        if UNKNOWN in image:
            raise UsageError(f"max_unpool{rank}d: the size of x {list(x.shape)} is not known; state output_size.")
        return tuple((n - 1) * s + k - 2 * p for n, s, k, p in zip(image, steps, window, pads, strict=True))
    if not isinstance(output_size, (list, tuple)):
        raise NoSizes(f"Required output_size is None|list|tuple, but received {output_size}")
    sizes = output_size[2:] if len(output_size) == rank + 2 else output_size
    if len(sizes) != rank:
        raise UsageError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of "
            f"'{len(sizes)}'"
        )
    sizes = numbers([int(n) for n in sizes], rank, "output_size")
    for d, (size, n, s) in enumerate(zip(sizes, image, steps, strict=True)):
        default = (n - 1) * s + window[d] - 2 * pads[d]
        if n != UNKNOWN and not default - s < size < default + s:
            raise UsageError(
                f'invalid output_size "{list(sizes)}" (dim {d} must be between {default - s} and {default + s})'
            )
    return sizes

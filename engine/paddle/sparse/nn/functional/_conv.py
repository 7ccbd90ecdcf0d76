"""Convolutions of sparse images and volumes, and those that leave their places as they are."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.core.errors import DtypeError, ShapeError, UnsupportedError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._linalg import matmul
from gradtool.paddle._manipulation import reshape
from gradtool.paddle.sparse._operands import dense
from gradtool.paddle.sparse._tensor import SparseTensor

from ._windows import images, joined, laid, read_around, read_by


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """As :func:`conv3d`, of ``[batch, height, width, channels]``."""
    return _convolved(2, x, weight, bias, (stride, padding, dilation), groups, data_format, False)


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The convolution of a sparse tensor, stored wherever a window reads a stored place.

    Args:
        x: in COO, ``[batch, depth, height, width, channels]``, with values of channels.
        weight: dense, ``[depth, height, width, channels, channels of the result]``.
        bias: dense, ``[channels of the result]``; added where the result is stored.
        padding: as for :func:`gradtool.paddle.nn.functional.conv3d`.
        groups: 1.

    Raises:
        NotSparse: *x* is dense or in CSR (a NotImplementedError).
        ShapeError: the shapes do not fit (a ValueError).
        UnsupportedError: several groups (a ValueError).
    """
    return _convolved(3, x, weight, bias, (stride, padding, dilation), groups, data_format, False)


def subm_conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """As :func:`subm_conv3d`, of ``[batch, height, width, channels]``."""
    return _convolved(2, x, weight, bias, (stride, padding, dilation), groups, data_format, True)


def subm_conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of a sparse tensor around each of its places, stored at these places alone.

    Args:
        stride, padding: accepted and not used (as in Paddle): windows stand in the middle of each place.
        key: accepted for compatibility: tables of places are not kept.

    The other arguments and errors are those of :func:`conv3d`; sizes of the kernel are odd.
    """
    return _convolved(3, x, weight, bias, (stride, padding, dilation), groups, data_format, True)


def subm_conv2d_igemm(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Compute :func:`subm_conv2d`; in Paddle a kernel for graphics cards."""
    return subm_conv2d(x, weight, bias, stride, padding, dilation, groups, data_format, key)


def subm_conv3d_igemm(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Compute :func:`subm_conv3d`; in Paddle a kernel for graphics cards."""
    return subm_conv3d(x, weight, bias, stride, padding, dilation, groups, data_format, key)


def _convolved(
    rank: int,
    x: Any,
    weight: Any,
    bias: Any,
    lay: tuple[Any, Any, Any],
    groups: int,
    data_format: str,
    stays: bool,
) -> Tensor:
    where = f"paddle.sparse.nn.functional.{'subm_' if stays else ''}conv{rank}d"
    x = images(x, rank, data_format, where)
    weight = _weight(x, weight, rank, groups, where)
    stride, padding, dilation = lay
    *kernel, channels, made = weight.shape
    if stays:
        table = read_around(x, kernel, dilation, where)
    else:
        table = read_by(x, laid(x, kernel, stride, padding, dilation, where), False, where)
    # A row for each window, the weight as one matrix.
    count = math.prod(kernel) * channels
    rows = reshape(joined(x, table, 0.0), [len(table.reads), count])
    values: Any = matmul(rows, reshape(weight, [count, made]))
    if bias is not None:
        bias = dense(bias, "bias", where)
        if bias.shape != [made]:
            raise ShapeError(f"{where}: bias must have the shape {[made]}, but has {bias.shape}.")
        values = values + bias
    return SparseTensor(values, (table.places,), (*table.sizes, made), True)


def _weight(x: SparseTensor, weight: Any, rank: int, groups: int, where: str) -> Tensor:
    """*weight*, if it fits *x*."""
    if groups != 1:
        raise UnsupportedError(f"{where}: groups must be 1 (as in Paddle), but is {groups}.")
    weight = dense(weight, "weight", where)
    if weight.ndim != rank + 2 or weight.shape[-2] != x.shape[-1]:
        raise ShapeError(
            f"{where}: weight must have {rank} sizes of the kernel, then the {x.shape[-1]} channels of x and those of "
            f"the result, but has the shape {weight.shape}."
        )
    if weight.dtype is not x.dtype:
        raise DtypeError(f"{where}: x is {x.dtype.name} and weight {weight.dtype.name}; they must be of one type.")
    return weight  # type: ignore[no-any-return]

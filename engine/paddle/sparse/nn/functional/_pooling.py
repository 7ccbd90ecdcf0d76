"""Pooling of sparse volumes."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._images import numbers
from gradtool.paddle._reduction import max as largest
from gradtool.paddle.sparse._tensor import SparseTensor

from ._windows import images, joined, laid, read_by


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest stored element of each window, stored wherever a window reads a stored place.

    Elements that are not stored do not count, though they are zero (as in Paddle).

    Args:
        x: in COO, ``[batch, depth, height, width, channels]``, with values of channels.
        stride: the size of the windows when None.

    Raises:
        NotSparse: *x* is dense or in CSR (a NotImplementedError).
        ShapeError: *x* has another shape (a ValueError).
    """
    where = "paddle.sparse.nn.functional.max_pool3d"
    x = images(x, 3, data_format, where)
    kernel = numbers(kernel_size, 3, "kernel_size")
    over = laid(x, kernel, kernel if stride is None else stride, padding, 1, where)
    table = read_by(x, over, ceil_mode, where)
    values: Any = largest(joined(x, table, -math.inf), 1)
    return SparseTensor(values, (table.places,), (*table.sizes, x.shape[-1]), True)

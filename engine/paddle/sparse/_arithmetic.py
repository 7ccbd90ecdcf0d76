"""Sparse tensors with each other: ``paddle.sparse.add``, ``subtract``, ``multiply``, ``divide``, ``is_same_shape``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, ShapeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _math

from . import _places
from ._operands import assembled, put_together, sparse
from ._tensor import NotSparse, SparseTensor

Function = Callable[[Any, Any], Any]


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The sum of two sparse tensors of one format and shape, stored wherever one of them is.

    >>> from gradtool import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 2.0], [3])
    >>> paddle.sparse.add(x, x).values().tolist()
    [2.0, 4.0]
    """
    return _joined(*_pair(x, y, "paddle.sparse.add"), _math.add)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The difference of two sparse tensors of one format and shape, stored wherever one of them is."""
    return _joined(*_pair(x, y, "paddle.sparse.subtract"), _math.subtract)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product of two sparse tensors, stored wherever one of them is (as in Paddle), or of one and a number."""
    where = "paddle.sparse.multiply"
    x = sparse(x, "x", where)
    if _is_number(y):
        return x.of_values(x.carrier * y)  # type: ignore[no-any-return]
    return _joined(*_pair(x, y, where), _math.multiply)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient of two sparse tensors, or of one and a number.

    That of two tensors is stored everywhere: where *y* is zero it is infinite, or not a number.
    """
    where = "paddle.sparse.divide"
    x = sparse(x, "x", where)
    if _is_number(y):
        return x.of_values(x.carrier / y)  # type: ignore[no-any-return]
    first, second = _pair(x, y, where)
    everywhere = np.arange(math.prod(first.placed_sizes))
    parts = [put_together(t.carrier, t.numbers, len(everywhere)) for t in (first, second)]
    return assembled(_math.divide(*parts), everywhere, first.placed_sizes, first)  # type: ignore[arg-type]


def is_same_shape(x: Any, y: Any) -> bool:
    """Return whether two tensors, sparse or dense, have the same shape.

    Raises:
        ArgumentTypeError: one of them is no tensor (a TypeError).
    """
    for what, value in (("x", x), ("y", y)):
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(
                f"paddle.sparse.is_same_shape: '{what}' must be a Tensor, but received {type(value).__name__}."
            )
    return [*x.shape] == [*y.shape]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _pair(x: Any, y: Any, where: str) -> tuple[SparseTensor, SparseTensor]:
    """Both, if they are sparse, of one format and shape.

    Raises:
        NotSparse: a dense tensor, or two formats (a NotImplementedError).
        ShapeError: they have other shapes (a ValueError).
    """
    first, second = sparse(x, "x", where), sparse(y, "y", where)
    if first.format != second.format:
        raise NotSparse(
            f"{where}: x is in {first.format} and y in {second.format}; they must be of one format.",
            hint="convert one with to_sparse_coo(2) or to_sparse_csr()",
        )
    if first.shape != second.shape:
        raise ShapeError(f"{where}: x has the shape {first.shape} and y {second.shape}; they must have the same.")
    if first.sparse_dim() != second.sparse_dim():
        raise ShapeError(
            f"{where}: places of x have {first.sparse_dim()} dimensions and those of y {second.sparse_dim()}."
        )
    return first, second


def _joined(x: SparseTensor, y: SparseTensor, function: Function) -> SparseTensor:
    """*function* of both wherever one of them is stored."""
    union, of_x, of_y = _places.united(x.numbers, y.numbers)
    parts = [put_together(t.carrier, at, len(union)) for t, at in ((x, of_x), (y, of_y))]
    return assembled(function(*parts), union, x.placed_sizes, x)

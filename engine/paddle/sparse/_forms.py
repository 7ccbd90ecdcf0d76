"""From one form of a tensor to another: dense, coordinates, compressed rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ShapeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import integer
from gradtool.paddle._gather import gather_nd
from gradtool.paddle._manipulation import reshape
from gradtool.paddle._remembered import read_value

from . import _places
from ._operands import dense, need_dynamic, passed, put_together, taken
from ._tensor import COO, SparseTensor


def to_dense(x: SparseTensor) -> Tensor:
    """All elements; where a place occurs several times, the sum of its values."""
    flat = put_together(x.carrier, x.numbers, math.prod(x.placed_sizes))
    return reshape(flat, x.shape)  # type: ignore[return-value]


def to_sparse_coo(x: Tensor, sparse_dim: Any) -> Tensor:
    """The tensor in the form of coordinates, which are of its first *sparse_dim* dimensions.

    Of a dense tensor those parts are stored that are not all zero.

    Raises:
        ShapeError: the tensor does not have that many dimensions (a ValueError).
        ModeError: static mode is on.
    """
    where = "x.to_sparse_coo"
    need_dynamic(where, x)
    count = integer(sparse_dim, "sparse_dim", where)
    if not 0 < count <= x.ndim:
        raise ShapeError(f"{where}: sparse_dim must be from 1 to {x.ndim}, the dimensions of x, but is {count}.")
    if not isinstance(x, SparseTensor):
        return _kept(x, count)
    if count == x.sparse_dim():
        if x.format == COO:
            return x
        return SparseTensor(passed(x.carrier), (x.coordinates,), tuple(x.shape), x.coalesced)
    return _kept(to_dense(x), count)


def _kept(x: Tensor, sparse_dim: int) -> SparseTensor:
    """The parts of a dense tensor that are not all zero."""
    read_value()
    rest = tuple(range(sparse_dim, x.array.ndim))
    places = np.stack(np.nonzero((x.array != 0).any(axis=rest) if rest else x.array)).astype(np.int64)
    return masked(x, places, True)


def masked(x: Tensor, places: Any, coalesced: bool) -> SparseTensor:
    """The elements of a dense tensor at *places*, in the form of coordinates."""
    values = gather_nd(x, Tensor(np.ascontiguousarray(places.T)))
    return SparseTensor(values, (places,), x.array.shape, coalesced)  # type: ignore[arg-type]


def to_sparse_csr(x: Tensor) -> Tensor:
    """The tensor in the form of compressed rows: a leaf, no gradient flows on into *x* (as in Paddle).

    Raises:
        ShapeError: it does not have 2 or 3 dimensions, or values have some (a ValueError).
        ModeError: static mode is on.
    """
    where = "x.to_sparse_csr"
    need_dynamic(where, x)
    if x.ndim not in (2, 3):
        raise ShapeError(f"{where}: SparseCsrTensor only support 2-D or 3-D Tensor, but x has the shape {x.shape}.")
    if not isinstance(x, SparseTensor):
        x = _kept(dense(x, "x", where), x.ndim)
    elif x.format != COO:
        return x
    if x.dense_dim():
        raise ShapeError(
            f"{where}: a tensor in CSR stores single elements, but values of x have the shape {x.carrier.shape[1:]}.",
            hint="use x.to_dense().to_sparse_csr()",
        )
    crows, cols, order = _places.compressed(x.coordinates, x.shape)
    values = x.carrier if x.stop_gradient else x.carrier.detach()
    made = SparseTensor(passed(taken(values, order)), (crows, cols), tuple(x.shape), x.coalesced)
    made.stop_gradient = x.stop_gradient
    return made

"""Operands of functions of sparse tensors, and the two moves that all of them are made of: take and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ModeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle._gather import gather
from gradtool.paddle._placing import scatter_nd_add

from . import _places
from ._places import Array
from ._tensor import COO, NotDense, NotSparse, SparseTensor

FLOATS = ("float32", "float64")


def need_dynamic(where: str, *values: Any) -> None:
    """Raise :class:`ModeError` for a program or its variables."""
    if state.in_static_mode() or any(isinstance(v, Variable) for v in values):
        raise ModeError(
            f"{where}: sparse tensors are there in dynamic mode only, and this is a static program.",
            hint="call paddle.disable_static(), or compute with dense variables",
        )


def sparse(value: Any, what: str, where: str, form: str | None = None) -> SparseTensor:
    """*value*, if it is a sparse tensor (of the format *form*).

    Raises:
        ArgumentTypeError: it is no tensor (a TypeError).
        ModeError: static mode is on, or it is a variable of a program.
        NotSparse: it is a dense tensor, or one of another format (a NotImplementedError).
    """
    need_dynamic(where, value)
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"{where}: '{what}' must be a sparse Tensor, but received {type(value).__name__}.")
    if not isinstance(value, SparseTensor):
        raise NotSparse(
            f"{where}: '{what}' must be a sparse tensor, but '{value.name}' is dense.",
            hint="make it sparse with x.to_sparse_coo(dimensions) or x.to_sparse_csr()",
        )
    if form is not None and value.format != form:
        advice = "x.to_sparse_coo(dimensions)" if form == COO else "x.to_sparse_csr()"
        raise NotSparse(
            f"{where}: '{what}' must be a sparse tensor in {form}, but '{value.name}' is in {value.format}.",
            hint=f"convert it with {advice}",
        )
    return value


def dense(value: Any, what: str, where: str) -> Tensor:
    """*value*, if it is a dense tensor.

    Raises:
        ArgumentTypeError: it is no tensor (a TypeError).
        NotDense: it is sparse (a NotImplementedError).
    """
    need_dynamic(where, value)
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"{where}: '{what}' must be a Tensor, but received {type(value).__name__}.")
    if isinstance(value, SparseTensor):
        raise NotDense(
            f"{where}: '{what}' must be a dense tensor, but '{value.name}' is sparse.", hint="use to_dense()"
        )
    return value


def of_floats(x: Tensor, what: str, where: str) -> None:
    """Raise :class:`DtypeError` unless *x* holds floating-point numbers."""
    if x.dtype.name not in FLOATS:
        raise DtypeError(f"{where}: '{what}' must be {' or '.join(FLOATS)}, but is {x.dtype.name}.")


def passed(values: Tensor) -> Tensor:
    """*values* as the result of a function that changes the places alone: not the same tensor."""
    return Tensor(values.array, version=values.version) if values.stop_gradient else values.clone()


def taken(values: Tensor, at: Array) -> Tensor:
    """The rows of *values* at these positions."""
    if len(at) == len(values.array) and np.array_equal(at, np.arange(len(at))):
        return values
    return gather(values, Tensor(at.astype(np.int64)))  # type: ignore[return-value]


def put_together(values: Tensor, at: Array, count: int) -> Tensor:
    """*count* rows: the sum of those of *values* that are sent to each position, zeros where none is."""
    if len(at) == count == len(values.array) and np.array_equal(at, np.arange(count)):
        return values
    empty = Tensor(np.zeros((count, *values.array.shape[1:]), values.array.dtype))
    return scatter_nd_add(empty, Tensor(at.astype(np.int64).reshape(-1, 1)), values)  # type: ignore[return-value]


def assembled(values: Tensor, numbers: Array, sizes: Sequence[int], like: SparseTensor) -> SparseTensor:
    """A tensor of *values* at numbered places, in the format of *like*.

    Args:
        numbers: the places, in order and without any twice.
        sizes: of the dimensions that the places have.
    """
    places = _places.located(numbers, sizes, like.places[0].dtype)
    shape = (*sizes, *values.array.shape[1:])
    if like.format == COO:
        return SparseTensor(values, (places,), shape, True)
    crows, cols, _ = _places.compressed(places, sizes)
    return SparseTensor(values, (crows, cols), shape, like.coalesced)


def in_format(values: Tensor, coordinates: Array, sizes: Sequence[int], like: SparseTensor) -> SparseTensor:
    """A tensor of *values* at *coordinates*, in any order, in the format of *like*."""
    shape = (*sizes, *values.array.shape[1:])
    if like.format == COO:
        return SparseTensor(passed(values), (coordinates,), shape, False)
    crows, cols, order = _places.compressed(coordinates, sizes)
    return SparseTensor(passed(taken(values, order)), (crows, cols), shape, like.coalesced)

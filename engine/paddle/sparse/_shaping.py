"""Sparse tensors in other shapes, parts and sums of them, and each place once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core.errors import AxisError, ShapeError, UnsupportedError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _creation, _manipulation, _reduction
from gradtool.paddle._arguments import integers

from . import _places
from ._operands import assembled, in_format, passed, put_together, sparse, taken
from ._tensor import COO, CSR, SparseTensor


def coalesce(x: Any, name: str | None = None) -> Tensor:
    """*x*, in COO, with its places in order and each of them once: values of one place are added.

    No gradient flows through it (as in Paddle): the result has ``stop_gradient``.
    """
    x = sparse(x, "x", "paddle.sparse.coalesce", COO)
    if not x.stop_gradient:
        x = x.detach()
    return x.of_values(passed(x.carrier)) if x.coalesced else once(x)


def once(x: SparseTensor) -> SparseTensor:
    """*x* with its places in order and each of them once; gradients flow through it."""
    numbers, at = np.unique(x.numbers, return_inverse=True)
    return assembled(put_together(x.carrier, at.reshape(-1), len(numbers)), numbers, x.placed_sizes, x)


def reshape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """*x* in another shape: the elements keep their order.

    Args:
        shape: one of its numbers may be -1, and 0 stands for the dimension of *x* there. Dimensions of values stay.

    Raises:
        ShapeError: another number of elements, or dimensions of values would change (a ValueError).
    """
    where = "paddle.sparse.reshape"
    x = sparse(x, "x", where)
    sizes = _wanted(integers(shape, "shape", where), x.shape, where)
    values = x.shape[x.sparse_dim() :]
    if sizes[len(sizes) - len(values) :] != values:
        raise ShapeError(f"{where}: the last dimensions of x, {values}, are those of its values and must stay.")
    if x.format == CSR and len(sizes) not in (2, 3):
        raise ShapeError(f"{where}: a tensor in CSR has 2 or 3 dimensions, but the shape is {sizes}.")
    placed = sizes[: len(sizes) - len(values)]
    return in_format(x.carrier, _places.located(x.numbers, placed, x.places[0].dtype), placed, x)


def _wanted(shape: list[int], now: list[int], where: str) -> list[int]:
    """*shape* with numbers for 0 and -1."""
    if any(n == 0 and i >= len(now) for i, n in enumerate(shape)) or shape.count(-1) > 1:
        raise ShapeError(f"{where}: the shape {shape} does not fit x of the shape {now}.")
    sizes = [now[i] if n == 0 else n for i, n in enumerate(shape)]
    rest = math.prod(n for n in sizes if n != -1)
    if -1 in sizes and rest:
        sizes[sizes.index(-1)] = math.prod(now) // rest
    if math.prod(sizes) != math.prod(now):
        raise ShapeError(f"{where}: the shape {shape} has another number of elements than x of the shape {now}.")
    return sizes


def transpose(x: Any, perm: Any, name: str | None = None) -> Tensor:
    """*x* with its dimensions in the order of *perm*.

    Raises:
        ShapeError: *perm* does not hold each dimension once, or mixes those of places and of values (a ValueError).
    """
    where = "paddle.sparse.transpose"
    x = sparse(x, "x", where)
    order = [p + x.ndim if p < 0 else p for p in integers(perm, "perm", where)]
    if sorted(order) != [*range(x.ndim)]:
        raise ShapeError(f"{where}: 'perm' must hold each of the {x.ndim} dimensions once, but is {list(perm)}.")
    count = x.sparse_dim()
    if any(p >= count for p in order[:count]):
        raise ShapeError(
            f"{where}: perm {order} exchanges dimensions of places (the first {count}) with those of values.",
            hint=f"make all dimensions those of places first: x.to_dense().to_sparse_coo({x.ndim})",
        )
    values = x.carrier
    if order[count:] != [*range(count, x.ndim)]:
        values = _manipulation.transpose(values, [0, *(p - count + 1 for p in order[count:])])
    return in_format(values, x.coordinates[order[:count]], [x.shape[p] for p in order[:count]], x)


def slice(x: Any, axes: Any, starts: Any, ends: Any, name: str | None = None) -> Tensor:
    """The part of *x* from *starts* to *ends* along *axes*; negative numbers count from the end.

    Raises:
        AxisError: *x* does not have such a dimension (a ValueError).
        UsageError: the lists have other lengths (a ValueError).
    """
    where = "paddle.sparse.slice"
    x = sparse(x, "x", where)
    lists = [integers(v, n, where) for v, n in ((axes, "axes"), (starts, "starts"), (ends, "ends"))]
    if len({len(v) for v in lists}) != 1:
        raise UsageError(f"{where}: axes, starts and ends must have one length, but are {lists}.")
    count = x.sparse_dim()
    coordinates, sizes = x.coordinates, x.shape
    kept = np.ones(coordinates.shape[1], bool)
    of_values: list[tuple[int, int, int]] = []
    offsets = [0] * count
    for axis, start, end in zip(*lists, strict=True):
        at = _axis(axis, x.ndim, where)
        start, end, _ = builtin_slice(start, end).indices(x.shape[at])
        sizes[at] = max(end - start, 0)
        if at >= count:
            of_values.append((at - count + 1, start, max(end, start)))
        else:
            kept &= (coordinates[at] >= start) & (coordinates[at] < end)
            offsets[at] = start
    values = taken(x.carrier, np.flatnonzero(kept))
    if of_values:
        values = _manipulation.slice(values, *(list(v) for v in zip(*of_values, strict=True)))  # type: ignore[assignment]
    moved = coordinates[:, kept] - np.array(offsets, coordinates.dtype).reshape(-1, 1)
    return in_format(values, moved, sizes[:count], x)


def _axis(axis: int, rank: int, where: str) -> int:
    if not -rank <= axis < rank:
        raise AxisError(f"{where}: the dimension {axis} is outside of those of x, {-rank} to {rank - 1}.")
    return axis % rank


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum of *x* along *axis*, a sparse tensor.

    Args:
        axis: a dimension or several; all when None. Of a tensor in CSR the last one, or all.
        dtype: to add in; that of *x* when None.
        keepdim: keep dimensions that are added up, with one entry. All of them added up make ``[1]`` otherwise.

    Raises:
        UnsupportedError: another dimension of a tensor in CSR (a NotImplementedError).
    """
    where = "paddle.sparse.sum"
    x = sparse(x, "x", where)
    chosen = (
        range(x.ndim) if axis is None else integers(axis if isinstance(axis, (list, tuple)) else [axis], "axis", where)
    )
    axes = sorted({_axis(a, x.ndim, where) for a in chosen})
    values = x.carrier if dtype is None else _creation.cast(x.carrier, dtype)
    if x.format == CSR:
        return _sum_of_rows(x, values, axis, axes, keepdim, where)
    count = x.sparse_dim()
    inner = [a - count + 1 for a in axes if a >= count]
    if inner:
        values = _reduction.sum(values, inner, keepdim=keepdim)
    left = [i for i in range(count) if keepdim or i not in axes]
    coordinates = x.coordinates.copy()
    coordinates[[a for a in axes if a < count]] = 0
    sizes = [1 if i in axes else x.shape[i] for i in left]
    coordinates = coordinates[left]
    if not left:
        # Places need a dimension.
        coordinates, sizes = np.zeros((1, coordinates.shape[1]), coordinates.dtype), [1]
    numbers, at = np.unique(_places.numbered(coordinates, sizes), return_inverse=True)
    return assembled(put_together(values, at.reshape(-1), len(numbers)), numbers, sizes, x)  # type: ignore[arg-type]


class OtherAxis(UnsupportedError, NotImplementedError):
    """A dimension that a function of tensors in CSR does not take (Paddle raises NotImplementedError)."""

    in_paddle = "(Unimplemented)"


def _sum_of_rows(x: SparseTensor, values: Any, axis: Any, axes: list[int], keepdim: bool, where: str) -> SparseTensor:
    """The sum of a tensor in CSR: of each row, or of all."""
    if axis is None:
        sizes = [1] * (x.ndim if keepdim else 2)
        at = np.zeros(x.nnz(), np.int64)
    elif axes == [x.ndim - 1]:
        sizes = [*x.shape[:-1], 1]
        at = _places.numbered(x.coordinates[:-1], x.shape[:-1])
    else:
        raise OtherAxis(
            f"{where}: of a tensor in CSR the axis must be -1 or None, but is {axis}.",
            hint="convert it with x.to_sparse_coo(2)",
        )
    numbers, back = np.unique(at, return_inverse=True)
    return assembled(put_together(values, back.reshape(-1), len(numbers)), numbers, sizes, x)


builtin_slice = type(np.s_[:])

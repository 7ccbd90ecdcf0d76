"""``paddle.topk``, ``paddle.argmax``, ``paddle.where``, …: order, extremes and conditions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.core.errors import DtypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._creation import cast, full, zeros_like
from ._dispatch import apply, stop_in_programs
from ._math import add
from ._promotion import unified


class TopKRetType(NamedTuple):
    """Result of :func:`topk`."""

    values: Any
    indices: Any


def topk(
    x: Any, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None
) -> TopKRetType:
    """The *k* largest (or smallest) elements of *x* along *axis* (the last when None), and their places.

    Args:
        k: a number, or a variable of one element.
        sorted: accepted for compatibility; the elements always come in order, best first.
    """
    where = "paddle.topk"
    x = tensor(x, "x", where)
    attrs: dict[str, Any] = {"largest": bool(largest), "sorted": bool(sorted)}
    if axis is not None:
        attrs["axis"] = integer(axis, "axis", where)
    count = tensor(k, "k", where, INTEGERS) if isinstance(k, AnyTensor) else None
    if count is None:
        attrs["k"] = integer(k, "k", where)
    values, indices = apply("top_k_v2", x, count, attrs=attrs, name=name)
    return TopKRetType(values, stop_in_programs(indices))


def _sorted(key: str, x: Any, axis: int, descending: bool, stable: bool, name: str | None) -> Any:
    where = f"paddle.{key}"
    attrs = {"axis": integer(axis, "axis", where), "descending": bool(descending), "stable": bool(stable)}
    values, indices = apply("argsort", tensor(x, "x", where), attrs=attrs, key=key, name=name)
    return values, stop_in_programs(indices)


def argsort(
    x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> AnyTensor:
    """Return the places that the elements of *x*, sorted along *axis*, come from; equal ones always keep
    their order.
    """
    return _sorted("argsort", x, axis, descending, stable, name)[1]  # type: ignore[no-any-return]


def sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> AnyTensor:
    """The elements of *x* sorted along *axis*."""
    return _sorted("sort", x, axis, descending, stable, name)[0]  # type: ignore[no-any-return]


def argmax(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> AnyTensor:
    """The place of the largest element along *axis*, among all elements in order when None."""
    return _extreme("argmax", "arg_max", x, axis, keepdim, dtype, name)


def argmin(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> AnyTensor:
    """The place of the smallest element along *axis*, among all elements in order when None."""
    return _extreme("argmin", "arg_min", x, axis, keepdim, dtype, name)


def _extreme(
    key: str, op_type: str, x: Any, axis: int | None, keepdim: bool, dtype: Any, name: str | None
) -> AnyTensor:
    where = f"paddle.{key}"
    kind = dtype_of(dtype)
    if kind.name not in INTEGERS:
        raise DtypeError(f"The data type of the result of {where} must be int32 or int64, but received {kind.name}.")
    attrs = {
        "axis": 0 if axis is None else integer(axis, "axis", where),
        "flatten": axis is None,
        "keepdims": bool(keepdim),
        "dtype": kind.code,
    }
    out = apply(op_type, tensor(x, "x", where), attrs=attrs, key=key, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The coordinates of the elements of *x* that are not zero, one row each.

    Args:
        as_tuple: one vector per dimension instead.
    """
    x = tensor(x, "x", "paddle.nonzero")
    indices = apply("where_index", x)
    return tuple(indices[:, i] for i in range(x.ndim)) if as_tuple else indices


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """*x* where *condition* holds, else *y*; the three are broadcast against each other.

    Args:
        condition: a bool tensor; without *x* and *y*, of any type.
        x, y: tensors or numbers. Without both, the result is ``nonzero(condition, as_tuple=True)``.

    Tensors of different shapes are broadcast by adding zeros to them, as Paddle does it.
    """
    place = "paddle.where"
    if x is None and y is None:
        return nonzero(tensor(condition, "condition", place), as_tuple=True)
    condition = tensor(condition, "condition", place, ["bool"])
    if x is None or y is None:
        raise UsageError(f"{place}: either both or neither of x and y must be given.")
    x, y = _branch(x, y, "x"), _branch(y, x, "y")
    if x.dtype is not y.dtype:
        x, y = unified(x, y, "where")
    if not condition.shape == x.shape == y.shape:
        shapes = [zeros_like(x), zeros_like(y), zeros_like(condition)]
        flags = cast(shapes[2], x.dtype)
        chosen = cast(condition, x.dtype)
        zeros = add(add(shapes[0], shapes[1]), flags)
        x, y = add(x, zeros), add(y, zeros)
        condition = cast(add(chosen, zeros), "bool")
    return apply("where", condition, x, y, name=name)


def _branch(value: Any, other: Any, what: str) -> AnyTensor:
    """A number as a tensor, in the dtype of the other branch if that is one."""
    if isinstance(value, (int, float)):
        return full([1], value, other.dtype if isinstance(other, AnyTensor) else np.array(value).dtype)
    return tensor(value, what, "paddle.where")

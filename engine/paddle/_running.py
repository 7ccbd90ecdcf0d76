"""``paddle.cumprod``, ``paddle.cummax``, ``paddle.diff``, ``paddle.trapezoid``, …: along a dimension, step by step."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet_in_programs
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._creation import cast
from ._dispatch import apply, layer_name
from ._logic import logical_xor
from ._manipulation import concat, flatten, unsqueeze
from ._math import scale, subtract
from ._reduction import cumsum, sum
from ._short_names import delivered

REAL = ("float16", "bfloat16", "float32", "float64")


def cumprod(x: Any, dim: int | None = None, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """The products of the elements up to each along *dim*; of all elements in a row when None."""
    x = _in_dtype(x, dtype, "paddle.cumprod")
    axis = 0 if dim is None else integer(dim, "dim", "paddle.cumprod")
    return apply("cumprod", flatten(x) if dim is None else x, attrs={"dim": axis}, name=name)  # type: ignore[no-any-return]


def _in_dtype(x: Any, dtype: Any, where: str) -> AnyTensor:
    x = tensor(x, "x", where)
    return x if dtype is None or x.dtype is dtype_of(dtype) else cast(x, dtype)


def logcumsumexp(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """``log Σ exp`` of the elements up to each along *axis*; of all elements in a row when None."""
    x = _in_dtype(x, dtype, "paddle.logcumsumexp")
    attrs = {"axis": -1 if axis is None else integer(axis, "axis", "paddle.logcumsumexp"), "flatten": axis is None}
    return apply("logcumsumexp", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def cummax(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """The largest element up to each along *axis*, and where it stands (the last of several); in a row without."""
    return _extreme("cummax", x, axis, dtype, name)


def cummin(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """The smallest element up to each along *axis*, and where it stands (the last of several); in a row without."""
    return _extreme("cummin", x, axis, dtype, name)


def _extreme(op_type: str, x: Any, axis: int | None, dtype: Any, name: str | None) -> Any:
    where = f"paddle.{op_type}"
    x = tensor(x, "x", where)
    kind = dtype_of(dtype)
    if kind.name not in INTEGERS:
        raise UsageError(f"{where}: dtype must be int32 or int64, but received {kind.name}.")
    attrs = {"axis": 0 if axis is None else integer(axis, "axis", where), "dtype": kind.code}
    values, places = apply(op_type, flatten(x) if axis is None else x, attrs=attrs, name=name)
    return values, places


def diff(
    x: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
    name: str | None = None,
    *,
    out: Any = None,
) -> AnyTensor:
    """The differences of neighbours along *axis*, *n* times over; of truth values, whether they differ.

    Args:
        prepend, append: tensors that are put before and behind *x* first.
    """
    where = "paddle.diff"
    x = tensor(x, "x", where)
    if n < 1:
        raise UsageError(f"{where}: n must be 1 or more, but received {n}.")
    if not x.ndim:
        raise ShapeError(f"{where}: '{x.name}' has no dimension.")
    at = _dimension(axis, x, where)
    parts = [v for v in (prepend, x, append) if v is not None]
    result = concat(parts, at) if len(parts) > 1 else x
    layer = layer_name(name, "diff") if in_static_mode() else None
    if result.shape[at] < 0:
        meet_in_programs("values of programs")
    for _ in range(n):
        size = result.shape[at]
        later, earlier = (_from(result, at, *ends, layer) for ends in _neighbours(size))
        result = logical_xor(later, earlier) if x.dtype.name == "bool" else subtract(later, earlier)
    return delivered(result, out)  # type: ignore[no-any-return]


def _dimension(axis: Any, x: AnyTensor, where: str) -> int:
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < x.ndim:
        raise ShapeError(f"{where}: axis {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
    return at % x.ndim


def _neighbours(size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The beginnings and ends of the later and of the earlier ones of *size* neighbours; the size may be -1."""
    return (1, size), (0, size - 1 if size >= 0 else -1)


def _from(x: AnyTensor, axis: int, start: int, end: int, layer: str | None = None) -> AnyTensor:
    """The slices of *x* from *start* on; *end* may be -1 for all but the last, or beyond it."""
    attrs = {"axes": [axis], "starts": [start], "ends": [end if end >= 0 or not start else 2**31 - 1]}
    return apply("slice", x, attrs={**attrs, "infer_flags": [1]}, key="diff", name=layer)  # type: ignore[no-any-return]


def trapezoid(y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None) -> AnyTensor:
    """The integral along *axis* by the trapezoidal rule.

    Args:
        x: the places of the values, as many as there are along *axis* or a tensor like *y*.
        dx: how far apart they are (1 by default), instead of *x*.
    """
    return sum(_trapezoids(y, x, dx, axis, "paddle.trapezoid"), axis)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> AnyTensor:
    """The integrals up to each place but the first, as :func:`trapezoid`."""
    return cumsum(_trapezoids(y, x, dx, axis, "paddle.cumulative_trapezoid"), axis)


def _trapezoids(y: Any, x: Any, dx: Any, axis: int, where: str) -> AnyTensor:
    y = tensor(y, "y", where, REAL)
    if x is not None and dx is not None:
        raise UsageError(f"{where}: Not permitted to specify both x and dx input args.")
    at = _dimension(axis, y, where)
    size = y.shape[at]
    later, earlier = (_from(y, at, *ends) for ends in _neighbours(size))
    sums = later + earlier
    if x is None:
        return scale(sums * (1.0 if dx is None else dx), 0.5)
    places = tensor(x, "x", where, REAL)
    if places.ndim == 1 < y.ndim:
        places = unsqueeze(places, [i for i in range(y.ndim) if i != at])
    return scale(sums * diff(places, axis=at), 0.5)

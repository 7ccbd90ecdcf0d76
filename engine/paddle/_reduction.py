"""``paddle.sum``, ``paddle.max``, ``paddle.norm``, …: reductions over dimensions, and running sums."""

from __future__ import annotations

import builtins
import math
from typing import Any

from gradtool.engine.core.differences import meet
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import UNKNOWN, float64
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops.infer import axis_in

from . import _math
from ._arguments import INTEGERS, integers, number_of, tensor
from ._creation import cast, full, numel
from ._dispatch import apply, counted, layer_name
from ._remembered import remembered


def _dims(axis: Any, where: str) -> list[int]:
    """The dimensions that an ``axis`` argument names; none stands for all of them.

    Raises:
        ArgumentTypeError: no int, list, tuple or None (a TypeError).
    """
    if axis is None:
        return []
    axis = number_of(axis)
    if isinstance(axis, AnyTensor):
        raise UnsupportedError(
            f"{where}: an axis given as a Variable is not part of this version of gradtool.",
            hint="give it as a number or a list of numbers",
        )
    if isinstance(axis, (str, float)):
        raise ArgumentTypeError(
            f"The type of 'axis' in {where} must be int, list or tuple, but received {type(axis).__name__}."
        )
    return integers(axis, "axis", where)


def _axes(x: Any, axis: Any, where: str) -> list[int]:
    """The dimensions of *x* that *axis* names, as they were given.

    Raises:
        ShapeError: one is out of range, or occurs twice (a ValueError).
    """
    dims = _dims(axis, where)
    if dims:
        ndim = tensor(x, "x", where).ndim
        if len({axis_in(d, ndim, where) for d in dims}) < len(dims):
            raise ShapeError(f"{where}: axis must name every dimension once, but received {axis}.")
    return dims


def _reduce(op_type: str, x: Any, axis: Any, keepdim: bool, key: str, name: str | None) -> AnyTensor:
    dims = _axes(x, axis, f"paddle.{key.removeprefix('reduce_')}")
    whole = not dims or (len(dims) == tensor(x, "x", f"paddle.{key}").ndim and op_type != "reduce_sum")
    attrs = {"dim": dims, "keep_dim": keepdim, "reduce_all": whole}
    return apply(op_type, x, attrs=attrs, key=key, name=name)  # type: ignore[no-any-return]


@remembered
def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Mean over *axis* (a number or several), over everything when None."""
    return _reduce("reduce_mean", x, axis, keepdim, "mean", name)


@remembered
def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Largest element over *axis*, over everything when None; elements that tie share the gradient equally."""
    return _reduce("reduce_max", x, axis, keepdim, "max", name)


@remembered
def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Smallest element over *axis*, over everything when None; elements that tie share the gradient equally."""
    return _reduce("reduce_min", x, axis, keepdim, "min", name)


def amax(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Largest element over *axis*, over everything when None; elements that tie share the gradient equally."""
    return _reduce("reduce_amax", x, axis, keepdim, "amax", name)


def amin(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Smallest element over *axis*, over everything when None; elements that tie share the gradient equally."""
    return _reduce("reduce_amin", x, axis, keepdim, "amin", name)


def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Return whether all elements over *axis* are true."""
    return _reduce("reduce_all", x, axis, keepdim, "all", name)


def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Return whether any element over *axis* is true."""
    return _reduce("reduce_any", x, axis, keepdim, "any", name)


@remembered
def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Sum over *axis* (a number or several), over everything when None.

    Args:
        dtype: that of the result; by default that of *x*, int64 for narrower integers and truth values.
    """
    attrs: dict[str, Any] = {"dim": _axes(x, axis, "paddle.sum"), "keep_dim": keepdim}
    if dtype is not None:
        attrs |= {"in_dtype": tensor(x, "x", "paddle.sum").dtype.code, "out_dtype": dtype_of(dtype).code}
    return apply("reduce_sum", x, attrs=attrs, key="sum", name=name)  # type: ignore[no-any-return]


def _in_dtype(x: Any, dtype: Any, where: str) -> AnyTensor:
    """*x*, cast to *dtype* if that is given and another one."""
    operand = tensor(x, "x", where)
    return operand if dtype is None or operand.dtype is dtype_of(dtype) else cast(operand, dtype)


@remembered
def prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Product over *axis*, over everything when None; *x* is first cast to *dtype* if that is given."""
    return _reduce("reduce_prod", _in_dtype(x, dtype, "paddle.prod"), axis, keepdim, "reduce_prod", name)


@remembered
def logsumexp(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """``log Σ exp(x)`` over *axis*, over everything when None, without overflow."""
    dims = _axes(x, axis, "paddle.logsumexp")
    whole = not dims or len(dims) == tensor(x, "x", "paddle.logsumexp").ndim
    attrs = {"axis": dims, "keepdim": keepdim, "reduce_all": whole}
    return apply("logsumexp", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Running sums along *axis*; of all elements in a row when None."""
    x = _in_dtype(x, dtype, "paddle.cumsum")
    dims = _dims(axis, "paddle.cumsum")
    if len(dims) > 1:
        raise ArgumentTypeError("The type of 'axis' in paddle.cumsum must be int or None, but received a list.")
    attrs = {"axis": dims[0] if dims else -1, "flatten": not dims}
    out = apply("cumsum", x, attrs=attrs, name=name)
    return out if dtype is None or out.dtype is dtype_of(dtype) else cast(out, dtype)


def var(x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Variance over *axis*: the mean square of the distance from the mean.

    Args:
        unbiased: divide by one less than the number of elements.
    """
    x = tensor(x, "x", "paddle.var")
    if x.dtype.is_complex:
        raise DtypeError(f"paddle.var: x must hold real numbers, but '{x.name}' is {x.dtype.name}.")
    if x.dtype.name in INTEGERS:
        meet("variance of whole numbers")
        x = cast(x, "float32")  # the mean of whole numbers is cut off to one
    centred = x - mean(x, axis, True, name)
    total = sum(_math.pow(centred, 2), axis, dtype=x.dtype, keepdim=keepdim, name=name)
    count = cast(numel(x), "int64") / cast(numel(total), "int64")
    if x.dtype is float64:
        count = cast(count, x.dtype)
    if unbiased and 0 not in x.shape:  # of no elements there is no variance: 0 / 0
        full([], 1.0, x.dtype)  # Paddle makes it and does not use it
        count = count - 1.0
        if builtins.any(x.shape[d] == UNKNOWN for d in _dims(axis if x.ndim else None, "paddle.var") or range(x.ndim)):
            count = apply(
                "relu", count
            )  # there may be no elements after all: 0 / 0 as above, where Paddle's 0 / -1 is 0
    count.stop_gradient = True
    return total / count  # type: ignore[no-any-return]


def std(x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Standard deviation over *axis*: the square root of the variance."""
    return _math.sqrt(var(x, axis, unbiased, keepdim, name))


def norm(x: Any, p: Any = None, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Norm of vectors or matrices.

    Args:
        p: the order, 2 by default; ``"fro"`` is the root of the sum of squares.
        axis: None takes *x* for one long vector (with ``"nuc"``, for a matrix); a number, vectors along that dimension;
            two numbers, matrices, for which p is ``"fro"``, 1 or -1 (largest or smallest column sum), ∞ or -∞ (row
            sum), 2 or -2 (largest or smallest singular value), or ``"nuc"`` (their sum).

    The gradient of singular values is right where several are equal, too (of the largest ones, each gets its share);
    derivatives of higher order are not finite there, nor where one of them is 0.

    Raises:
        UsageError: an order or axis that is none of these (a ValueError).
    """
    where = "paddle.norm"
    x = tensor(x, "x", where)
    p = number_of(p)
    dims = list(range(x.ndim)) if axis is None and p == "nuc" else _dims(axis, where)
    p = 2.0 if p is None else p
    singular = len(dims) == 2 and p in (2, -2, "nuc")  # of complex numbers they are not those of their sizes
    x = _math.abs(x) if x.dtype.is_complex and not singular else x
    if len(dims) > 2:
        raise UsageError(f"{where}: axis must be a number or two numbers, but received {dims}.")
    if len(dims) == 2:
        return _matrix_norm(x, p, dims, keepdim, name)
    order = 2.0 if p == "fro" else p
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise UsageError(f"{where}: the order p of a vector norm must be a number or 'fro', but received {p!r}.")
    attrs = {
        "porder": float(order),
        "axis": dims[0] if dims else -1,
        "keepdim": keepdim,
        "asvector": not dims,
    }
    return apply("p_norm", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def _matrix_norm(x: AnyTensor, p: Any, dims: list[int], keepdim: bool, name: str | None) -> AnyTensor:
    if p == "fro":
        attrs: dict[str, Any] = {"dim": dims, "keep_dim": keepdim}
        return apply("frobenius_norm", x, attrs=attrs, name=name)  # type: ignore[no-any-return]
    if p in (2, -2, "nuc"):
        return _singular_norm(x, p, dims, keepdim, name)
    if p not in (1, -1, math.inf, -math.inf):
        raise UsageError(
            f"paddle.norm: p of matrices must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but received {p!r}."
        )
    added, compared = (d % x.ndim for d in (dims if builtins.abs(p) == 1 else reversed(dims)))
    layer = layer_name(name, "p_matrix_norm")
    counted(f"{layer}.tmp")  # Paddle makes the result's variable first, and then another one for it
    sums = apply("p_norm", x, attrs={"porder": 1.0, "axis": added, "keepdim": keepdim}, name=layer)
    place = compared - (not keepdim and added < compared)
    return apply(  # type: ignore[no-any-return]
        "reduce_max" if p > 0 else "reduce_min", sums, attrs={"dim": [place], "keep_dim": keepdim}, name=layer
    )


def _singular_norm(x: AnyTensor, p: Any, dims: list[int], keepdim: bool, name: str | None) -> AnyTensor:
    """The largest or the smallest singular value, or their sum."""
    rows, columns = (axis_in(d, x.ndim, "paddle.norm") for d in dims)
    if rows == columns:
        raise UsageError(f"paddle.norm: axis must be two different dimensions, but received {dims}.")
    order = [*(d for d in range(x.ndim) if d not in (rows, columns)), rows, columns]
    layer = layer_name(name, "nuclear_norm" if p == "nuc" else "p_matrix_norm")
    counted(f"{layer}.tmp")  # Paddle makes the result's variable first
    matrices, _ = apply("transpose2", x, attrs={"axis": order}, name=layer)
    _, values, _ = apply("svd", matrices, attrs={"full_matrices": False}, name=layer)
    reduction = {"nuc": "reduce_sum", 2: "reduce_max", -2: "reduce_min"}[p]
    out = apply(reduction, values, attrs={"dim": [-1], "keep_dim": keepdim}, name=layer)
    if not keepdim:
        return out  # type: ignore[no-any-return]
    out, _ = apply("unsqueeze2", out, None, [], attrs={"axes": [-1]}, name=layer)
    back = sorted(range(x.ndim), key=order.__getitem__)
    return apply("transpose2", out, attrs={"axis": back}, name=layer)[0]  # type: ignore[no-any-return]

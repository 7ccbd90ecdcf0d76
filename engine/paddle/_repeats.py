"""``paddle.repeat_interleave``, ``paddle.unique``: elements that come several times."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from gradtool.engine.core.errors import DtypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._dispatch import apply
from ._manipulation import flatten


def repeat_interleave(x: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> AnyTensor:
    """Every slice of *x* along *axis* several times in a row; every element of all of *x* when *axis* is None.

    Args:
        repeats: how many times: a number, or a vector with one number for each slice.

    Raises:
        UsageError: a negative number (a ValueError).
    """
    where = "paddle.repeat_interleave"
    x = tensor(x, "x", where)
    times = None if isinstance(repeats, Integral) else tensor(repeats, "repeats", where, INTEGERS)
    count = 0 if times is not None else integer(repeats, "repeats", where)
    if count < 0:
        raise UsageError(f"{where}: repeats must not be negative, but received {count}.")
    if axis is None:
        x, axis = flatten(x), 0
    attrs = {"Repeats": count, "dim": integer(axis, "axis", where)}
    return apply("repeat_interleave", x, times, attrs=attrs, name=name)  # type: ignore[no-any-return]


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The distinct elements of *x* in order, or its distinct slices along *axis*.

    Args:
        return_index: also return where each of them first stands.
        return_inverse: also return which of them each element is.
        return_counts: also return how often each of them comes.
        dtype: of those: int32 or int64.
    """
    where = "paddle.unique"
    x, kind = tensor(x, "x", where), dtype_of(dtype)
    if kind.name not in INTEGERS:
        raise DtypeError(f"The data type of the indices of {where} must be int32 or int64, but received {kind.name}.")
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    attrs = {
        **{n: bool(v) for n, v in asked.items()},
        "axis": [] if axis is None else [integer(axis, "axis", where)],
        "dtype": kind.code,
        "is_sorted": True,
    }
    out, *others = apply("unique", x, attrs=attrs, name=name)
    for output in (out, *others):
        output.stop_gradient = True
    wanted = [v for v, flag in zip(others, asked.values(), strict=True) if flag]
    return (out, *wanted) if wanted else out

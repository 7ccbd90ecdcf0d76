"""``paddle.masked_fill``, ``paddle.put_along_axis``: copies with some elements replaced."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._creation import cast, full, full_like, to_tensor
from ._dispatch import apply
from ._manipulation import expand

REDUCES = ("assign", "add", "mul", "multiply", "mean", "amin", "amax")


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> AnyTensor:
    """*x* with *value* where the bool tensor *mask* holds; they are broadcast against each other.

    Args:
        value: a number, or a tensor of one element in the dtype of *x*.
    """
    where = "paddle.masked_fill"
    x, mask = tensor(x, "x", where), tensor(mask, "mask", where, ["bool"])
    if isinstance(value, (int, float)):
        value = full([], value, x.dtype)
    else:
        tensor(value, "value", where, [x.dtype.name])
    return apply("masked_fill", x, cast(mask, "bool"), value, name=name)  # type: ignore[no-any-return]


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> AnyTensor:
    """*arr* with the elements that ``take_along_axis`` would read replaced by, or combined with, *values*.

    Args:
        values: a number, or a tensor that broadcasts to *indices*.
        reduce: ``assign`` (of several values for one place the last counts), ``add``, ``multiply`` (or ``mul``),
            ``mean``, ``amin`` or ``amax``.
        include_self: whether the elements of *arr* take part.
        broadcast: whether *indices* and *values* are first broadcast to the shape of *arr* in all other dimensions.

    Raises:
        UsageError: another *reduce* (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).

    Extreme values that tie share the gradient equally; products with zeros have the right gradient.
    """
    where = "paddle.put_along_axis"
    x, index = tensor(arr, "arr", where), tensor(indices, "indices", where, INTEGERS)
    if reduce not in REDUCES:
        raise UsageError(f"{where}: reduce must be one of {', '.join(REDUCES)}, but received {reduce!r}.")
    if x.ndim != index.ndim:
        raise ShapeError(
            f"{where}: arr '{x.name}' {list(x.shape)} and indices '{index.name}' {list(index.shape)} must have as many "
            "dimensions."
        )
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < x.ndim:
        raise ShapeError(f"{where}: axis {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
    number = isinstance(values, (int, float))
    value = to_tensor(values, dtype=x.dtype) if number else tensor(values, "values", where, [x.dtype.name])
    if broadcast:
        shape = [n if i == at % x.ndim else m for i, (m, n) in enumerate(zip(x.shape, index.shape, strict=True))]
        for i, (m, n) in enumerate(zip(shape, index.shape, strict=True)):
            if m == -1 != n:
                raise ShapeError(
                    f"{where}: dimension {i} of '{x.name}' {list(x.shape)} must be known to be broadcast.",
                    hint="expand the indices first and pass broadcast=False",
                )
        index = expand(index, shape)
    if number and -1 in index.shape:
        value = full_like(index, values, x.dtype)
    elif number or broadcast:
        value = expand(value, list(index.shape))
    attrs = {"Axis": at, "Reduce": reduce, "Include_self": bool(include_self)}
    return apply("put_along_axis", x, index, value, attrs=attrs)  # type: ignore[no-any-return]

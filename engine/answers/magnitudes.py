"""Faults of the numbers in an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.finite import is_finite
from ..core.rows import RowArray, SelectedRows
from ..core.summary import ArraySummary

NAN = "nan"
INF = "inf"
OVERFLOW = "overflow"
SUBNORMAL = "subnormal"
KINDS = (NAN, INF, OVERFLOW, SUBNORMAL)
"""Worst first."""

LEAST_SHARE = 1e-4
"""Of a gradient that is smaller, next to the weights, an ordinary learning rate leaves no digit of a float32 number."""


def plain(value: Any) -> np.ndarray[Any, Any]:
    """The numbers of *value* as an array; of selected rows the rows alone, each once."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, ArraySummary):
        return value  # type: ignore[return-value]  # its type and size are all that is looked at
    if isinstance(value, SelectedRows):
        return np.asarray(value.merged().values)
    return np.asarray(value.dense() if isinstance(value, RowArray) else value)


def holds_numbers(array: np.ndarray[Any, Any]) -> bool:
    """Return whether *array* is of a type that can hold NaN."""
    return array.dtype.kind in "fc" or array.dtype.name == "bfloat16"


def wide(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """*array* in double precision; of complex numbers the sizes."""
    return np.abs(array.astype(np.complex128)) if array.dtype.kind == "c" else array.astype(np.float64)


def masks(array: np.ndarray[Any, Any], big: float | None, subnormal: bool) -> dict[str, np.ndarray[Any, Any]]:
    """By kind, where *array* is wrong; only kinds that occur."""
    if not holds_numbers(array) or not array.size or isinstance(array, ArraySummary):
        return {}  # a summary is given where nothing is wrong
    with np.errstate(all="ignore"):
        if not subnormal and is_finite(array, big):
            return {}
    wrong: dict[str, np.ndarray[Any, Any]] = {}
    finite = np.isfinite(array)
    if np.count_nonzero(finite) < array.size:  # several times as fast as all() on small arrays
        nan = np.isnan(array)
        wrong = {NAN: nan, INF: ~finite & ~nan}
    if big is not None:
        wrong[OVERFLOW] = finite & (np.abs(array) > big)
    if subnormal:
        size = np.abs(array)
        wrong[SUBNORMAL] = (size > 0) & (size < tiny(array.dtype))
    return {kind: mask for kind, mask in wrong.items() if mask.any()}


def tiny(dtype: Any) -> float:
    """The smallest number of full precision."""
    return 2.0**-126 if dtype.name == "bfloat16" else float(np.finfo(dtype).tiny)


def largest(dtype: Any) -> float:
    """The largest finite number."""
    return 3.3895313892515355e38 if dtype.name == "bfloat16" else float(np.finfo(dtype).max)


def kinds(array: Any, big: float | None, subnormal: bool) -> frozenset[str]:
    """The kinds of wrong numbers in *array*."""
    return frozenset(masks(plain(array), big, subnormal))

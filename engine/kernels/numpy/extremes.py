"""The largest and the smallest elements of rows and of columns, with fewer calls of NumPy's inner loop.

Of each row that loop takes a tenth of a microsecond by itself. Where the largest element of a row lies (``argmax``) is
found in a third of that, and short columns are compared many rows at a time. Of zeros with different signs the order
decides which comes out: where the result is zero NumPy's own reduction is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MANY = 1 << 13
"""Elements from which on it pays."""

LONG = 1 << 12
"""Elements of a row from which on NumPy's reduction is as fast."""

SHORT = 8
"""Elements of a row up to which places are not found faster."""


class Extreme(NamedTuple):
    """A kind of extreme element: the ufunc that chooses between two, and where it is in rows."""

    choose: np.ufunc
    place: Callable[..., Any]


LARGEST = Extreme(np.maximum, np.argmax)
SMALLEST = Extreme(np.minimum, np.argmin)


def reduce_axis(extreme: Extreme, x: Any, axis: int, keep: bool) -> Any:
    """The extreme elements of *x*, or of what stands for it, along *axis*."""
    reduce: Any = extreme.choose.reduce
    if type(x) is not np.ndarray or x.size < MANY or x.dtype.char not in "fd" or not x.flags.c_contiguous:
        return reduce(x, axis, None, None, keep)
    at, size = range(x.ndim)[axis], x.shape[axis]
    inner = math.prod(x.shape[at + 1 :])
    if inner == 1 and SHORT < size < LONG:
        out = _reduce_rows(extreme, x.reshape(-1, size))
    elif 1 < inner < LONG // 4 and size >= 4 * (LONG // inner) and (not at or size % (LONG // inner) == 0):
        out = _reduce_columns(extreme, x.reshape(-1, size, inner))
        if not out.all():
            return reduce(x, axis, None, None, keep)
    else:
        return reduce(x, axis, None, None, keep)
    return out.reshape(*x.shape[:at], *(1,) * keep, *x.shape[at + 1 :])


def _reduce_rows(extreme: Extreme, rows: Any) -> Any:
    places = extreme.place(rows, 1)
    places += np.arange(0, rows.size, rows.shape[1])
    out = rows.reshape(-1)[places]
    zeros = out == 0
    if zeros.any():
        out[zeros] = extreme.choose.reduce(rows[zeros], 1)
    return out


def _reduce_columns(extreme: Extreme, parts: Any) -> Any:
    """Of ``[part, row, column]``; many rows are laid beside each other that they are long."""
    count, size, inner = parts.shape
    beside = LONG // inner
    whole = size // beside * beside
    reduce: Any = extreme.choose.reduce
    best = reduce(parts[:, :whole].reshape(count, -1, beside * inner), 1).reshape(count, beside, inner)
    best = reduce(best, 1)
    return extreme.choose(best, reduce(parts[:, whole:], 1)) if whole < size else best

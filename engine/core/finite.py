"""Check that all numbers of an array are finite, in one pass where they are."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_finite(array: Any, largest: float | None = None) -> bool:
    """Return whether all numbers of *array* are finite, and no larger than *largest*; False where that is not known.

    The sum of the squares, which BLAS adds up without a temporary array, is finite and small only where all numbers
    are; numbers are looked at one by one where it is not. Squares may overflow: callers switch NumPy's warnings off.

    >>> is_finite(np.array([1.0, -2.0])), is_finite(np.array([1.0, np.nan])), is_finite(np.array([1.0, -2.0]), 1.5)
    (True, False, False)
    """
    limit = np.inf if largest is None else largest**2 / 2  # the sum is rounded
    try:
        if np.vdot(array, array) < limit:
            return True
    except (TypeError, AttributeError):  # complex, or no array
        pass
    if not hasattr(array, "dtype"):
        return False
    array = np.asarray(array)
    if not np.isfinite(array).all():
        return False
    return largest is None or (array.dtype.kind == "f" and bool(np.abs(array).max(initial=0) <= largest))

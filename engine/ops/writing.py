"""Writing into an array that a kernel has made for itself.

NumPy's arrays are written in place, which costs nothing; arrays of a backend that has no such thing (JAX) give a new
array. A kernel takes the result, which is right in both cases::

    grid = put(k.xp.zeros((rows, columns)), (..., 0), first)

Never for operands: what others hold must not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def put(array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* at the places *at* (no mask that was computed: its number of places is not known)."""
    if isinstance(array, np.ndarray):
        array[at] = values
        return array
    return array.at[at].set(values)


def add_at(array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* added at the places *at*; places that occur several times get all of them."""
    if isinstance(array, np.ndarray):
        np.add.at(array, at, values)
        return array
    return array.at[at].add(values)

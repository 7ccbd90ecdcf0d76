"""Elements that meet at places: counted, added up and combined, on arrays that are written in place and on others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .writing import add_at


def counts(xp: Any, places: Any, size: int, weights: Any = None, where: Any = None) -> Any:
    """Count how often each number below *size* is among *places*, a vector; or sum the *weights* of its elements.

    Args:
        weights: float64 numbers.
        where: which elements count; the others may be any places.
    """
    if isinstance(places, np.ndarray):
        if where is not None:
            places, weights = places[where], None if weights is None else weights[where]
        return np.bincount(places, weights, minlength=size)
    ones = xp.ones(places.shape, xp.int64) if weights is None else weights
    each = ones if where is None else xp.where(where, ones, 0)
    return add_at(xp.zeros(size, ones.dtype), places, each)


METHODS = {"add": "add", "multiply": "multiply", "minimum": "min", "maximum": "max"}
"""What JAX calls the functions of arrays that are written at places."""


def combine_at(how: str, array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* added to, multiplied with, … what is at the places *at*, which may occur several times.

    Args:
        how: ``add``, ``multiply``, ``minimum`` or ``maximum``.
    """
    if isinstance(array, np.ndarray):
        getattr(np, how).at(array, at, values)
        return array
    return getattr(array.at[at], METHODS[how])(values)


def add_slices(array: Any, axis: int, index: Any, values: Any) -> Any:
    """*array* with the slices of *values* along *axis* added at *index*; without dimensions, it is one such slice."""
    if isinstance(array, np.ndarray):
        np.add.at(np.moveaxis(array, axis, 0), index, np.moveaxis(values, axis, 0) if index.ndim else values)
        return array
    return array.at[(slice(None),) * (axis % array.ndim) + (index,)].add(values)


def contiguous(array: Any) -> Any:
    """*array* in the order of its elements, where a backend has other orders."""
    return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array

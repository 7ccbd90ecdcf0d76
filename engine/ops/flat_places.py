"""Places given by coordinates, as places in an array laid out flat.

NumPy picks, and adds at, places of one dimension several times as fast as those of more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FEW = 1 << 11
"""Elements up to which it is not worth it."""


def coordinates(xp: Any, index: Any, axis: int) -> tuple[Any, ...]:
    """The coordinates that ``take_along_axis`` reads: those of the index itself, and the index along *axis*."""
    grid = [xp.arange(n).reshape([-1 if i == j else 1 for j in range(index.ndim)]) for i, n in enumerate(index.shape)]
    grid[axis] = index
    return tuple(grid)


def pick(x: Any, at: tuple[Any, ...]) -> Any:
    """``x[at]`` for a coordinate along each dimension of *x*, arrays that are broadcast against each other."""
    places = _flat(x, at, 0)
    return x[at] if places is None else x.reshape(-1)[places]


def add(array: np.ndarray[Any, Any], at: Any, values: Any) -> None:
    """``numpy.add.at(array, at, values)``, in the same order."""
    alike = type(values) is np.ndarray and values.dtype == array.dtype
    places = _flat(array, at if isinstance(at, tuple) else (at,), array.ndim - 1) if alike else None
    if places is None or values.ndim > places.ndim:
        np.add.at(array, at, values)
    else:
        np.add.at(array.reshape(-1), places.reshape(-1), np.broadcast_to(values, places.shape).reshape(-1))


def _flat(array: Any, at: tuple[Any, ...], free: int) -> Any:
    """Return the flat positions of the elements; None where this is not worth it, or an index is negative or too
    large.

    Args:
        free: how many of the last dimensions may have no coordinate, so that all of their elements are meant.
    """
    if type(array) is not np.ndarray or array.ndim < 2 or not array.flags.c_contiguous:
        return None
    if not len(at) <= array.ndim <= len(at) + free or not all(type(i) is np.ndarray for i in at):
        return None
    inner = math.prod(array.shape[len(at) :])
    if max(i.size for i in at) * inner < FEW or not all(map(_lies_within, at, array.shape)):
        return None
    places: Any = 0
    for size, coordinate in zip(array.shape, at, strict=False):
        places = places * size + coordinate.astype(np.int64, copy=False)
    if len(at) == array.ndim:
        return places
    others = array.shape[len(at) :]
    return (places * inner).reshape(*places.shape, *(1,) * len(others)) + np.arange(inner).reshape(others)


def _lies_within(index: Any, size: int) -> bool:
    return index.dtype.kind in "iu" and index.size > 0 and bool(index.min() >= 0 and index.max() < size)

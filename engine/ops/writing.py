"""Writing into an array that a kernel has made for itself.

NumPy's arrays are written in place, which costs nothing; arrays of a backend that has no such thing (JAX) give a new
array. A kernel takes the result, which is right in both cases::

    grid = put(k.xp.zeros((rows, columns)), (..., 0), first)

Never for operands: what others hold must not change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import flat_places


class BoxFillers(NamedTuple):
    """Functions of a backend that fill boxes of its arrays, where arrays cannot be written: slices and numbers index
    them.

    Attributes:
        put, add: ``(array, at, values)``; they give None for places that are no box.
    """

    put: Callable[[Any, Any, Any], Any]
    add: Callable[[Any, Any, Any], Any]


boxes: list[BoxFillers] = []
"""What is asked before the arrays' own ``at``."""


def put(array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* at the places *at* (no mask that was computed: its number of places is not known)."""
    if isinstance(array, np.ndarray):
        array[at] = values
        return array
    for way in boxes:
        filled = way.put(array, at, values)
        if filled is not None:
            return filled
    return array.at[at].set(values)


def put_last(array: Any, at: tuple[Any, ...], values: Any) -> Any:
    """*array* with *values* at the places *at*, arrays of whole numbers of one shape; of equal places the last wins."""
    if isinstance(array, np.ndarray):
        array[at] = values
        return array
    # Compiled code may write in any order: the number of the one that is to win is settled first.
    xp = array.__array_namespace__()
    order = xp.arange(at[0].size).reshape(at[0].shape)
    latest = xp.zeros(array.shape[: len(at)], order.dtype).at[at].max(order)
    rows = xp.where(latest[at] == order, at[0], array.shape[0])  # the others are written nowhere
    return array.at[(rows, *at[1:])].set(values, mode="drop")


def apply_in_place(function: Any, array: Any) -> Any:
    """``function(array)``, which takes the place of *array*."""
    return function(array, out=array) if isinstance(array, np.ndarray) else function(array)


def combine(function: Any, array: Any, at: Any, values: Any) -> Any:
    """*array* with ``function(what is there, values)`` at the places *at*, of which none comes twice.

    Args:
        function: of the array module, of two arrays: ``k.xp.maximum``.
        at: an index that NumPy gives a view for.
    """
    if isinstance(array, np.ndarray):
        part = array[at]
        function(part, values, out=part)
        return array
    return put(array, at, function(array[at], values))


def add_to(array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* added at the places *at*, of which none comes twice (slices, for example)."""
    if isinstance(array, np.ndarray):
        array[at] += values
        return array
    for way in boxes:
        filled = way.add(array, at, values)
        if filled is not None:
            return filled
    return array.at[at].add(values)


def add_at(array: Any, at: Any, values: Any) -> Any:
    """*array* with *values* added at the places *at*; places that occur several times get all of them."""
    if isinstance(array, np.ndarray):
        flat_places.add(array, at, values)
        return array
    return array.at[at].add(values)


def put_along(array: Any, places: Any, values: Any, axis: int) -> Any:
    """*array* with *values* at *places* along *axis*, as ``numpy.put_along_axis``; of equal places any may win."""
    if isinstance(array, np.ndarray):
        np.put_along_axis(array, places, values, axis)
        return array
    return array.at[_index_along(array, places, axis)].set(values)


def _index_along(array: Any, places: Any, axis: int) -> tuple[Any, ...]:
    """The index of *places* along *axis*: in every other dimension they stand where they are."""
    axis %= array.ndim
    return tuple(
        places if i == axis else np.arange(n).reshape([-1 if i == j else 1 for j in range(array.ndim)])
        for i, n in enumerate(places.shape)
    )


def add_sorted(array: Any, axis: int, places: Any, values: Any) -> Any:
    """*array* with *values* added at *places* along *axis*; those that occur several times get all of them, in order.

    Args:
        places: whole numbers that do not fall, one for each of *values* along *axis*; they may have been computed.
    """
    if not isinstance(array, np.ndarray):
        moved = array.__array_namespace__().moveaxis
        return moved(add_at(moved(array, axis, 0), places, moved(values, axis, 0)), 0, axis)
    before = (slice(None),) * axis
    for targets, sources in _additions(np.ascontiguousarray(places, np.int64).tobytes()):
        array[(*before, targets)] += values[(*before, sources)]
    return array


@lru_cache(maxsize=256)
def _additions(places: bytes) -> list[tuple[Any, Any]]:
    """Return where to add what, in steps, for places of 64 bits: models need the same few of them in each step.

    The first of every place, then the second of those that have two, and so on: none comes twice in a step, so each
    step is an addition of slices, which takes a fraction of what ``add.at`` does.
    """
    at = np.frombuffer(places, np.int64)
    begins = np.flatnonzero(np.diff(at, prepend=-1))
    counts = np.diff(begins, append=len(at))
    additions: list[tuple[Any, Any]] = []
    for step in range(int(counts.max(initial=0))):
        sources = begins[counts > step] + step
        targets = at[sources]
        runs = _runs(sources, targets)
        if len(runs) * _SHORTEST > len(sources):
            additions.append((targets, sources))
        else:
            additions += [(_as_slice(targets[i:j]), _as_slice(sources[i:j])) for i, j in runs]
    return additions


_SHORTEST = 4
"""Mean length of stretches from which on slices take less time than lists of places."""


def _runs(*lists: Any) -> list[tuple[int, int]]:
    """Return where stretches begin and end in which all *lists* go on by steps of one size each."""
    count = len(lists[0])
    steps = np.stack([np.diff(one) for one in lists])
    breaks = np.flatnonzero((np.diff(steps, axis=1) != 0).any(0)) + 2
    runs, start = [], 0
    for stop in (*breaks.tolist(), count):
        if stop > start:
            runs.append((start, stop))
            start = stop
    return runs


def _as_slice(places: Any) -> slice:
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1, (last - first) // (len(places) - 1) if len(places) > 1 else 1)

"""Places of the values of a sparse tensor: whole numbers that no gradient flows through."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def numbered(coordinates: Array, shape: Sequence[int]) -> Array:
    """Each place as one number: its position among all places of *shape*, row by row.

    Args:
        coordinates: ``[dimensions, places]``.
        shape: the sizes of these dimensions.
    """
    numbers = np.zeros(coordinates.shape[1], np.int64)
    for row, size in zip(coordinates, shape, strict=True):
        numbers = numbers * size + row
    return numbers


def located(numbers: Array, shape: Sequence[int], dtype: Any = np.int64) -> Array:
    """The opposite of :func:`numbered`."""
    rows = np.unravel_index(numbers, tuple(shape)) if len(shape) else ()
    return np.stack(rows).astype(dtype) if len(shape) else np.zeros((0, len(numbers)), dtype)


def counted(rows: Array, count: int, dtype: Any = np.int64) -> Array:
    """Return where each of *count* rows begins and the last one ends, for places that are in the order of
    their rows.
    """
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(dtype)


def compressed(coordinates: Array, shape: Sequence[int]) -> tuple[Array, Array, Array]:
    """Row ends and columns of places in a matrix, or in a batch of matrices, and the order that they are then in."""
    order = np.argsort(numbered(coordinates, shape), kind="stable")
    coordinates = coordinates[:, order]
    rows = shape[-2]
    if len(shape) == 2:
        return counted(coordinates[0], rows, coordinates.dtype), coordinates[1], order
    ends = [counted(coordinates[1][coordinates[0] == i], rows, coordinates.dtype) for i in range(shape[0])]
    return np.concatenate(ends) if ends else np.zeros(0, coordinates.dtype), coordinates[-1], order


def expanded(crows: Array, cols: Array, shape: Sequence[int]) -> Array:
    """The coordinates of places that row ends and columns tell."""
    batches = math.prod(shape[:-2])
    lengths = np.diff(crows.reshape(batches, -1), axis=1).reshape(-1)
    rows = np.repeat(np.arange(batches * shape[-2]), lengths)
    places = [rows % shape[-2], cols] if len(shape) == 2 else [rows // shape[-2], rows % shape[-2], cols]
    return np.stack([p.astype(cols.dtype) for p in places])


def united(first: Array, second: Array) -> tuple[Array, Array, Array]:
    """The numbers that occur in either, in order, and where those of *first* and of *second* are among them."""
    union, where = np.unique(np.concatenate([first, second]), return_inverse=True)
    where = where.reshape(-1)
    return union, where[: len(first)], where[len(first) :]


def found(numbers: Array, among: Array) -> Array:
    """Return where each of *numbers* stands in *among*, whose entries differ; ``len(among)`` for those that do not
    occur.
    """
    if not len(among):
        return np.zeros(len(numbers), np.int64)
    order = np.argsort(among, kind="stable")
    at = np.minimum(np.searchsorted(among, numbers, sorter=order), len(among) - 1)
    place = order[at]
    return np.where(among[place] == numbers, place, len(among))

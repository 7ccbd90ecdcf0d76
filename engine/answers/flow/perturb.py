"""Other values for an input: of its own kind, so that a model takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def scale(array: Array) -> float:
    """Return how large a change of a floating-point array has to be to count as another input."""
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array.reshape(-1)
    return float(np.std(finite)) + 0.1 * float(np.abs(finite).mean()) + 1e-2 if finite.size else 1.0


def noisy(array: Array, where: Any, rng: np.random.Generator, size: float = 1.0) -> Array:
    """Floating-point numbers with noise added at *where*; infinite ones stay."""
    other = array.copy()
    noise = np.asarray(rng.standard_normal(array.shape)) * scale(array) * size
    other[where] = (array.astype(np.float64) + noise).astype(array.dtype)[where]
    return other


def swap(array: Array, where: Any, rng: np.random.Generator) -> Array:
    """Integers at *where*, each replaced by a different one of those that the array holds, where there are two."""
    values = np.unique(array)
    other = array.copy()
    if values.size < 2:
        return other
    places = np.searchsorted(values, array)
    steps = rng.integers(1, values.size, array.shape)
    other[where] = values[(places + steps) % values.size][where]
    return other


def alter(array: Array, where: Any, rng: np.random.Generator, size: float = 1.0) -> Array:
    """*array* with other values at *where*: noise on numbers, other values of those it holds, truth turned round."""
    if array.dtype.kind == "f":
        return noisy(array, where, rng, size)
    if array.dtype.kind == "b":
        other = array.copy()
        other[where] = ~array[where]
        return other
    return swap(array, where, rng)


def mask_at(array: Array, axis: int, index: Any) -> Array:
    """A mask of the elements at *index* of *axis*."""
    mask = np.zeros(array.shape, bool)
    mask[(slice(None),) * axis + (index,)] = True
    return mask

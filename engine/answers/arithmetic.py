"""Computations of a gradient check with values and gradients, where these are: numbers come back, arrays stay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.backend import Backend


class ArraySize(NamedTuple):
    """Numbers of an array.

    Attributes:
        finite: whether all elements are.
        norm, largest: of all elements together, and of the largest one; 0 where there is none.
    """

    finite: bool
    norm: float
    largest: float


class ArrayArithmetic:
    """Sums and differences of arrays of a backend.

    Args:
        backend: whose arrays they are.
    """

    def __init__(self, backend: Backend) -> None:
        xp = self.xp = backend.xp

        def moved(values: Any, step: Any, direction: Any) -> Any:
            return values + step * direction

        def size(values: Any) -> Any:
            return xp.isfinite(values).all(), xp.linalg.norm(values.reshape(-1)), xp.abs(values).max(initial=0.0)

        def alike(some: Any, others: Any) -> Any:
            return [(a == b).all() for a, b in zip(some, others, strict=True)]

        self.moved = backend.function(moved)
        """``moved(values, step, direction)``: the values a step further along a direction."""
        self._size = backend.function(size)
        self._alike = backend.function(alike)
        self._product = backend.function(xp.vdot)

    def wide(self, value: Any) -> Any:
        """*value* in double precision."""
        dense = value.dense() if hasattr(value, "dense") else value
        return self.xp.asarray(dense).astype("float64")

    def size(self, values: Any) -> ArraySize:
        """The numbers of *values*."""
        finite, norm, largest = self._size(values)
        return ArraySize(bool(finite), float(norm), float(largest))

    def product(self, one: Any, other: Any) -> float:
        """The inner product."""
        return float(self._product(one, other))

    def alike(self, some: list[Any], others: list[Any]) -> list[bool]:
        """Return which arrays of *some* are equal to those of *others*; of other shapes none is."""
        same = [n for n, (a, b) in enumerate(zip(some, others, strict=True)) if a.shape == b.shape]
        equal = self._alike([some[n] for n in same], [others[n] for n in same])
        result = [False] * len(some)
        for n, flag in zip(same, equal, strict=True):
            result[n] = bool(flag)
        return result

    def pick(self, values: Any, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The elements at some *places* of an array that is laid in a row; these leave the device."""
        return np.asarray(values.reshape(-1)[places])

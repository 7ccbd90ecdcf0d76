"""Sizes of a change and of what it changes: the numbers that a fact about influence goes by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.records import dataclass
from .change_propagation import Array


@dataclass(frozen=True, slots=True)
class ChangeSize:
    """A change of an input, and what it changes.

    Attributes:
        of: what was changed, in words.
        given: by how much at most.
        on: what it changes, in words.
        came: by how much at most.
    """

    of: str
    given: float
    on: str
    came: float

    @property
    def sentence(self) -> str:
        """``a change of sample 0 by up to 2.31 changes the output for sample 5 by up to 0.0421``."""
        result = f"by up to {self.came:.3g}" if self.came else "by nothing"
        return f"a change of {self.of} by up to {self.given:.3g} changes {self.on} {result}"

    @property
    def numbers(self) -> dict[str, float]:
        """The same by name."""
        return {"input_change": self.given, "output_change": self.came}


def measure(of: str, given: Iterable[tuple[Any, Any]], on: str, came: Iterable[tuple[Any, Any]]) -> ChangeSize:
    """Return the sizes of changes.

    Args:
        of, on: what was changed, and what that changes, in words.
        given, came: arrays before and after.
    """
    return ChangeSize(of, _largest(given), on, _largest(came))


def _largest(pairs: Iterable[tuple[Any, Any]]) -> float:
    """Return by how much elements differ at most; infinity where shapes do, and where one is no number."""
    sizes = [0.0]
    for before, after in pairs:
        one, other = (np.asarray(a) for a in (before, after))
        if one.shape != other.shape:
            return float("inf")
        sizes += [_size(one, other)] if one.size else []
    return max(sizes)


def _size(one: Array, other: Array) -> float:
    kind = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        size = float(np.max(np.abs(other.astype(kind) - one.astype(kind))))
    return size if np.isfinite(size) else float("inf")

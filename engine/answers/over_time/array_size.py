"""Size of an array, in four numbers and as fast as it can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.records import dataclass
from ...core.rows import RowUpdate
from .. import magnitudes

_SAME = 1e-6
"""A norm that differs by a smaller part of it is the same one."""

_TINY = 1e-30
"""A sum of squares below it has lost digits, or all of them, in single precision."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of a gradient or a weight.

    Attributes:
        norm: root of the sum of squares of the finite elements; NaN where none is finite.
    """

    norm: float
    zeros: int
    nonfinite: int
    elements: int

    @property
    def all_zero(self) -> bool:
        """Return whether every element is 0."""
        return 0 < self.elements == self.zeros

    @classmethod
    def measure(cls, value: Any) -> Extent:
        """Of an array of any type; rows that a sparse gradient leaves out are zeros."""
        array = magnitudes.plain(value)
        elements = math.prod(value.shape)
        zeros = elements - int(np.count_nonzero(array))
        norm = _fast(array)
        if norm is not None and (norm > 0 or zeros == elements):
            return cls(norm, zeros, 0, elements)
        wide = magnitudes.wide(array).reshape(-1)
        finite = wide[np.isfinite(wide)]
        bad = wide.size - finite.size
        nothing = bool(elements) and bad == elements
        return cls(math.nan if nothing else _exact(finite), zeros, bad, elements)

    @classmethod
    def join(cls, parts: Sequence[Extent]) -> Extent:
        """Several arrays as one."""
        sized = [p.norm for p in parts if not math.isnan(p.norm)]
        return cls(
            math.hypot(*sized) if sized else math.nan,
            sum(p.zeros for p in parts),
            sum(p.nonfinite for p in parts),
            sum(p.elements for p in parts),
        )


def norm(value: Any) -> float:
    """The norm alone; NaN or infinite where an element is."""
    array = magnitudes.plain(value)
    fast = _fast(array)
    if fast is not None and fast > 0:
        return fast
    wide = magnitudes.wide(array).reshape(-1)
    return _exact(wide) if np.isfinite(wide).all() else math.nan


def distance(before: Any, after: Any) -> float:
    """Return how far an array has moved; of a table of which some rows are new, how far these have."""
    if isinstance(after, RowUpdate):
        before, after = before[after.rows], after.values
    with np.errstate(all="ignore"):
        return norm(np.subtract(after, before))


def factor(after: float, before: float) -> float | None:
    """Return what a norm was multiplied by; None for nothing, or where that is not known."""
    times = after / before if before else math.nan
    return times if math.isfinite(times) and abs(times - 1) > _SAME else None


def clip_factor(after: float, before: float) -> float:
    """Return what clipping multiplied a norm by: 1 where it did nothing, NaN where a norm is not finite."""
    if not (math.isfinite(after) and math.isfinite(before)):
        return math.nan
    return factor(after, before) or 1.0


def _fast(array: np.ndarray[Any, Any]) -> float | None:
    """In the array's own precision; None where that does not do."""
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        return None
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        square = float(np.dot(flat, flat))
    return math.sqrt(square) if _TINY < square < math.inf else None


def _exact(finite: np.ndarray[Any, Any]) -> float:
    """In double precision, whatever the exponents."""
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.sqrt(np.square(finite / largest).sum())) if largest else 0.0

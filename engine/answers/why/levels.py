"""Sizes of gradients, and the part of them that may be rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor_array import TensorArray
from ..numbers import BLOCK

_NOISE = 32.0
"""Times what rounding may have done, below which a gradient counts as zero."""

SUSPECT = 1e-3
"""What a sum gives, in terms of its terms, below which these may have cancelled."""


class Level(NamedTuple):
    """The size of a gradient; infinite where it holds something that is no number.

    Attributes:
        largest: the largest magnitude.
        total: the sum of all magnitudes: what a mean leaves as it is, and a sum multiplies.
        norm: the root of the sum of squares.
        doubt: by how much rounding may have changed an element of it.
    """

    largest: float
    total: float
    norm: float
    elements: int
    doubt: float = 0.0

    @property
    def dead(self) -> bool:
        """Return whether it is zero, or nothing but rounding errors."""
        largest = self.largest
        return largest == 0.0 or (largest <= _NOISE * self.doubt and math.isfinite(largest))

    @property
    def noise(self) -> float:
        """Return what an element counts as zero up to."""
        return _NOISE * self.doubt

    @property
    def share(self) -> float:
        """The doubt as a share of it."""
        return self.doubt / self.largest if self.largest else math.inf

    def doubt_by(self, doubt: float) -> Level:
        """The same with another doubt."""
        return Level(self.largest, self.total, self.norm, self.elements, doubt)


def sum_levels(parts: Sequence[Level], g: Any) -> Level:
    """The level of *g*, the sum of *parts*.

    Where the parts cancel, their doubts are what stays. Elsewhere the sum is as doubtful as its most doubtful part: the
    doubts of parts come of the same rounding further on and go through the same operators as the parts do, so they grow
    and shrink with them. To add them up at each of a thousand residual blocks would make any gradient doubtful.
    """
    level = measure(g)
    live = [p for p in parts if not p.dead]
    if not live:
        return level.doubt_by(math.inf) if parts else level
    doubt = sum(p.doubt for p in live)
    terms = max(p.largest for p in live)
    if not may_cancel(level, terms, g):
        doubt = min(doubt, max(p.share for p in live) * level.largest)
    return level.doubt_by(max(doubt, level.doubt))


_largest, _sum = np.maximum.reduce, np.add.reduce
"""What ``max`` and ``sum`` of arrays call; gradients are small, and there are many."""


_NOTHING = Level(0.0, 0.0, 0.0, 0)


def measure(g: Any) -> Level:
    """The level of *g*, as exact as its type allows."""
    a = dense(g)
    count = a.size
    if not count:
        return _NOTHING
    flat = a.reshape(-1)
    largest = total = squares = 0.0
    for start in range(0, count, BLOCK):
        sizes = np.abs(flat[start : start + BLOCK] if count > BLOCK else flat).astype(np.float64, copy=False)
        most = float(_largest(sizes))
        if not math.isfinite(most):
            return Level(math.inf, math.inf, math.inf, count)
        largest, total, squares = max(largest, most), total + float(_sum(sizes)), squares + float(sizes @ sizes)
    return Level(largest, total, math.sqrt(squares), count, largest * _unit_roundoff(a.dtype))


def may_cancel(level: Level, terms: float, g: Any) -> bool:
    """Return whether *g* is so small next to the largest of its *terms* that these may have cancelled."""
    return level.largest <= max(SUSPECT, _NOISE * roundoff(g)) * terms


def roundoff(g: Any) -> float:
    """By what share of its size one operation may change a number of the type of *g*."""
    return _unit_roundoff(dense(g).dtype)


@cache
def _unit_roundoff(kind: np.dtype[Any]) -> float:
    if kind.name == "bfloat16":
        return 2.0**-7
    return float(np.finfo(kind).eps) if kind.kind in "fc" else 0.0


def scramble(g: Any, unit: float) -> Any:
    """Return what has the pattern of *g*, in units of *unit*, with other signs and sizes.

    Nothing cancels in sums of it.
    """
    if isinstance(g, TensorArray):
        return g.map(lambda part: scramble(part, unit))
    a = dense(g)
    draws = np.random.Generator(np.random.PCG64(a.size))
    factors = draws.uniform(0.5, 1.5, a.shape) * draws.choice((-1.0, 1.0), a.shape)
    return (a / unit * factors).astype(a.dtype)


def smallest(g: Any, flushed: bool = False) -> float:
    """The smallest number above 0 that the type of *g* holds.

    Args:
        flushed: what computed it makes 0 of numbers that are too small for full precision.
    """
    kind = dense(g).dtype
    if kind.name == "bfloat16":
        return 2.0**-126 if flushed else 2.0**-133
    if kind.kind not in "fc":
        return 0.0
    info = np.finfo(kind)
    return float(info.smallest_normal if flushed else info.smallest_subnormal)


def dense(g: Any) -> np.ndarray[Any, Any]:
    """*g* as one array."""
    return np.asarray(g)

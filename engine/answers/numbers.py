"""Numbers of a gradient, and the words for it: the same in every view, whoever asks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from ..core.records import dataclass
from ..core.rows import RowArray
from ..core.summary import ArraySummary
from ..kernels import choice
from . import magnitudes

OK: Final = "ok"
NAN: Final = "NaN"
INFINITE: Final = "infinite"
LARGE: Final = "large"
VANISHING: Final = "vanishing"
ZERO: Final = "zero"
NONE: Final = "no gradient"

WORST_FIRST: Final = (NAN, INFINITE, LARGE, VANISHING, ZERO, NONE, OK)
NOT_FINITE: Final = (NAN, INFINITE)

BLOCK: Final = 1 << 16
"""So many elements are looked at together: what is computed of them stays in the cache."""


@dataclass(frozen=True)
class Numbers:
    """Facts about the elements of an array.

    Attributes:
        norm: root of the sum of squares; like the others but ``nonfinite``, of the finite elements. Sizes are NaN where
            no element is finite.
        largest: the largest size.
        nonfinite: how many elements are NaN or infinite, and *nan* how many of them are NaN.
        decades: power of ten -> how many elements have a size of that order.
    """

    norm: float
    largest: float
    mean: float
    zeros: int
    nonfinite: int
    elements: int
    decades: dict[int, int] = field(default_factory=dict)
    nan: int = 0

    def name_values(self) -> dict[str, float]:
        """Return the numbers that a finding shows, by name."""
        return {"elements": self.elements, "zeros": self.zeros, "nonfinite": self.nonfinite, "norm": self.norm}

    @classmethod
    def join(cls, parts: Sequence[Numbers]) -> Numbers:
        """The numbers of several arrays together, from those of each."""
        decades: Counter[int] = Counter()
        for n in parts:
            decades.update(n.decades)
        norm, largest, mean = cls._join_sizes([n for n in parts if not math.isnan(n.norm)])
        return cls(
            norm=norm,
            largest=largest,
            mean=mean,
            zeros=sum(n.zeros for n in parts),
            nonfinite=sum(n.nonfinite for n in parts),
            elements=sum(n.elements for n in parts),
            decades=dict(sorted(decades.items())),
            nan=sum(n.nan for n in parts),
        )

    @staticmethod
    def _join_sizes(sized: Sequence[Numbers]) -> tuple[float, float, float]:
        """Return the norm, the largest size and the mean size of the finite numbers of several arrays; NaN for none."""
        if not sized:
            return math.nan, math.nan, math.nan
        # Means are weighed by the finite elements: the others have no size and are counted apart.
        finite = [n.elements - n.nonfinite for n in sized]
        total = sum(n.mean * count for n, count in zip(sized, finite, strict=True))
        return math.hypot(*(n.norm for n in sized)), max(n.largest for n in sized), total / max(sum(finite), 1)

    @classmethod
    def measure(cls, *values: Any, orders: bool = True) -> Numbers:
        """The numbers in one array, or in several together; rows that a sparse gradient leaves out are zeros.

        Args:
            orders: whether to count *decades*, which takes longer than the rest.
        """
        measured = [_measure(v) for v in values]
        if any(m is not None for m in measured):
            pairs = zip(values, measured, strict=True)
            return cls.join([cls.measure(v, orders=orders) if m is None else cls(**m) for v, m in pairs])
        blocks = [cls._measure_block(magnitudes.wide(block), orders) for v in values for block in _cut_into_blocks(v)]
        whole = blocks[0] if len(blocks) == 1 else cls.join(blocks)
        left_out = sum(math.prod(v.shape) for v in values) - whole.elements
        return whole if not left_out else cls.join([whole, cls._zeros(left_out)])

    @classmethod
    def _zeros(cls, count: int) -> Numbers:
        return cls(norm=0.0, largest=0.0, mean=0.0, zeros=count, nonfinite=0, elements=count)

    @classmethod
    def _measure_block(cls, flat: np.ndarray[Any, Any], orders: bool) -> Numbers:
        known = np.isfinite(flat)
        finite = flat if np.count_nonzero(known) == flat.size else flat[known]
        sizes = np.abs(finite)
        largest = float(np.maximum.reduce(sizes, initial=0.0))
        scaled = sizes / largest if largest else sizes
        zeros = sizes.size - np.count_nonzero(sizes)
        nothing = flat.size > 0 and finite.size == 0
        return cls(
            norm=math.nan if nothing else largest * math.sqrt(np.add.reduce(np.square(scaled))),
            largest=math.nan if nothing else largest,
            mean=math.nan if nothing else float(np.add.reduce(finite) / finite.size) if finite.size else 0.0,
            zeros=int(zeros),
            nonfinite=int(flat.size - finite.size),
            elements=flat.size,
            decades=_decades(sizes[sizes > 0] if zeros else sizes) if orders else {},
            nan=0 if finite.size == flat.size else int(np.isnan(flat).sum()),
        )

    @property
    def state(self) -> str:
        """``NaN`` or ``infinite`` where one element is so, ``zero`` where all are, else ``ok``."""
        if self.nonfinite:
            return NAN if self.nan else INFINITE
        return ZERO if self.elements and self.zeros == self.elements else OK

    def data(self) -> dict[str, Any]:
        """The numbers in JSON's types: a size that there is none of is None."""
        return {
            "norm": _size(self.norm),
            "max_abs": _size(self.largest),
            "mean": _size(self.mean),
            "zeros": self.zeros,
            "nonfinite": self.nonfinite,
            "elements": self.elements,
        }


def _cut_into_blocks(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the elements of an array in blocks, of an empty one an empty block."""
    flat = magnitudes.plain(value).reshape(-1)
    for start in range(0, max(flat.size, 1), BLOCK):
        yield flat[start : start + BLOCK]


def _measure(value: Any) -> Mapping[str, Any] | None:
    """Numbers of an array that has stayed where it was computed."""
    if isinstance(value, ArraySummary):
        return value.told
    return None if isinstance(value, (np.ndarray, RowArray)) else choice.current().measure(value)


def _decades(sizes: np.ndarray[Any, Any]) -> dict[int, int]:
    """Power of ten -> how many of the *sizes*, none of which is zero, are of that order."""
    orders = np.floor(np.log10(sizes)).astype(int)
    lowest = int(orders.min(initial=0))
    return {lowest + i: count for i, count in enumerate(np.bincount(orders - lowest).tolist()) if count}


def _size(value: float) -> float | None:
    return value if math.isfinite(value) else None

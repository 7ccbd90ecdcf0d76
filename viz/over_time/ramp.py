"""The colours of a heat map, from little to much."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from gradtool.engine.core.records import dataclass

ANCHORS: Final = ("#2A1A5E", "#2F4B8F", "#23778F", "#2FA184", "#8CC751", "#F4E85A")
"""Ever lighter, so that they are told apart without colours, too; no red, which is for what is not finite."""

LEVELS: Final = 24
_DECADES: Final = 12
"""What is smaller than the largest by more powers of ten has the first colour."""


def colours() -> list[str]:
    """As many colours as there are levels, as ``#rrggbb``."""
    points = [tuple(int(a[i : i + 2], 16) for i in (1, 3, 5)) for a in ANCHORS]
    told = []
    for level in range(LEVELS):
        at = level / (LEVELS - 1) * (len(points) - 1)
        i = min(int(at), len(points) - 2)
        mixed = (round(a + (b - a) * (at - i)) for a, b in zip(points[i], points[i + 1], strict=True))
        told.append("#" + "".join(f"{c:02X}" for c in mixed))
    return told


@dataclass(frozen=True, slots=True)
class Ramp:
    """Levels of sizes, on a logarithmic scale between two powers of ten."""

    low: int
    high: int

    @classmethod
    def span(cls, sizes: Iterable[float]) -> Ramp:
        """From the decade of the smallest size to that of the largest, of those that are positive and finite."""
        logs = [math.log10(s) for s in sizes if s > 0 and math.isfinite(s)]
        high = math.ceil(max(logs, default=0.0))
        low = min(math.floor(min(logs, default=0.0)), high - 1)
        return cls(max(low, high - _DECADES), high)

    def level(self, size: float) -> int:
        """The level of a positive size."""
        share = (math.log10(size) - self.low) / (self.high - self.low)
        return min(max(int(share * LEVELS), 0), LEVELS - 1)

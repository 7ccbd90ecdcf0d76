"""Spread of the norms of a parameter's or a layer's gradient over the points, and the points that stand apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from ..core.records import dataclass

FEWEST: Final = 8
"""Points below which none stands apart: too few to say what is usual."""
FAR: Final = 3.5
"""Robust deviations from the median beyond which a point stands apart."""
TIMES: Final = 3.0
"""It also has to be so many times larger or smaller than the median."""
_NORMAL: Final = 1.4826
"""The standard deviation of normal numbers in terms of the median distance from their median."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NormSpread:
    """The norms of one line over the points.

    Attributes:
        norms: of the points where it is a number, in order of size.
        zeros: how many of them are 0.
        nonfinite: at how many points it is none.
        missing: at how many points there is no gradient.
    """

    name: str
    norms: tuple[float, ...]
    nonfinite: int
    missing: int

    @property
    def zeros(self) -> int:
        return sum(norm == 0 for norm in self.norms)

    def quantile(self, share: float) -> float | None:
        """The norm that *share* of the points do not exceed, between neighbours in proportion; None without norms."""
        if not self.norms:
            return None
        place = share * (len(self.norms) - 1)
        low = math.floor(place)
        high = min(low + 1, len(self.norms) - 1)
        return self.norms[low] + (self.norms[high] - self.norms[low]) * (place - low)


def spreads(rows: Iterable[Row]) -> list[NormSpread]:
    """One for each parameter or layer, in the order in which they came."""
    norms: dict[str, list[float]] = {}
    others: dict[str, list[int]] = {}
    for row in rows:
        for line in (row["answer"] or {}).get("lines", ()):
            name = line["name"]
            norms.setdefault(name, [])
            nonfinite, missing = others.setdefault(name, [0, 0])
            if line["elements"] is None:
                others[name] = [nonfinite, missing + 1]
            elif line["nonfinite"] or line["norm"] is None:
                others[name] = [nonfinite + 1, missing]
            else:
                norms[name].append(line["norm"])
    return [NormSpread(name, tuple(sorted(values)), *others[name]) for name, values in norms.items()]


def idle(rows: Sequence[Row]) -> list[str]:
    """Return the axes that change no number: ``seed``, ``data``, or the name of a setting.

    Nothing is said of points whose answers have no norms: that they are alike says little.
    """
    if not rows or any("norm" not in (row["answer"] or {}) for row in rows):
        return []
    values = [{"seed": row["seed"], "data": (row["feed"], str(row["rows"])), **row["set"]} for row in rows]
    told = []
    for name in values[0]:
        groups: dict[Any, list[int]] = {}
        for number, at in enumerate(values):
            others = (rows[number]["model"], *((key, value) for key, value in at.items() if key != name))
            groups.setdefault(others, []).append(number)
        if all(len(group) > 1 and _alike(rows, group) for group in groups.values()):
            told.append(name)
    return told


def _alike(rows: Sequence[Row], numbers: Sequence[int]) -> bool:
    first = rows[numbers[0]]["answer"]
    return all(rows[number]["answer"] == first for number in numbers)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A point whose gradient is unlike those of the others.

    Attributes:
        number: of its row.
        norm: None where it is not finite.
        times: in terms of the median.
    """

    number: int
    norm: float | None
    times: float | None


@dataclass(frozen=True, slots=True)
class Usual:
    """Usual values among points that differ in their data or seeds alone.

    Attributes:
        points: how many there are.
        median: of the norms of the whole gradient.
        outliers: the points that stand apart, the farthest first.
    """

    points: int
    median: float
    outliers: tuple[Outlier, ...]


def usual(rows: Sequence[Row]) -> list[Usual]:
    """Return the usual values for every model, setting and size of batch by itself."""
    groups: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        if "norm" in (row["answer"] or {}):
            size = None if row["rows"] is None else row["rows"][1] - row["rows"][0]
            groups.setdefault((row["model"], tuple(row["set"].items()), size), []).append(number)
    told = [_usual_of_group(rows, numbers) for numbers in groups.values() if len(numbers) >= FEWEST]
    return [group for group in told if group is not None]


def _usual_of_group(rows: Sequence[Row], numbers: Sequence[int]) -> Usual | None:
    norms = {number: rows[number]["answer"]["norm"] for number in numbers}
    logs = {number: math.log10(norm) for number, norm in norms.items() if norm}
    if len(logs) < FEWEST:
        return None
    middle = median(logs.values())
    deviation = _NORMAL * median(abs(value - middle) for value in logs.values())
    least = max(FAR * deviation, math.log10(TIMES))
    apart = [n for n in numbers if n not in logs or abs(logs[n] - middle) > least]

    def order(number: int) -> tuple[bool, bool, float, int]:
        return norms[number] is not None, number in logs, -abs(logs.get(number, 0.0) - middle), number

    outliers = [
        Outlier(n, norms[n], None if norms[n] is None else norms[n] / 10**middle) for n in sorted(apart, key=order)
    ]
    return Usual(len(numbers), 10**middle, tuple(outliers))

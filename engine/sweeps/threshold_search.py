"""The value of a setting from which gradients explode, or become NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..core.records import dataclass
from .summaries import FINDING

FEWEST: Final = 3
"""Values of a setting below which it has no course."""

_EXPLODED: Final = frozenset({"NaN", "infinite", "large", "exploded"})
"""What lines say of gradients that are too large, or none."""


@dataclass(frozen=True, slots=True)
class Turning:
    """Value of one setting from which gradients explode.

    Attributes:
        setting: its name.
        others: the model and the other settings, which stay the same.
        values: as they are set, in the order of size.
        bad: of each, at how many of its points gradients explode.
        points: of each, how many points there are with an answer.
    """

    setting: str
    others: Mapping[str, str]
    values: tuple[str, ...]
    bad: tuple[int, ...]
    points: tuple[int, ...]

    @property
    def where(self) -> list[str]:
        """The values at which gradients explode."""
        return [value for value, bad in zip(self.values, self.bad, strict=True) if bad]

    @property
    def start(self) -> int | None:
        """The place of the value from which on, or up to which, all explode; None where the values are mixed."""
        flags = [bad > 0 for bad in self.bad]
        if flags == sorted(flags) and any(flags):
            return flags.index(True)
        if flags == sorted(flags, reverse=True) and any(flags):
            return flags.count(True) - 1
        return None

    @property
    def falls(self) -> bool:
        """True if small values make gradients explode."""
        return self.bad[0] > 0 and not self.bad[-1]


def has_exploded(row: Mapping[str, Any]) -> bool | None:
    """Return whether gradients explode at a point; None where that is not known."""
    answer = row["answer"]
    if answer is None:
        return None
    if "lines" in answer:
        return any(line["verdict"] in _EXPLODED for line in answer["lines"])
    if "births" in answer:
        return bool(row["status"] == FINDING)
    return bool(answer["nonfinite"]) if "nonfinite" in answer else None


def turnings(rows: Sequence[Mapping[str, Any]]) -> list[Turning]:
    """One for every setting with numbers, and everything that stays the same beside it."""
    names = dict.fromkeys(name for row in rows for name in row["set"])
    return [turning for name in names if _is_number_in(rows, name) for turning in _find_thresholds(rows, name)]


def number(value: str) -> float | None:
    """The number that a value is, if it is one."""
    try:
        told = float(value)
    except ValueError:
        return None
    return told if math.isfinite(told) else None


def _is_number_in(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(number(row["set"][name]) is not None for row in rows)


def _find_thresholds(rows: Sequence[Mapping[str, Any]], name: str) -> list[Turning]:
    groups: dict[tuple[tuple[str, str], ...], dict[str, list[bool]]] = {}
    for row in rows:
        bad = has_exploded(row)
        if bad is not None:
            others = (("model", row["model"]), *((n, v) for n, v in row["set"].items() if n != name))
            groups.setdefault(others, {}).setdefault(row["set"][name], []).append(bad)
    told = []
    for others, flags in groups.items():
        if len(flags) >= FEWEST:
            values = sorted(flags, key=lambda value: number(value) or 0.0)
            counts = tuple(sum(flags[v]) for v in values)
            told.append(Turning(name, dict(others), tuple(values), counts, tuple(len(flags[v]) for v in values)))
    return told

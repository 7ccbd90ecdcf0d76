"""Small pictures made of characters: in cells of tables, and in the debugger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def log_bar(value: float, low: float, high: float, width: int = 10) -> str:
    """*value* as a bar on a logarithmic scale from *low* to *high*; empty for what is not positive."""
    if not (value > 0 and math.isfinite(value)) or not 0 < low <= high:
        return ""
    share = 1.0 if high == low else (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    return "█" * max(1, round(share * width))


def histogram(decades: Mapping[int, int]) -> str:
    """``-7 ▁▃█▂ -4``: how many elements are of each order of magnitude, from the smallest that occurs."""
    if not decades:
        return ""
    low, high = min(decades), max(decades)
    top = max(decades.values())
    cells = [decades.get(k, 0) for k in range(low, high + 1)]
    bars = "".join(_EIGHTHS[math.ceil(8 * c / top)] for c in cells)
    return f"1e{low} {bars} 1e{high}"


def spark(values: Sequence[float], width: int = 40) -> str:
    """The course of *values* in at most *width* signs; each stands for the largest of its part."""
    top = max(values, default=0)
    if not top:
        return ""
    columns = min(width, len(values))
    edges = [len(values) * i // columns for i in range(columns + 1)]
    parts = [max(values[a:b]) for a, b in pairwise(edges)]
    return "".join(_EIGHTHS[math.ceil(8 * v / top)] for v in parts)


def bar(share: float, width: int) -> str:
    """A *share* of at most 1 as a bar, to an eighth of a character; a sliver for whatever is not nothing."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1 : eighths % 8]


def course(values: Sequence[float], width: int = 20) -> str:
    """Draw how positive *values* go up and down on a logarithmic scale; ``×`` for one that is not finite, ``·`` for
    0.
    """
    sizes = [math.log(v) for v in values if v > 0 and math.isfinite(v)]
    low, high = min(sizes, default=0.0), max(sizes, default=0.0)
    columns = min(width, len(values))
    edges = [len(values) * i // columns for i in range(columns + 1)] if columns else []
    drawn = []
    for a, b in pairwise(edges):
        part = values[a:b]
        if not all(map(math.isfinite, part)):
            drawn.append("×")
        elif max(part) <= 0:
            drawn.append("·")
        else:
            share = (math.log(max(part)) - low) / (high - low) if high > low else 1.0
            drawn.append(_EIGHTHS[1 + round(7 * share)])
    return "".join(drawn)


def trail(values: Sequence[float | None], width: int = 16) -> str:
    """Draw how sizes go over steps, on a logarithmic scale of at least a decade.

    Each sign stands for the largest of its part: ``×`` for one that is not finite, ``0`` for nothing but zeros, ``–``
    where there is none (None).
    """
    there = [v for v in values if v is not None]
    logs = [math.log10(v) for v in there if v > 0 and math.isfinite(v)]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    low, high = min(low, (low + high - 1) / 2), max(high, (low + high + 1) / 2)
    columns = min(width, len(values))
    edges = [len(values) * i // columns for i in range(columns + 1)] if columns else []
    return "".join(_sign([v for v in values[a:b] if v is not None], low, high) for a, b in pairwise(edges))


def _sign(part: Sequence[float], low: float, high: float) -> str:
    if not part:
        return "–"
    if not all(map(math.isfinite, part)):
        return "×"
    if max(part) <= 0:
        return "0"
    return _EIGHTHS[1 + round(7 * (math.log10(max(part)) - low) / (high - low))]

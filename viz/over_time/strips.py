"""Strips above the cells of a heat map, with one value a step: loss and learning rate as curves, clipping as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gradtool.engine.answers.over_time.sentences import size
from gradtool.engine.questions.over_time import Training

from .canvas import Grid, n, text

_WIDE: Final = 100.0
"""A loss that falls to a smaller part of what it was is drawn on a logarithmic scale."""
_MOST_DOTS: Final = 320
"""Of more steps than that, single ones between gaps are not drawn."""


def strips(parts: list[str], answer: Training, grid: Grid, y: float, beside: float) -> float:
    """Loss and learning rate as curves, clipping as bars."""
    steps = answer.history.steps
    losses = [s.loss for s in steps]
    sizes = [v for v in losses if v is not None and math.isfinite(v)]
    wide = min(sizes, default=0.0) > 0 and max(sizes) > _WIDE * min(sizes)
    curves: list[tuple[str, float, list[float | None]]] = [
        ("log loss" if wide else "loss", 40, losses),
        ("learning rate", 22, [s.rate for s in steps]),
    ]
    for name, height, values in curves:
        there = [v for v in values if v is not None]
        if not there:
            continue
        if name == "log loss":
            values = [math.log(v) if v is not None and v > 0 else v for v in values]
        parts.append(text(grid.x - 10, y + height / 2 + 3.5, name, "e"))
        parts.append(_curve(values, grid, y, height))
        parts.append(text(beside, y + height / 2 + 3.5, _ends(there[0], there[-1]), "q"))
        y += height + 8
    clipped = [s.clip_factor for s in steps]
    if any(c is not None for c in clipped):
        y = _draw_clipping(parts, clipped, grid, y, beside)
    return y + 6


def _ends(first: float, last: float) -> str:
    return size(last) if first == last else f"{size(first)} → {size(last)}"


def _curve(values: Sequence[float | None], grid: Grid, y: float, height: float) -> str:
    """A line through the values of a strip; it is broken where one is missing or not finite."""
    finite = [v for v in values if v is not None and math.isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    span = (high - low) or 1.0
    base = 0.5 if high == low else 0.0

    def point(i: int, v: float) -> str:
        share = (v - low) / span + base
        return f"{n(grid.x + (i + 0.5) * grid.width / len(values))} {n(y + 3 + (height - 6) * (1 - share))}"

    runs: list[list[str]] = [[]]
    for i, v in enumerate(values):
        if v is None or not math.isfinite(v):
            runs.append([])
        else:
            runs[-1].append(point(i, v))
    path = "".join("M" + "L".join(run) for run in runs if len(run) > 1)
    dots = [run[0] for run in runs if len(run) == 1] if len(values) < _MOST_DOTS else []
    points = "".join(f'<circle class="dot" cx="{p.split()[0]}" cy="{p.split()[1]}" r="2"/>' for p in dots)
    frame = f'<path class="grid" d="M{n(grid.x)} {n(y + height)}h{n(grid.width)}"/>'
    return f'{frame}<path class="curve" d="{path}"/>{points}'


def _draw_clipping(parts: list[str], clipped: Sequence[float | None], grid: Grid, y: float, beside: float) -> float:
    """A bar from above for each step: the less is left of the gradients, the longer."""
    height = 18.0
    parts.append(text(grid.x - 10, y + 12, "clipped", "e"))
    parts.append(f'<path class="grid" d="M{n(grid.x)} {n(y)}h{n(grid.width)}"/>')
    bars = []
    for column in range(grid.columns):
        part = [c for c in clipped[column * grid.per : (column + 1) * grid.per] if c is not None and c < 1]
        if part:
            length = max(2.0, height * (1 - min(part)))
            left, wide = grid.x + column * grid.cell, grid.cell - grid.gap
            bars.append(f"M{n(left + grid.gap / 2)} {n(y)}h{n(wide)}v{n(length)}h{n(-wide)}z")
    parts.append(f'<path class="clip" d="{"".join(bars)}"/>')
    number = sum(c is not None and c < 1 for c in clipped)
    parts.append(text(beside, y + 12, f"{number} of {len(clipped)} steps", "q"))
    return y + height + 8

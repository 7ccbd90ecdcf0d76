"""The heat map of a training as SVG: layers by steps, and above it what a step has one of.

Every cell is the norm of a gradient. Where there are more steps than a screen has room for, a column stands for several
of them and shows the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import chain, pairwise
from typing import Final

from gradtool.engine.answers.over_time.history import HistoryPoint, TrainingStep
from gradtool.engine.answers.over_time.sentences import size
from gradtool.engine.core.wording import NOTHING, count
from gradtool.engine.questions.over_time import Row, Training

from ..text import fit_text, printable, text_width
from ..views import over_time as words
from .canvas import MARGIN, NOT_FINITE, SMALL, ZERO, Grid, n, style, text
from .ramp import LEVELS, Ramp
from .strips import strips

_PLOT: Final = 640.0
"""Pixels that the steps take together, where that leaves cells neither too narrow nor too wide."""
_WIDEST: Final = 46.0
_HEIGHTS: Final = ((8, 26.0), (40, 18.0), (math.inf, 14.0))
"""Up to so many rows: how high each is."""
_MOST_COLUMNS: Final = 320
_NAME: Final = 36
"""Columns of a row's name."""
_NARROWEST: Final = 660.0
_MOST_TOLD: Final = 12
_MOST_TITLED: Final = 3000
"""Cells that have a tooltip each; of more of them, rows."""


def svg(answer: Training) -> str:
    """The heat map as the text of an SVG file; the same text for the same training."""
    return "\n".join(_lines(answer)) + "\n"


def _grid(answer: Training) -> Grid:
    steps, rows = len(answer.history.steps), len(answer.rows)
    per = math.ceil(steps / _MOST_COLUMNS)
    columns = math.ceil(steps / per)
    height = next(height for most, height in _HEIGHTS if rows <= most)
    names = max((text_width(_name(row.name), SMALL) for row in answer.rows), default=0.0)
    x = MARGIN + max(names, text_width("learning rate", SMALL)) + 10
    return Grid(round(x), min(_WIDEST, _PLOT / columns), height, per, columns, steps)


def _name(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _NAME else "…" + name[1 - _NAME :]


def _lines(answer: Training) -> Iterator[str]:
    grid = _grid(answer)
    beside = grid.x + grid.width + 12
    width = max(beside + 2 * 76, _NARROWEST)
    points = chain.from_iterable(row.points for row in answer.rows)
    ramp = Ramp.span(p.gradient.norm for p in points if p is not None)
    parts: list[str] = []
    y = _head(parts, answer, width)
    y = strips(parts, answer, grid, y, beside)
    y = _matrix(parts, answer, grid, ramp, y, beside)
    y = _axis(parts, grid, y)
    y = _draw_beginnings(parts, answer, y, width)
    y = _legend(parts, answer, ramp, y)
    size = f'width="{n(width)}" height="{n(y + MARGIN)}" viewBox="0 0 {n(width)} {n(y + MARGIN)}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">'
    yield f'<title id="title">{escape(_title(answer))}</title>'
    about = f"norms of gradients: {count(len(answer.rows), answer.by)} by {count(len(answer.history.steps), 'step')}"
    yield f'<desc id="desc">{escape(about)}</desc>'
    yield style()
    yield '<rect class="ground" width="100%" height="100%"/>'
    yield from parts
    yield "</svg>"


# -- above the cells --------------------------------------------------------------------------------------------------


def _title(answer: Training) -> str:
    return printable(f"{answer.about.name} · norms of gradients over {count(len(answer.history.steps), 'step')}")


def _head(parts: list[str], answer: Training, width: float) -> float:
    """Title and what a step is; where what follows begins."""
    longest = int((width - 2 * MARGIN) / text_width("x", SMALL))
    parts.append(text(MARGIN, 28, _title(answer), "t"))
    y = 46.0
    for line in list(words.title_lines(answer))[1:]:
        parts.append(text(MARGIN, y, fit_text(line, longest), "q"))
        y += 14
    return y + 8


# -- the cells --------------------------------------------------------------------------------------------------------


def _matrix(parts: list[str], answer: Training, grid: Grid, ramp: Ramp, y: float, beside: float) -> float:
    """A row for each parameter or layer, its name before it and its last numbers behind it."""
    y += 14
    moved = answer.history.is_update
    parts.append(text(beside, y - 6, "last ‖g‖", "q"))
    if moved:
        parts.append(text(beside + 76, y - 6, "‖Δw‖/‖w‖", "q"))
    paths: dict[str, list[str]] = {}
    marks: list[str] = []
    titled = len(answer.rows) * grid.columns <= _MOST_TITLED
    titles: list[str] = []
    for i, row in enumerate(answer.rows):
        top = y + i * grid.row
        kinds = [_kind(row.points[c * grid.per : (c + 1) * grid.per], ramp) for c in range(grid.columns)]
        _fill(paths, kinds, grid, top)
        birth = next((k for k, p in enumerate(row.points) if p is not None and p.gradient.nonfinite), None)
        if birth is not None:
            marks.append(_cross(grid.middle(birth + 1), top + grid.row / 2, min(grid.row / 2 - 2.5, 6)))
        middle = top + grid.row / 2 + 3.5
        parts.append(text(grid.x - 10, middle, _name(row.name), "e"))
        there = [p for p in row.points if p is not None]
        last = size(words.norm(there[-1])) if there else "no gradient"
        bad = "bad" if there and there[-1].gradient.nonfinite else "q" * (not there)
        parts.append(text(beside, middle, last, bad))
        if moved and there:
            ratio = next((p.ratio for p in reversed(there) if p.ratio is not None), None)
            parts.append(text(beside + 76, middle, size(ratio)))
        titles += _titles(row, grid, top, answer.history.steps) if titled else [_row_title(row, grid, top)]
    for kind in sorted(paths):
        parts.append(f'<path class="c {kind}" d="{"".join(paths[kind])}"/>')
    height = len(answer.rows) * grid.row
    if not grid.gap:
        parts.append(f'<rect class="frame" x="{n(grid.x)}" y="{n(y)}" width="{n(grid.width)}" height="{n(height)}"/>')
    for step in sorted({h.step for h in answer.happenings if h.wrong}):
        x = grid.middle(step)
        parts.append(f'<path class="mark" d="M{n(x)} {n(y - 4)}v{n(height + 8)}"/>')
    parts += marks
    parts += titles
    return y + height


def _kind(points: Sequence[HistoryPoint | None], ramp: Ramp) -> str:
    """Return the look of a cell: a level, not finite, zero, or empty for no gradient."""
    there = [p.gradient for p in points if p is not None]
    if not there:
        return ""
    if any(e.nonfinite for e in there):
        return NOT_FINITE
    largest = max(e.norm for e in there)
    return f"l{ramp.level(largest)}" if largest > 0 else ZERO


def _fill(paths: dict[str, list[str]], kinds: Sequence[str], grid: Grid, top: float) -> None:
    """The cells of a row; neighbours that look alike are one where cells do not stand apart."""
    edges = [0, *(i for i, (a, b) in enumerate(pairwise(kinds), 1) if a != b or grid.gap), len(kinds)]
    half = grid.gap / 2
    for a, b in pairwise(edges):
        if kinds[a]:
            # Ends are rounded, not widths: neighbours that do not stand apart have to meet.
            x, end = (round(grid.x + i * grid.cell, 1) for i in (a, b))
            x, w, h = x + half, end - x - grid.gap, grid.row - grid.gap
            paths.setdefault(kinds[a], []).append(f"M{n(x)} {n(top + half)}h{n(w)}v{n(h)}h{n(-w)}z")


def _cross(x: float, y: float, r: float) -> str:
    d = f"M{n(x - r)} {n(y - r)}l{n(2 * r)} {n(2 * r)}m0 {n(-2 * r)}l{n(-2 * r)} {n(2 * r)}"
    return f'<path class="birth" d="{d}"/><path class="birth2" d="{d}"/>'


def _titles(row: Row, grid: Grid, top: float, steps: Sequence[TrainingStep]) -> Iterator[str]:
    """A tooltip for each cell."""
    for column in range(grid.columns):
        i = min((column + 1) * grid.per, len(steps)) - 1
        x = n(grid.x + column * grid.cell)
        place = f'x="{x}" y="{n(top)}" width="{n(grid.cell)}" height="{n(grid.row)}"'
        yield f'<rect class="h" {place}><title>{escape(_cell_text(row, row.points[i], steps[i]))}</title></rect>'


def _cell_text(row: Row, point: HistoryPoint | None, step: TrainingStep) -> str:
    lines = [printable(row.name), f"step {step.number}"]
    if point is None:
        return "\n".join([*lines, "no gradient"])
    g = point.gradient
    lines[1] += f" · backward {point.backward}"
    lines.append(f"‖g‖ {size(g.norm)} · zeros {g.zeros} of {g.elements}")
    if g.nonfinite:
        lines.append(f"{g.nonfinite} not finite")
    if point.ratio is not None:
        lines.append(f"‖Δw‖/‖w‖ {size(point.ratio)}")
    if point.clipped is not None and point.clipped < 1:
        lines.append(f"clipped ×{size(point.clipped)}")
    if point.changed is not None:
        lines.append(f"changed by the script ×{size(point.changed)}")
    return "\n".join(lines)


def _row_title(row: Row, grid: Grid, top: float) -> str:
    there = [p for p in row.points if p is not None]
    ends = f"‖g‖ {size(words.norm(there[0]))} → {size(words.norm(there[-1]))}" if there else NOTHING
    place = f'x="{n(grid.x)}" y="{n(top)}" width="{n(grid.width)}" height="{n(grid.row)}"'
    return f'<rect class="h" {place}><title>{escape(printable(row.name))}\n{escape(ends)}</title></rect>'


# -- below the cells --------------------------------------------------------------------------------------------------


def _axis(parts: list[str], grid: Grid, y: float) -> float:
    """Numbers of steps, as many as have room."""
    room = text_width(str(grid.steps), SMALL) + 14
    each = _nice(math.ceil(grid.steps * room / max(grid.width, room)))
    labels = [1, *range(each, grid.steps + 1, each)] if each > 1 else list(range(1, grid.steps + 1))
    if len(labels) > 1 and grid.middle(labels[1]) - grid.middle(1) < room:
        del labels[1 if labels[1] != grid.steps else 0]
    for step in labels:
        x = grid.middle(step)
        parts.append(f'<path class="grid" d="M{n(x)} {n(y + 2)}v4"/>')
        parts.append(text(x, y + 17, str(step), "m q"))
    parts.append(text(grid.x - 10, y + 17, "step", "e q"))
    return y + 30


def _nice(least: int) -> int:
    """1, 2 or 5 times a power of ten, at least so much."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10


def _draw_beginnings(parts: list[str], answer: Training, y: float, width: float) -> float:
    """Draw what began at which step, a line each."""
    longest = int((width - 2 * MARGIN - 70) / text_width("x", SMALL))
    shown = answer.happenings[:_MOST_TOLD]
    y += 10 if shown else 0
    for h in shown:
        parts.append(text(MARGIN, y, f"step {h.step}", "bad" if h.wrong else "q"))
        parts.append(text(MARGIN + 70, y, fit_text(words.describe(h, answer), longest)))
        y += 15
    left = len(answer.happenings) - len(shown)
    if left:
        parts.append(text(MARGIN + 70, y, f"and {left} more, in the text and in JSON", "q"))
        y += 15
    return y + (4 if shown else 0)


def _legend(parts: list[str], answer: Training, ramp: Ramp, y: float) -> float:
    """The colours with their powers of ten, and what else a cell may be."""
    y += 8
    left, long, high = MARGIN, 220.0, 10.0
    each = long / LEVELS
    for i in range(LEVELS):
        parts.append(
            f'<rect class="l{i}" x="{n(left + i * each)}" y="{n(y)}" width="{n(each + 0.4)}" height="{n(high)}"/>'
        )
    decades = ramp.high - ramp.low
    every = max(1, math.ceil(decades / 5))
    for k in range(0, decades + 1, every):
        x = left + long * k / decades
        anchor = {0: "", decades: " e"}.get(k, " m")
        parts.append(text(x, y + high + 12, f"1e{ramp.low + k}", "q" + anchor))
    x = left + long + 24
    swatches: list[tuple[str, Callable[[float], str]]] = [
        ("all zero", lambda at: _box(at, y, ZERO)),
        ("not finite", lambda at: _box(at, y, NOT_FINITE)),
        ("first of them", lambda at: _box(at, y, NOT_FINITE) + _cross(at + 6, y + 5, 4)),
        ("no gradient", lambda at: f'<rect class="frame" x="{n(at)}" y="{n(y)}" width="12" height="10"/>'),
    ]
    for name, draw in swatches:
        parts.append(draw(x))
        parts.append(text(x + 17, y + 9, name, "q"))
        x += 17 + text_width(name, SMALL) + 16
    per = _grid(answer).per
    if per > 1:
        parts.append(text(left + long + 24, y + high + 12, f"a column is {per} steps, the largest of them", "q"))
    return y + high + 14


def _box(x: float, y: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="12" height="10"/>'

"""A sweep as SVG: how its points came out, a map over settings, the spread of each norm, and the norm of each point.

A panel is there where the sweep has something for it. All sizes are logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from statistics import median
from typing import Any, Final

from gradtool.engine.core.wording import count
from gradtool.engine.core.wording import number as shown
from gradtool.engine.sweeps.spread import NormSpread, spreads, usual
from gradtool.engine.sweeps.summaries import FINDING, OK
from gradtool.engine.sweeps.sweep import Swept
from gradtool.engine.sweeps.threshold_search import has_exploded, number

from ..over_time.canvas import MARGIN, NOT_FINITE, SMALL, ZERO, n, style, text
from ..over_time.ramp import LEVELS, Ramp
from ..text import fit_text, text_width
from ..views.sweep import count_statuses, point_of

_WIDTH: Final = 860.0
_PLOT: Final = 560.0
_ROW: Final = 18.0
_HIGH: Final = 160.0
_MOST_LINES: Final = 60
"""Lines of which the spread is drawn."""
_MOST_CELLS: Final = 4096
"""Points that have a cell each; of more, the first."""
_MOST_TITLED: Final = 3000
"""Cells and dots with a tooltip."""
_MOST_DOTS: Final = 20_000
_NAME: Final = 30

_CELLS: Final = {OK: "l16", FINDING: NOT_FINITE}
"""Status -> class of its cell; others are grey."""
_STYLE: Final = (
    ".whisker{stroke:#57606a;stroke-width:1}.box{fill:#0b5cad;fill-opacity:.35}.middle{stroke:#0b5cad;stroke-width:2}"
)

Row = Mapping[str, Any]
Panel = Callable[[list[str], Swept, float], float]


def svg(answer: Swept) -> str:
    """The pictures as the text of one SVG file; the same text for the same rows."""
    parts: list[str] = []
    y = _head(parts, answer)
    for panel in (_statuses, _map, _spread, _points):
        y = panel(parts, answer, y)
    size = f'width="{n(_WIDTH)}" height="{n(y + MARGIN)}" viewBox="0 0 {n(_WIDTH)} {n(y + MARGIN)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(_title(answer))}</title>',
        f'<desc id="desc">{escape(describe(answer))}</desc>',
        style().replace("</style>", f"{_STYLE}</style>"),
        '<rect class="ground" width="100%" height="100%"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _title(answer: Swept) -> str:
    models = answer.axes.models
    return f"{answer.spec.question} · {models[0] if len(models) == 1 else count(len(models), 'model')}"


def describe(answer: Swept) -> str:
    """Describe the picture."""
    counts = " · ".join(f"{number} {status}" for status, number in count_statuses(answer.rows).items())
    return f"{count(answer.points, 'point')}: {counts or 'none came'}"


def _head(parts: list[str], answer: Swept) -> float:
    longest = int((_WIDTH - 2 * MARGIN) / text_width("x", SMALL))
    parts += [text(MARGIN, 28, fit_text(_title(answer), longest), "t"), text(MARGIN, 46, describe(answer), "q")]
    return 60.0


# -- how the points came out ------------------------------------------------------------------------------------------


def _statuses(parts: list[str], answer: Swept, y: float) -> float:
    """A cell for each point, in their order, line by line."""
    rows = answer.rows[:_MOST_CELLS]
    if not rows:
        return y
    columns = min(64, max(1, math.ceil(math.sqrt(len(rows) * 4))))
    size = min(16.0, _PLOT / columns)
    y = _draw_heading(parts, "points, in their order: green ok, red a finding, grey no answer", y)
    for i, row in enumerate(rows):
        place = MARGIN + i % columns * size, y + i // columns * size
        parts.append(_cell(_CELLS.get(row["status"], ZERO), *place, size - 1, size - 1, _tip(answer, row, i)))
    y += math.ceil(len(rows) / columns) * size
    if len(answer.rows) > len(rows):
        parts.append(text(MARGIN, y + 14, f"and {len(answer.rows) - len(rows)} more", "q"))
        y += 16
    return y + 14


def _tip(answer: Swept, row: Row, place: int) -> str:
    if place >= _MOST_TITLED:
        return ""
    norm = (row["answer"] or {}).get("norm")
    return f"{point_of(answer, row)}\n{row['status']}" + (f"\n‖g‖ {shown(norm)}" if norm is not None else "")


def _cell(kind: str, x: float, y: float, width: float, height: float, tip: str = "") -> str:
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}">{title}</rect>'


def _draw_heading(parts: list[str], words: str, y: float) -> float:
    parts.append(text(MARGIN, y + 12, words, "q"))
    return y + 22


# -- settings ---------------------------------------------------------------------------------------------------------


def _map(parts: list[str], answer: Swept, y: float) -> float:
    """A heat map over the first two settings with several values, or a row of cells over one; of one model."""
    settings = [s for s in answer.axes.settings if len(s.values) > 1]
    if not settings or len(answer.axes.models) > 1:
        return y
    across, down = settings[0], settings[1] if len(settings) > 1 else None
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in answer.rows:
        groups.setdefault((row["set"][across.name], row["set"][down.name] if down else ""), []).append(row)
    norms = {key: _median(rows) for key, rows in groups.items()}
    ramp = Ramp.span(norm for key, norm in norms.items() if norm and not any(map(has_exploded, groups[key])))
    columns = sorted(across.values, key=_order)
    lines = sorted(down.values, key=_order, reverse=True) if down else [""]
    left = MARGIN + max((text_width(line, SMALL) for line in lines), default=0) + 10
    wide, high = min(46.0, _PLOT / len(columns)), min(26.0, 360.0 / len(lines))
    by = f", {down.name} upwards" if down else ""
    y = _draw_heading(parts, f"median ‖g‖ over {across.name}{by}; red: gradients explode, grey: zero or unknown", y)
    for j, line in enumerate(lines):
        if high >= SMALL:
            parts.append(text(left - 6, y + j * high + high / 2 + 3.5, line, "e q"))
        for i, value in enumerate(columns):
            rows = groups.get((value, line), [])
            tip = "\n".join([f"{across.name}={value}", *([f"{down.name}={line}"] if down else []), _cell_text(rows)])
            kind = _kind(rows, norms.get((value, line)), ramp)
            parts.append(_cell(kind, left + i * wide, y + j * high, wide - 1, high - 1, tip))
    y += len(lines) * high
    room = max(text_width(value, SMALL) for value in columns) + 8
    every = max(1, math.ceil(room / wide))
    parts += [text(left + (i + 0.5) * wide, y + 13, columns[i], "m q") for i in range(0, len(columns), every)]
    return y + 34


def _order(value: str) -> tuple[float, str]:
    size = number(value)
    return (math.inf if size is None else size), value


def _median(rows: Sequence[Row]) -> float | None:
    norms = [row["answer"]["norm"] for row in rows if (row["answer"] or {}).get("norm") is not None]
    return median(norms) if norms else None


def _cell_text(rows: Sequence[Row]) -> str:
    norm = _median(rows)
    counts = ", ".join(f"{number} {status}" for status, number in count_statuses(rows).items())
    return counts + (f"\nmedian ‖g‖ {shown(norm)}" if norm is not None else "")


def _kind(rows: Sequence[Row], norm: float | None, ramp: Ramp) -> str:
    if any(has_exploded(row) for row in rows) or (norm is None and any(row["status"] == FINDING for row in rows)):
        return NOT_FINITE
    if norm:
        return f"l{ramp.level(norm)}"
    return _CELLS[OK] if norm is None and rows and all(row["status"] == OK for row in rows) else ZERO


# -- norms ------------------------------------------------------------------------------------------------------------


class _Scale:
    """From sizes to pixels, decade by decade."""

    def __init__(self, sizes: Sequence[float], start: float, length: float) -> None:
        logs = [math.log10(size) for size in sizes]
        self.high = math.ceil(max(logs))
        self.low = min(math.floor(min(logs)), self.high - 1)
        self._start, self._length = start, length

    def place(self, size: float) -> float:
        """Return the place of a positive size."""
        share = (math.log10(size) - self.low) / (self.high - self.low)
        return self._start + self._length * min(max(share, 0.0), 1.0)

    def decades(self) -> Iterator[int]:
        """The powers of ten that have room for a label."""
        return iter(range(self.low, self.high + 1, max(1, math.ceil((self.high - self.low) / 8))))


def _spread(parts: list[str], answer: Swept, y: float) -> float:
    """A line for each parameter or layer: from the least norm to the most, the middle half, the median."""
    lines = spreads(answer.rows) if len(answer.axes.models) == 1 and len(answer.rows) > 1 else []
    drawn = lines[:_MOST_LINES]
    sizes = [norm for line in drawn for norm in line.norms if norm > 0]
    if not sizes:
        return y
    names = [line.name if len(line.name) <= _NAME else "…" + line.name[1 - _NAME :] for line in drawn]
    left = MARGIN + max(text_width(name, SMALL) for name in names) + 12
    scale = _Scale(sizes, left, min(_PLOT, _WIDTH - left - 110))
    y = _draw_heading(parts, "‖g‖ over the points: least, quarters, median, most", y)
    for name, line in zip(names, drawn, strict=True):
        parts.append(text(left - 8, y + _ROW / 2 + 3.5, name, "e"))
        parts += _strip(line, scale, y)
        if line.nonfinite or line.missing:
            said = [f"{line.nonfinite} not finite"] * bool(line.nonfinite) + [f"{line.missing} none"] * bool(
                line.missing
            )
            parts.append(text(scale.place(10.0**scale.high) + 8, y + _ROW / 2 + 3.5, ", ".join(said), "bad"))
        y += _ROW
    for power in scale.decades():
        x = scale.place(10.0**power)
        parts.append(f'<path class="grid" d="M{n(x)} {n(y + 2)}v4"/>')
        parts.append(text(x, y + 17, f"1e{power}", "m q"))
    if len(lines) > len(drawn):
        parts.append(text(MARGIN, y + 32, f"and {len(lines) - len(drawn)} more, in the table", "q"))
        y += 16
    return y + 36


def _strip(line: NormSpread, scale: _Scale, y: float) -> Iterator[str]:
    positive = NormSpread(line.name, tuple(norm for norm in line.norms if norm > 0), 0, 0)
    quantiles = [positive.quantile(i / 4) for i in range(5)]
    if quantiles[0] is None:
        return
    least, quarter, middle, three, most = (scale.place(q) for q in quantiles if q is not None)
    mid = n(y + _ROW / 2)
    sizes = [line.quantile(i / 4) for i in range(5)]
    tip = escape(f"{line.name}\n{' · '.join(map(shown, sizes))}")
    yield f'<path class="whisker" d="M{n(least)} {mid}H{n(most)}"/>'
    box = f'x="{n(quarter)}" y="{n(y + 3)}" width="{n(max(three - quarter, 1))}" height="{n(_ROW - 6)}"'
    yield f'<rect class="box" {box}><title>{tip}</title></rect>'
    yield f'<path class="middle" d="M{n(middle)} {n(y + 2)}v{n(_ROW - 4)}"/>'


def _points(parts: list[str], answer: Swept, y: float) -> float:
    """A dot for each point at its norm, in their order; those that stand apart in red."""
    norms = [(i, (row["answer"] or {}).get("norm")) for i, row in enumerate(answer.rows)]
    there = [(i, norm) for i, norm in norms if norm]
    if len(there) < 2:
        return y
    apart = {outlier.number for group in usual(answer.rows) for outlier in group.outliers}
    if len(there) > _MOST_DOTS:
        every = math.ceil(len(there) / _MOST_DOTS)
        there = [(i, norm) for k, (i, norm) in enumerate(there) if not k % every or i in apart]
    y = _draw_heading(parts, "‖g‖ of each point, in their order; red: unlike the others", y)
    left = MARGIN + 36
    scale = _Scale([norm for _, norm in there], 0.0, _HIGH)
    for power in scale.decades():
        at = y + _HIGH - scale.place(10.0**power)
        parts.append(f'<path class="grid" d="M{n(left)} {n(at)}h{n(_PLOT)}"/>')
        parts.append(text(left - 6, at + 3.5, f"1e{power}", "e q"))
    for k, (i, norm) in enumerate(there):
        x, at = left + (i + 0.5) / len(answer.rows) * _PLOT, y + _HIGH - scale.place(norm)
        kind, radius = ("bad", 3) if i in apart else ("dot", 1.6)
        tip = f"<title>{escape(_tip(answer, answer.rows[i], k))}</title>" if k < _MOST_TITLED or i in apart else ""
        parts.append(f'<circle class="{kind}" cx="{n(x)}" cy="{n(at)}" r="{radius}">{tip}</circle>')
    return y + _HIGH + 16


assert LEVELS > 16  # the level that stands for ok

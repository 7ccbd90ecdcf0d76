"""A sweep as one HTML page: what is told of it, its pictures, and the points that are not ok or stand apart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from gradtool.engine.sweeps.spread import usual
from gradtool.engine.sweeps.summaries import OK
from gradtool.engine.sweeps.sweep import Swept

from ..document.blocks import Block, Commands, Data, Document, Figure, Lines, Section
from ..document.html import to_html
from ..table import TextTable as Grid
from ..views import sweep
from ..views.view import Table
from .picture import describe, svg

MOST: Final = 500
"""Points that the page lists; the rest is in its JSON."""


def html(answer: Swept) -> str:
    """The page; it loads nothing and has no script."""
    return to_html(document(answer))


def document(answer: Swept) -> Document:
    """The page as a document."""
    view = sweep.view(answer)
    blocks: list[Block] = [_grid(b, "") if isinstance(b, Table) else Lines(b) for b in view.blocks]
    blocks.append(Commands(tuple(view.next)))
    picture = Figure(
        svg(answer), describe(answer), caption="How the points came out, and the norms of their gradients."
    )
    text = json.dumps({"schema": "gradtool/sweep/1", **view.data}, sort_keys=True, allow_nan=False) + "\n"
    sections = [
        Section("answer", "What came of it", tuple(blocks)),
        Section("picture", "Pictures", (picture,)),
        *_list_sections(answer),
        Section("json", "JSON", (Data(text, "everything above for programs (gradtool/sweep/1)"),)),
    ]
    facts = (
        ("question", answer.spec.question),
        ("models", ", ".join(answer.axes.models[:6])),
        ("points", describe(answer)),
    )
    return Document(f"Sweep: {answer.spec.question}", facts, tuple(sections))


def _list_sections(answer: Swept) -> list[Section]:
    """The points that are not ok, and those that stand apart, with what came of each."""
    apart = {outlier.number: outlier for group in usual(answer.rows) for outlier in group.outliers}
    wrong = [i for i, row in enumerate(answer.rows) if row["status"] != OK or i in apart]
    if not wrong:
        return []
    table = Table(["point", "status", "of the median", "what", "look at it", "key"])
    for i in wrong[:MOST]:
        row = answer.rows[i]
        times = apart[i].times if i in apart else None
        unlike = "" if i not in apart else "not finite" if times is None else f"×{times:.4g}"
        table.rows.append(
            [
                sweep.point_of(answer, row),
                row["status"],
                unlike,
                sweep.describe_row(row),
                _alone(answer, row),
                row["key"],
            ]
        )
    more = [Lines(f"and {len(wrong) - MOST} more, in the JSON below")] if len(wrong) > MOST else []
    names = tuple(f"point-{answer.rows[i]['key']}" for i in wrong[:MOST])
    return [Section("points", "Points to look at", (replace(_grid(table, "points"), anchors=names), *more))]


def _alone(answer: Swept, row: sweep.Row) -> str:
    """A command that asks about a point by itself; nothing where words cannot say it."""
    return sweep.command_of(answer, row) or ""


def _grid(table: Table, title: str) -> Grid:
    return Grid(title, table.headings, [*table.rows], table.styles)

"""Groups of boxes: layers, repetitions, sub-blocks and recomputed segments."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from gradtool.engine.core import names
from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import FORWARD, NodeView

from ..text import printable
from .cells import Cells
from .columns import GUTTERS, RECOMPUTED
from .scene import Frame


@dataclass(frozen=True, slots=True)
class FrameRows:
    """A frame before it has a place: cells of one column from row to row, in which stands nothing else.

    Attributes:
        depth: how many frames lie around it.
    """

    id: str
    kind: str
    title: str
    members: tuple[int, ...]
    column: int
    first: int
    last: int
    depth: int = 0


def groups(cells: Cells, blocks: dict[int, tuple[int, str]], tensors: dict[int, str]) -> list[FrameRows]:
    """The frames of a picture, outer ones first.

    Args:
        blocks: index of a block -> that of the block around it, and its title.
        tensors: operator -> name of a tensor that it writes, for recomputed operators.
    """
    boxes = [
        *_blocks(cells, blocks),
        *_runs(cells, _repetitions(cells), "repeat", 8),
        *_runs(cells, _scopes(cells), "layer", 9),
        *_segments(cells, tensors),
    ]
    return sorted(boxes, key=lambda g: (g.depth, g.column, g.first))


def make_frame(group: FrameRows, cells: Cells, x: float, y: float, width: float, height: float) -> Frame:
    members = tuple(cells.drawn.nodes[i].id for i in group.members)
    return Frame(group.id, group.kind, printable(group.title), x, y, width, height, members)


class Nesting(NamedTuple):
    """Number of frames of its column that a frame shares its room with.

    Attributes:
        inside: those within its rows, at most :data:`DEEPEST`.
        above, below: those that begin, or end, on the same row, and lie further inside.
    """

    inside: int
    above: int
    below: int


DEEPEST: Final = 2
"""Frames inside another one for which this makes room at the sides."""


def nestings(boxes: Sequence[FrameRows]) -> list[Nesting]:
    """The nesting of each frame."""
    spans: dict[int, list[tuple[int, int]]] = {}
    begin: dict[tuple[int, int], list[int]] = {}
    end: dict[tuple[int, int], list[int]] = {}
    for g in boxes:
        spans.setdefault(g.column, []).append((g.first, g.last))
        begin.setdefault((g.column, g.first), []).append(g.last)
        end.setdefault((g.column, g.last), []).append(g.first)
    for of_column in spans.values():
        of_column.sort()
    for ends in (*begin.values(), *end.values()):
        ends.sort()
    nested = []
    for g in boxes:
        of_column = spans[g.column]
        inside = -1  # finds itself, too
        for first, last in islice(of_column, bisect_left(of_column, (g.first, -1)), None):
            inside += last <= g.last
            if first > g.last or inside == DEEPEST:
                break
        above = bisect_left(begin[g.column, g.first], g.last)
        below = end[g.column, g.last]
        nested.append(Nesting(inside, above, len(below) - bisect_right(below, g.first)))
    return nested


def _blocks(cells: Cells, blocks: dict[int, tuple[int, str]]) -> Iterator[FrameRows]:
    if not blocks:
        return
    gutters = {n for n, c in enumerate(cells.columns) if c in GUTTERS}
    inside: dict[tuple[int, int], list[int]] = {}
    for i, node in enumerate(cells.drawn.nodes):
        block, column = node.block, int(cells.column[i])
        while block in blocks and column not in gutters:
            inside.setdefault((block, column), []).append(i)
            block = blocks[block][0]
    # The boxes of each column from top to bottom: between two rows of it lie few others.
    height = int(cells.row.max()) + 1
    place = cells.column * height + cells.row
    order = np.argsort(place, kind="stable")
    places, lanes = place[order], cells.lane[order]
    for (block, column), members in inside.items():
        first, last = int(cells.row[members].min()), int(cells.row[members].max())
        left, right = int(cells.lane[members].min()), int(cells.lane[members].max())
        start, end = np.searchsorted(places, [column * height + first, column * height + last + 1])
        between = lanes[start:end]
        if int(((between >= left) & (between <= right)).sum()) != len(members):
            continue
        depth, outer = 0, blocks[block][0]
        while outer in blocks:
            depth, outer = depth + 1, blocks[outer][0]
        yield FrameRows(f"block:{block}", "block", blocks[block][1], tuple(members), column, first, last, depth)


def _forward_ops(cells: Cells) -> list[tuple[int, NodeView]]:
    if FORWARD not in cells.columns:
        return []
    d = cells.drawn
    here = np.flatnonzero((cells.column == cells.columns.index(FORWARD)) & d.is_op).tolist()
    return [(i, d.nodes[i]) for i in here]


def _scopes(cells: Cells) -> dict[int, tuple[str, str]]:
    """Forward operators -> the layer that they stand in, and its title."""
    titles = {}
    for i, node in _forward_ops(cells):
        if node.scope and not (node.members and node.name == node.scope):  # else it is a whole layer itself
            titles[i] = (f"layer:{node.scope}", node.scope)
    return titles


def _repetitions(cells: Cells) -> dict[int, tuple[str, str]]:
    return {i: (f"repeat:{n.count}", f"×{n.count}") for i, n in _forward_ops(cells) if n.count > 1}


def _segments(cells: Cells, tensors: dict[int, str]) -> Iterator[FrameRows]:
    if RECOMPUTED not in cells.columns:
        return
    column = cells.columns.index(RECOMPUTED)
    titles = {}
    for i in np.flatnonzero(cells.column == column).tolist():
        number = names.segment(tensors.get(i, ""))
        if number is not None:
            titles[i] = (f"segment:{number}", f"recomputed {number}")
    yield from _runs(cells, titles, "segment", 9, alone=1)


def _runs(
    cells: Cells, named: dict[int, tuple[str, str]], kind: str, depth: int, alone: int = 2
) -> Iterator[FrameRows]:
    """Runs of rows whose boxes all have the same name; frames are told apart when a name comes again."""
    if not named:
        return
    column = int(cells.column[next(iter(named))])
    rows: dict[int, list[int]] = {}
    for i in np.flatnonzero(cells.column == column).tolist():
        rows.setdefault(int(cells.row[i]), []).append(i)
    run: list[int] = []
    name: tuple[str, str] | None = None
    seen: dict[str, int] = {}

    def finish() -> Iterator[FrameRows]:
        if name is None or len(run) < alone:
            return
        again = seen[name[0]] = seen.get(name[0], 0) + 1
        id_ = name[0] if again == 1 else f"{name[0]}#{again}"
        spread = cells.row[run]
        yield FrameRows(id_, kind, name[1], tuple(run), column, int(spread.min()), int(spread.max()), depth)

    for r in sorted(rows):
        here = {named.get(i) for i in rows[r]}
        of = next(iter(here)) if len(here) == 1 else None
        if of != name or of is None:
            yield from finish()
            run, name = [], of
        if of is not None:
            run += rows[r]
    yield from finish()

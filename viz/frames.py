"""Which boxes belong together: layers, repetitions, sub-blocks and recomputed segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradtool.engine import names
from gradtool.engine.view import FORWARD, OP, NodeView

from .cells import GUTTERS, RECOMPUTED, Cells
from .scene import Frame


@dataclass(frozen=True, slots=True)
class Group:
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


def groups(cells: Cells, blocks: dict[int, tuple[int, str]], tensors: dict[int, str]) -> list[Group]:
    """The frames of a picture, outer ones first.

    Args:
        blocks: index of a block -> that of the block around it, and its title.
        tensors: operator -> name of a tensor that it writes, for recomputed operators.
    """
    found = [
        *_blocks(cells, blocks),
        *_runs(cells, _repetitions(cells), "repeat", 8),
        *_runs(cells, _scopes(cells), "layer", 9),
        *_segments(cells, tensors),
    ]
    return sorted(found, key=lambda g: (g.depth, g.column, g.first))


def framed(group: Group, cells: Cells, x: float, y: float, width: float, height: float) -> Frame:
    return Frame(
        group.id, group.kind, group.title, x, y, width, height, tuple(cells.nodes[i].id for i in group.members)
    )


def _blocks(cells: Cells, blocks: dict[int, tuple[int, str]]) -> Iterator[Group]:
    if not blocks:
        return
    gutters = {n for n, c in enumerate(cells.columns) if c in GUTTERS}
    inside: dict[tuple[int, int], list[int]] = {}
    for i, node in enumerate(cells.nodes):
        block, column = node.block, int(cells.column[i])
        while block in blocks and column not in gutters:
            inside.setdefault((block, column), []).append(i)
            block = blocks[block][0]
    for (block, column), members in inside.items():
        rows = cells.row[members]
        depth, outer = 0, blocks[block][0]
        while outer in blocks:
            depth, outer = depth + 1, blocks[outer][0]
        first, last = int(rows.min()), int(rows.max())
        if _alone(cells, column, first, last, members):
            yield Group(f"block:{block}", "block", blocks[block][1], tuple(members), column, first, last, depth)


def _alone(cells: Cells, column: int, first: int, last: int, members: list[int]) -> bool:
    lanes = cells.lane[members]
    here = (cells.column == column) & (cells.row >= first) & (cells.row <= last)
    here &= (cells.lane >= lanes.min()) & (cells.lane <= lanes.max())
    return int(here.sum()) == len(members)


def _forward_ops(cells: Cells) -> list[int]:
    if FORWARD not in cells.columns:
        return []
    here = np.flatnonzero(cells.column == cells.columns.index(FORWARD)).tolist()
    return [i for i in here if cells.nodes[i].kind == OP]


def _scopes(cells: Cells) -> dict[int, tuple[str, str]]:
    """Forward operators -> the layer that they stand in, and its title."""
    scopes = {i: cells.nodes[i].scope for i in _forward_ops(cells) if not _whole_layer(cells.nodes[i])}
    return {i: (f"layer:{scope}", scope) for i, scope in scopes.items() if scope}


def _whole_layer(node: NodeView) -> bool:
    """Whether the node itself is a layer, folded."""
    return bool(node.members) and node.name == node.scope


def _repetitions(cells: Cells) -> dict[int, tuple[str, str]]:
    repeated = [i for i in _forward_ops(cells) if cells.nodes[i].count > 1]
    return {i: (f"repeat:{cells.nodes[i].count}", f"×{cells.nodes[i].count}") for i in repeated}


def _segments(cells: Cells, tensors: dict[int, str]) -> Iterator[Group]:
    if RECOMPUTED not in cells.columns:
        return
    column = cells.columns.index(RECOMPUTED)
    found = {}
    for i in np.flatnonzero(cells.column == column).tolist():
        number = names.segment(tensors.get(i, ""))
        if number is not None:
            found[i] = (f"segment:{number}", f"recomputed {number}")
    yield from _runs(cells, found, "segment", 9, alone=1)


def _runs(cells: Cells, named: dict[int, tuple[str, str]], kind: str, depth: int, alone: int = 2) -> Iterator[Group]:
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

    def finished() -> Iterator[Group]:
        if name is None or len(run) < alone:
            return
        again = seen[name[0]] = seen.get(name[0], 0) + 1
        id_ = name[0] if again == 1 else f"{name[0]}#{again}"
        spread = cells.row[run]
        yield Group(id_, kind, name[1], tuple(run), column, int(spread.min()), int(spread.max()), depth)

    for r in sorted(rows):
        here = {named.get(i) for i in rows[r]}
        of = next(iter(here)) if len(here) == 1 else None
        if of != name or of is None:
            yield from finished()
            run, name = [], of
        if of is not None:
            run += rows[r]
    yield from finished()

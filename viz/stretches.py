"""Stretches of a long page: rows or layers that follow each other, in parts of about one size.

Where a graph has no layers, or a layer holds hundreds, nothing else makes an overview of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from gradtool.engine.view.graph import FORWARD, OP, GraphView

from .layers import LayerRows
from .mirror.scene import Scene
from .repeats import repetitions

MOST: Final = 150
"""Rows and layers side by side that are looked through as they are."""

PARTS: Final = 50
"""So many parts are made of more."""

LEAST: Final = 8
"""Rows or layers that a part is worth."""

_NUMBERED: Final = re.compile(r"(.*[.\[])(\d+)(\]?)")


class _Unit(NamedTuple):
    """A row, or a frame with all its rows.

    Attributes:
        is_start: whether a part may begin here: it is not within one of several blocks that are built alike.
    """

    first: int
    last: int
    title: str
    is_start: bool = True


def stretches(scene: Scene, frames: Iterable[tuple[int, int, str]]) -> list[LayerRows]:
    """The parts of whatever holds too many rows or frames side by side, outer ones first.

    Args:
        frames: first row, last row and title of what can be collapsed already.
    """
    crowded = [units for units in _side_by_side(scene, frames) if len(units) > MOST]
    parts: list[LayerRows] = []
    while crowded:
        units = crowded.pop()
        for part in (p for p in _parts(units) if len(p) > 1):
            number = len(parts)
            parts.append(LayerRows(f"stretch:{number}", _title(part), part[0].first, part[-1].last, 0))
            if len(part) > MOST:
                crowded.append(part)
    return sorted(parts, key=lambda p: (p.first, -p.last))


def _side_by_side(scene: Scene, frames: Iterable[tuple[int, int, str]]) -> Iterator[list[_Unit]]:
    """Return what stands side by side in the whole graph, and in each frame, from top to bottom."""
    rows = _rows(scene)
    waiting = sorted(frames, key=lambda f: (f[0], -f[1]), reverse=True)
    around: list[tuple[int, int, str]] = []
    held: list[list[_Unit]] = [[]]

    def end_stretch() -> list[_Unit]:
        held[-2].append(_Unit(*around.pop()))
        return held.pop()

    for row in rows:
        while around and around[-1][1] < row.first:
            yield end_stretch()
        while waiting and waiting[-1][0] <= row.first:
            frame = waiting.pop()
            # Frames of other columns may begin in one frame and end in the next; these are no parts of either.
            if frame[1] >= row.first and (not around or frame[1] <= around[-1][1]):
                around.append(frame)
                held.append([])
        held[-1].append(row)
    while around:
        yield end_stretch()
    yield held[0]


def _rows(scene: Scene) -> list[_Unit]:
    """The rows of forward operators."""
    by_id = scene.view.by_id()
    names: dict[int, str] = {}
    for box in scene.boxes:
        node = by_id[box.node]
        if node.kind == OP and node.part == FORWARD:
            names.setdefault(box.row, node.name)
    inside = _block_repetitions(scene.view) if len(names) > MOST else set()
    return [_Unit(row, row, names[row], names[row] not in inside) for row in sorted(names)]


def _block_repetitions(view: GraphView) -> set[str]:
    """The operators in blocks that follow each other and are built alike, but the first of each block."""
    ops = [i for i, n in enumerate(view.nodes) if n.kind == OP and n.part == FORWARD]
    inside: set[str] = set()
    for start, length, times in repetitions(view, ops):
        block = ops[start : start + length * times]
        inside.update(view.nodes[op].name for i, op in enumerate(block) if i % length)
    return inside


def _parts(units: Sequence[_Unit]) -> Iterator[list[_Unit]]:
    """About :data:`PARTS` parts that begin where blocks begin, as far as these are shorter than a part."""
    size = max(LEAST, -(-len(units) // PARTS))
    start = 0
    while start < len(units):
        end = start + size
        usual = end
        while end < len(units) and end < usual + size and not units[end].is_start:
            end += 1
        if end == usual + size:
            end = usual
        yield list(units[start:end])
        start = end


def _title(part: Sequence[_Unit]) -> str:
    """``blocks.0…13``; of what is not numbered so, the first name."""
    first, last = (_NUMBERED.fullmatch(unit.title) for unit in (part[0], part[-1]))
    if len(part) == 1:
        return part[0].title
    if first is None or last is None or first[1] != last[1] or part[0].first == part[0].last:
        return f"{part[0].title} …"
    return f"{first[1]}{first[2]}…{last[2]}{last[3]}"

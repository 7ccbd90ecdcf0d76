"""Layers as ranges of rows, from the names of scopes: what can be collapsed beside the frames of a scene."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import FORWARD, OP

from .mirror.scene import Scene


@dataclass(frozen=True, slots=True)
class LayerRows:
    """Rows of one layer.

    Attributes:
        id: ``layer:encoder.0``; with ``#2`` where the layer is called a second time.
        title: ``encoder.0``.
        first, last: its rows.
        depth: how many layers lie around it.
    """

    id: str
    title: str
    first: int
    last: int
    depth: int


def layers(scene: Scene) -> list[LayerRows]:
    """The layers of a scene, outer ones first.

    A row without a scope, such as that of an activation between two layers, belongs to what the rows around it share. A
    layer that is all there is, or has the same rows as the one around it, is left out.
    """
    rows, scopes = _scopes(scene)
    boxes: list[LayerRows] = []
    spans = {(0, len(rows) - 1)}
    depth = [0] * len(rows)
    seen: dict[str, int] = {}
    for level in range(max(map(len, scopes), default=0)):
        for start, end in _runs([path[level] if len(path) > level else "" for path in scopes]):
            if start == end or (start, end) in spans:
                continue
            spans.add((start, end))
            title = scopes[start][level]
            again = seen[title] = seen.get(title, 0) + 1
            id_ = f"layer:{title}" if again == 1 else f"layer:{title}#{again}"
            boxes.append(LayerRows(id_, title, rows[start], rows[end], depth[start]))
            for i in range(start, end + 1):
                depth[i] += 1
    return boxes


Path = tuple[str, ...]
"""``("encoder", "encoder.0", "encoder.0.linear")``: a layer and those around it, the outermost first."""


def _path(scope: str) -> Path:
    return (*(scope[: m.start()] for m in re.finditer("[./]", scope)), scope)


def _scopes(scene: Scene) -> tuple[list[int], list[Path]]:
    """The rows of forward operators from top to bottom, and the path of each."""
    by_id = scene.view.by_id()
    of_row: dict[int, Path] = {}
    for box in scene.boxes:
        node = by_id[box.node]
        if node.kind == OP and node.part == FORWARD:
            path = _path(node.scope) if node.scope else ()
            before = of_row.get(box.row) or path
            of_row[box.row] = _common_path(before, path) if path else before
    rows = sorted(of_row)
    return rows, _fill([of_row[r] for r in rows])


def _fill(paths: Sequence[Path]) -> list[Path]:
    """Rows without a path get what the nearest rows with one, above and below, share."""
    below: list[Path] = []
    nearest: Path = ()
    for path in reversed(paths):
        nearest = path or nearest
        below.append(nearest)
    whole = []
    nearest = ()
    for path, under in zip(paths, reversed(below), strict=True):
        nearest = path or nearest
        whole.append(path or _common_path(nearest, under))
    return whole


def _common_path(a: Path, b: Path) -> Path:
    return tuple(x for x, y in zip(a, b, strict=False) if x == y)


def _runs(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last of every run of equal names that are not empty."""
    start = 0
    for i in range(1, len(names) + 1):
        if i == len(names) or names[i] != names[start]:
            if names[start]:
                yield start, i - 1
            start = i

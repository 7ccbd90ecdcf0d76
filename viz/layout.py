"""The mirror layout: forward and backward side by side, each gradient operator across from what it differentiates.

``cells.py`` says which row and lane a node stands in, ``tracks.py`` which way an edge takes; here both become pixels.
Graphviz needs minutes for a program of some hundred operators, because every saved tensor spans the whole depth of its
ranking; this takes milliseconds, and no edge runs through a box because edges have streets of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.collector import paused_gc
from gradtool.engine.view import BACKWARD, BOTH, FOLDED, OP, EdgeView, GraphView, NodeView

from . import frames
from .cells import GUTTERS, RECOMPUTED, place
from .lanes import Ints
from .scene import GRADIENT, SAVED, SHAPE, VALUE, Box, Frame, Label, Route, Scene
from .style import ROLES, role_of
from .text import ADVANCE, cells, fitted, printable, shortened
from .tracks import ALLEY, ALONG, AROUND, DOWN, STREET, find_ways

Floats = NDArray[np.float64]

LARGE: Final = 11.0
SMALL: Final = 9.0
"""Sizes of the font: names, and everything else."""

LONGEST: Final = 34
"""Columns of a name that a box shows; the whole name is in its tooltip."""

_PAD = 9.0
_BOX = 40.0
_GUTTER_BOX = 32.0
_PITCH = 38.0
_MARGIN = 16.0
_TRACK = 6.0
_STRIP = 14.0
_PORT_DOWN = 8.0
_PORT_ALONG = 5.0
_LABEL = 24
"""Columns of a text beside an edge."""
_FRAME = 9.0
_TITLE = 14.0

# What Box._make does, without a call of Python's for each.
_BOX_OF: Callable[[Iterable[object]], Box] = partial(tuple.__new__, Box)
_ROUTE_OF: Callable[[Iterable[object]], Route] = partial(tuple.__new__, Route)
_LABEL_OF: Callable[[Iterable[object]], Label] = partial(tuple.__new__, Label)


def mirror(view: GraphView, *, notes: Mapping[str, str] | None = None) -> Scene:
    """Places for everything that a picture of *view* shows. The same view gives the same scene, every time.

    Args:
        notes: node -> what its box says besides what the view knows, such as a norm.
    """
    with paused_gc():
        return _Layout(view, notes or {}).scene()


@dataclass(frozen=True, slots=True)
class _Band:
    """Where lanes and streets lie, or rows and alleys: *start* and *size* of each."""

    start: Floats
    size: Floats
    gap_start: Floats
    gap_size: Floats

    @classmethod
    def of(cls, sizes: Floats, gaps: Floats) -> _Band:
        """Gap, size, gap, size, …, gap from 0 on."""
        both = np.zeros(len(sizes) + len(gaps))
        both[0::2], both[1::2] = gaps, sizes
        starts = np.concatenate([[0.0], np.cumsum(both)])
        return cls(starts[1:-1:2], sizes, starts[0:-1:2], gaps)

    @property
    def middle(self) -> Floats:
        return self.start + self.size / 2

    @property
    def end(self) -> float:
        return float(self.gap_start[-1] + self.gap_size[-1])


class _Layout:
    def __init__(self, view: GraphView, notes: Mapping[str, str]) -> None:
        self.view = view
        self.cells = c = place(view)
        self.shown = [view.edges[i] for i in c.edges.tolist()]
        self.by_id = view.by_id()
        tensors = [self.by_id[e.tensor] for e in self.shown]
        self.tensors = tensors
        number: dict[tuple[str, str], int] = {}
        self.kinds = [_kind(e, t) for e, t in zip(self.shown, tensors, strict=True)]
        net = np.array([number.setdefault((e.source, e.tensor), len(number)) for e in self.shown], dtype=np.int64)
        gutter = np.array([name in GUTTERS for name in c.columns], dtype=bool)
        self.gutter = gutter[c.column] if len(c.nodes) else np.zeros(0, dtype=bool)
        same = c.column[c.source] == c.column[c.target]
        self.ways = find_ways(c, net, same & ~self.gutter[c.source] & ~self.gutter[c.target])
        # Almost all programs have names of plain characters, which need not be looked at one by one.
        plain = "".join([t for n in view.nodes for t in (n.name, n.scope, n.source)])
        self.texts_of = _Texts(plain.isascii() and plain.isprintable(), view.part != BOTH)
        self.lines = [self.texts_of.lines(n, notes.get(n.id, "")) for n in c.nodes]

    def scene(self) -> Scene:
        if not self.cells.nodes:
            return Scene(self.view, (), (), (), 0.0, 0.0)
        self.groups = self._groups()
        self._measure()
        boxes = self._boxes()
        routes = self._routes()
        drawn = tuple(self._frames())
        return Scene(self.view, boxes, routes, drawn, self.across.end, self.down.end)

    # -- sizes --------------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        c, w = self.cells, self.ways
        rows, lanes = int(c.row.max()) + 1, len(c.lanes)
        text = ADVANCE * np.maximum(
            np.array([self.texts_of.columns(a) for a, _ in self.lines]) * LARGE,
            np.array([self.texts_of.columns(b) for _, b in self.lines]) * SMALL,
        )
        width = np.zeros(lanes)
        np.maximum.at(width, c.lane, np.ceil(text + 2 * _PAD))
        self._name_edges()
        np.maximum.at(width, c.lane, self.label_needs)
        height = np.full(rows, _BOX)
        self.stack = np.zeros(rows, dtype=np.int64)
        np.maximum.at(self.stack, c.row[self.gutter], c.slot[self.gutter] + 1)
        height = np.maximum(height, self.stack * _PITCH - (_PITCH - _GUTTER_BOX))

        streets = 2 * _MARGIN + np.maximum(w.streets - 1, 0) * _TRACK
        streets = streets + self.zone
        alleys = np.where(w.alleys > 0, w.alleys * _TRACK + 14.0, 22.0)
        self.strip = np.zeros(rows + 1)
        self.strip[self.label_alleys] = _STRIP
        alleys = alleys + np.where(self.strip > 0, np.maximum(0.0, self.strip + 4 - np.where(w.alleys > 0, 0, 18)), 0)
        self.roof, self.floor = np.zeros(rows + 1), np.zeros(rows + 1)
        for column in range(len(c.columns)):
            roof, floor = np.zeros(rows + 1), np.zeros(rows + 1)
            for g in self.groups:
                if g.column == column:
                    roof[g.first] += _TITLE + 4
                    floor[g.last + 1] += _FRAME
            self.roof, self.floor = np.maximum(self.roof, roof), np.maximum(self.floor, floor)
        alleys = alleys + self.roof + self.floor
        alleys[0] = max(alleys[0] - 22.0, 0.0) + _MARGIN
        alleys[-1] = max(alleys[-1], _MARGIN)
        self.across = _Band.of(width, streets)
        self.down = _Band.of(height, alleys)

    def _boxes(self) -> tuple[Box, ...]:
        c = self.cells
        row_top, row_height = self.down.start[c.row], self.down.size[c.row]
        stack = self.stack[c.row] * _PITCH - (_PITCH - _GUTTER_BOX)
        y = np.where(self.gutter, row_top + (row_height - stack) / 2 + c.slot * _PITCH, row_top)
        height = np.where(self.gutter, _GUTTER_BOX, _BOX)
        # What has straight edges from or to boxes in a gutter is as high as they are.
        w, middle = self.ways, row_top + row_height / 2
        for op, box in ((c.source, c.target), (c.target, c.source)):
            e = np.flatnonzero((w.kind == ALONG) & self.gutter[box] & ~self.gutter[op])
            np.maximum.at(height, op[e], 2 * np.abs(y[box[e]] + _GUTTER_BOX / 2 - middle[op[e]]) + _GUTTER_BOX)
        y = np.where(self.gutter, y, middle - height / 2)
        self.box_height = height
        x, width = self.across.start[c.lane], self.across.size[c.lane]
        self.box_middle = y + height / 2
        names = [c.columns[k] for k in c.column.tolist()]
        values = (x.tolist(), y.tolist(), width.tolist(), height.tolist(), self.lines, c.row.tolist(), names)
        return tuple(map(_BOX_OF, zip((n.id for n in c.nodes), *values, strict=True)))

    # -- edges --------------------------------------------------------------------------------------------------------

    def _name_edges(self) -> None:
        """Text for edges that run straight and have room beside them."""
        c, w = self.cells, self.ways
        a, b = c.source, c.target
        down, count = w.kind == DOWN, len(c.nodes)
        ports = np.zeros(count)
        bent = w.kind == ALLEY
        np.maximum.at(ports, a[bent], np.minimum(w.leaves_at[bent], 9))
        between = (w.kind == ALONG) & ~self.gutter[a] & ~self.gutter[b]
        # Of parallel edges the one farthest to the right, or at the top, has the text.
        order = np.flatnonzero(down | between)
        order = order[np.argsort(np.where(down, w.leaves_at, -w.leaves_at)[order], kind="stable")]
        last = np.unique((a[order] * count + b[order])[::-1], return_index=True)[1]
        named = np.sort(order[len(order) - 1 - last])
        self.shift = 5 + _PORT_DOWN * (ports[a] + np.abs(w.leaves_at))
        self.label_needs, self.zone = np.zeros(count), np.zeros(len(c.lanes) + 1)
        self.texts: dict[int, str] = {}
        tensors, shown, low = self.tensors, self.shown, down.tolist()
        for e in named.tolist():
            if low[e] or shown[e].tensor not in (shown[e].source, shown[e].target):
                self.texts[e] = self.texts_of.edge(tensors[e], shown[e].count, shaped=low[e])
        at = np.array(list(self.texts), dtype=np.int64)
        wide = np.array([self.texts_of.columns(t) for t in self.texts.values()]) * SMALL * ADVANCE
        along = ~down[at]
        np.maximum.at(self.label_needs, a[at[~along]], 2 * (self.shift[at[~along]] + wide[~along] - 8))
        lanes = np.minimum(c.lane[a[at[along]]], c.lane[b[at[along]]])
        np.maximum.at(self.zone, lanes + 1, wide[along] + 2)
        self.label_alleys = np.unique(self._label_alley(at[~along]))

    def _label_alley(self, e: Ints) -> Ints:
        source, target = self.cells.row[self.cells.source[e]], self.cells.row[self.cells.target[e]]
        return np.where(target > source, source + 1, source)

    def _labels(self, x0: Floats, y0: Floats, x1: Floats) -> dict[int, Label]:
        """The texts with their places: beside an edge that goes down, on top of one that goes along a row."""
        at = np.array(list(self.texts), dtype=np.int64)
        down = self.ways.kind[at] == DOWN
        alley = self._label_alley(at)
        low = self.down.gap_start[alley] + self.floor[alley] + SMALL + 4
        middle = self.across.middle[self.cells.lane[self.cells.source[at]]] + self.shift[at]
        x = np.where(down, middle, np.minimum(x0, x1)[at] + 6)
        y = np.where(down, low, y0[at] - 3)
        made = zip(self.texts.values(), x.tolist(), y.tolist(), ["start"] * len(at), strict=True)
        return dict(zip(self.texts, map(_LABEL_OF, made), strict=True))

    def _routes(self) -> tuple[Route, ...]:
        c, w = self.cells, self.ways
        a, b = c.source, c.target
        across, down = self.across, self.down
        ca, cb = c.lane[a], c.lane[b]
        ends = []
        for at, lane, side, port in ((a, ca, w.leaves, w.leaves_at), (b, cb, w.enters, w.enters_at)):
            left, wide = across.start[lane], across.size[lane]
            vertical = (w.kind == DOWN) | (w.kind == ALLEY)
            steps = np.clip(port, -9, 9) * _PORT_DOWN
            x = np.where(
                vertical, left + wide / 2 + np.clip(steps, 6 - wide / 2, wide / 2 - 6), left + wide * (side > 0)
            )
            edge = self.box_middle[at] + self.box_height[at] / 2 * side
            y = np.where(vertical, edge, self.box_middle[at] + np.clip(port, -3, 3) * _PORT_ALONG)
            ends.append((x, y))
        (x0, y0), (x1, y1) = ends
        # Straight ways along a row are as high as the box in the gutter, if one end is there.
        along = w.kind == ALONG
        flat = np.where(self.gutter[a], self.box_middle[a], self.box_middle[b]) + w.leaves_at * _PORT_ALONG
        y0, y1 = np.where(along, flat, y0), np.where(along, flat, y1)
        u, v = self._street_x(w.street, w.street_track), self._street_x(w.other, w.other_track)
        m = down.gap_start[w.alley] + self.floor[w.alley] + np.where(w.alley == 0, 4.0, 0.0)
        m = m + np.where(self.strip[w.alley] > 0, _STRIP, 4.0) + 4 + w.alley_track * _TRACK
        corners = {
            DOWN: (),
            ALONG: (),
            ALLEY: ((x0, m), (x1, m)),
            STREET: ((u, y0), (u, y1)),
            AROUND: ((u, y0), (u, m), (v, m), (v, y1)),
        }
        points: list[tuple[tuple[float, float], ...]] = [()] * len(a)
        for kind, inner in corners.items():
            of = np.flatnonzero(w.kind == kind)
            path = [(x0, y0), *inner, (x1, y1)]
            made = zip(*(zip(x[of].tolist(), y[of].tolist(), strict=True) for x, y in path), strict=True)
            for e, found in zip(of.tolist(), made, strict=True):
                points[e] = found
        labels = self._labels(x0, y0, x1)
        parts = zip(c.edges.tolist(), points, self.kinds, map(labels.get, range(len(a))), strict=True)
        return tuple(map(_ROUTE_OF, parts))

    def _street_x(self, street: Ints, track: Ints) -> Floats:
        """Inner tracks lie at the lane that uses them: in the forward column to the left, elsewhere to the right."""
        c = self.cells
        column = np.append(c.lanes, -1)[street]
        downwards = [n for n, name in enumerate(c.columns) if name not in GUTTERS and not c.up[n]]
        reverse = np.isin(column, downwards) | (street == 0)
        start, size = self.across.gap_start[street], self.across.gap_size[street]
        return np.where(
            reverse, start + size - _MARGIN - track * _TRACK, start + self.zone[street] + _MARGIN + track * _TRACK
        )

    # -- frames -------------------------------------------------------------------------------------------------------

    def _groups(self) -> list[frames.Group]:
        blocks = {b.index: (b.parent, f"block {b.index} of {printable(b.owner)}") for b in self.view.blocks}
        tensors: dict[int, str] = {}
        if RECOMPUTED in self.cells.columns:
            for e, source in zip(self.shown, self.cells.source.tolist(), strict=True):
                tensors.setdefault(source, self.by_id[e.tensor].name)
        return frames.groups(self.cells, blocks, tensors)

    def _frames(self) -> list[Frame]:
        c = self.cells
        found = []
        for g in self.groups:
            inner = sum(1 for o in self.groups if o.column == g.column and o.first >= g.first and o.last <= g.last) - 1
            lanes = np.unique(c.lane[list(g.members)])
            pad = 6.0 + 3 * min(inner, 2)
            x = float(self.across.start[lanes[0]]) - pad
            right = float(self.across.start[lanes[-1]] + self.across.size[lanes[-1]]) + pad
            above = sum(1 for o in self.groups if o.column == g.column and o.first == g.first and o.last < g.last)
            below = sum(1 for o in self.groups if o.column == g.column and o.last == g.last and o.first > g.first)
            y = float(self.down.start[g.first]) - _TITLE - 2 - above * (_TITLE + 4)
            bottom = float(self.down.start[g.last] + self.down.size[g.last]) + 5 + below * _FRAME
            found.append(frames.framed(g, c, x, y, right - x, bottom - y))
        return found


def _kind(edge: EdgeView, tensor: NodeView) -> str:
    if edge.saved or edge.shape_only:
        return SAVED if edge.saved else SHAPE
    return GRADIENT if tensor.part == BACKWARD else VALUE


class _Texts:
    """What boxes and edges say.

    Args:
        plain: whether all names are of characters that take one column each.
        alone: whether one part is drawn; then an operator names its partner in the other.
    """

    def __init__(self, plain: bool, alone: bool) -> None:
        self.plain = plain
        self.alone = alone
        self.fit = shortened if plain else fitted
        self.columns: Callable[[str], int] = len if plain else cells
        self.letters = {role: style.letter for role, style in ROLES.items()}
        self.shapes: dict[tuple[int, ...] | None, str] = {}

    def lines(self, node: NodeView, note: str) -> tuple[str, str]:
        times = f" ×{node.count}" if node.count > 1 else ""
        name = f"{self.letters[role_of(node)]} {self.fit(node.name, LONGEST - len(times))}{times}"
        if node.members and (node.shape is None if node.kind != OP else node.type == FOLDED):
            each = len(node.members) // node.count
            facts = f"{each} {'operators' if node.kind == OP else 'tensors'}" + (" each" if times else "")
            return name, f"{note} · {facts}" if note else facts
        if node.kind != OP:
            return name, self.fit(f"{note} · {node.spec}" if note else node.spec, LONGEST + 6)
        facts = f"{note} · {node.id}" if note else node.id
        if self.alone and node.pair is not None:
            facts = f"{facts} · ↔ {node.pair}"
        if node.scope:
            room = LONGEST + 6 - len(facts) - len(node.source) - 6
            scope = node.scope if len(node.scope) <= room else node.scope.rpartition(".")[2]
            facts = f"{facts} · {scope}" if len(scope) <= room else facts
        if node.source:
            facts = f"{facts} · {node.source}"
        return name, self.fit(facts, LONGEST + 6)

    def edge(self, tensor: NodeView, count: int, *, shaped: bool) -> str:
        """Name, and if *shaped* the shape, as far as there is room, the shape first of all."""
        if count > 1:
            return f"{count} values"
        if not shaped:
            return self.fit(tensor.name, _LABEL)
        shape = self.shapes.get(tensor.shape)
        if shape is None:
            dims = "×".join("?" if d < 0 else str(d) for d in tensor.shape) if tensor.shape else "[]"
            shape = self.shapes[tensor.shape] = shortened(dims, _LABEL)
        name = self.fit(tensor.name, max(_LABEL - len(shape) - 1, 1))
        return f"{name} {shape}" if len(name) > 4 or name == tensor.name else shape

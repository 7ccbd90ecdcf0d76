"""The mirror layout: forward and backward side by side, each gradient operator across from what it differentiates.

``cells.py`` says which row and lane a node stands in, ``tracks.py`` which way an edge takes; here both become pixels.
Graphviz needs minutes for a program of some hundred operators, because every saved tensor spans the whole depth of its
ranking; this takes milliseconds, and no edge runs through a box because edges have streets of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from gradtool.engine.core.collector import pause_gc
from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import GraphView

from ..text import ADVANCE, printable
from . import frames
from .captions import Captions
from .cells import place
from .columns import GUTTERS, RECOMPUTED
from .lanes import distinct
from .picture_arrays import DrawnGraph, Ints, number_values
from .scene import CUT, GRADIENT, KINDS, SAVED, SHAPE, VALUE, Boxes, Floats, Frame, Routes, Scene
from .tracks import ALLEY, ALONG, DOWN, STREET, find_ways

LARGE: Final = 11.0
SMALL: Final = 9.0
"""Sizes of the font: names, and everything else."""

_PAD = 9.0
_BOX = 40.0
_GUTTER_BOX = 32.0
_PITCH = 38.0
_MARGIN = 16.0
_TRACK = 6.0
_STRIP = 14.0
_PORT_DOWN = 8.0
_PORT_ALONG = 5.0
_POINTS = np.array([2, 2, 4, 4, 6])
"""Points of a line, by the way that it takes: from ``DOWN`` to ``AROUND``."""
_FRAME = 9.0
_TITLE = 14.0
_SIGN = 8.0
"""How far the sign of a cut reaches to the side of its line."""


def mirror(view: GraphView, *, notes: Mapping[str, str] | None = None) -> Scene:
    """Places for everything that a picture of *view* shows. The same view gives the same scene, every time.

    Args:
        notes: node -> what its box says besides what the view knows, such as a norm.
    """
    with pause_gc():
        return _Layout(view, notes or {}).scene() if view.shown.any() else _empty_scene(view)


def _empty_scene(view: GraphView) -> Scene:
    lengths, numbers = np.zeros(0), np.zeros(0, dtype=np.int64)
    boxes = Boxes((), lengths, lengths, lengths, lengths, (), (), numbers, numbers, ())
    routes = Routes(numbers, numbers, np.zeros(1, dtype=np.int64), lengths, lengths, numbers, (), lengths, lengths)
    return Scene(view, boxes, routes, (), 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Band:
    """Places of lanes and streets, or of rows and alleys: *start* and *size* of each."""

    start: Floats
    size: Floats
    gap_start: Floats
    gap_size: Floats

    @classmethod
    def lay_out(cls, sizes: Floats, gaps: Floats) -> _Band:
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
        self.drawn = d = c.drawn
        self.gutter = gutter = c.gutter_mask()
        net = number_values((d.source * len(view.nodes) + d.tensor).tolist(), len(d.edges))[0]
        flows = (c.column[d.source] == c.column[d.target]) & ~gutter[d.source] & ~gutter[d.target]
        self.ways = find_ways(c, net, flows)
        self.captions = Captions(view, d.nodes, notes)

    def scene(self) -> Scene:
        self.names, self.facts = self.captions.names(self.drawn.nodes), self.captions.facts(self.drawn.nodes)
        self.groups = self._groups()
        self._measure()
        boxes = self._boxes()
        routes = self._routes()
        return Scene(self.view, boxes, routes, tuple(self._frames()), self.across.end, self.down.end)

    # -- sizes --------------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        c, w = self.cells, self.ways
        rows, lanes = int(c.row.max()) + 1, len(c.lanes)
        text = ADVANCE * np.maximum(
            np.array(self.captions.columns(self.names)) * LARGE, np.array(self.captions.columns(self.facts)) * SMALL
        )
        width = np.zeros(lanes)
        np.maximum.at(width, c.lane, np.ceil(text + 2 * _PAD))
        self._name_edges()
        np.maximum.at(width, c.lane, self.label_needs)
        height = self._measure_rows(rows)

        streets = 2 * _MARGIN + np.maximum(w.streets - 1, 0) * _TRACK
        streets = streets + self.zone
        alleys = np.where(w.alleys > 0, w.alleys * _TRACK + 14.0, 22.0)
        self.strip = np.zeros(rows + 1)
        self.strip[self.label_alleys] = _STRIP
        alleys = alleys + np.where(self.strip > 0, np.maximum(0.0, self.strip + 4 - np.where(w.alleys > 0, 0, 18)), 0)
        self.roof, self.floor = np.zeros(rows + 1), np.zeros(rows + 1)
        in_columns: dict[int, list[frames.FrameRows]] = {}
        for g in self.groups:
            in_columns.setdefault(g.column, []).append(g)
        for groups in in_columns.values():
            roof, floor = np.zeros(rows + 1), np.zeros(rows + 1)
            for g in groups:
                roof[g.first] += _TITLE + 4
                floor[g.last + 1] += _FRAME
            self.roof, self.floor = np.maximum(self.roof, roof), np.maximum(self.floor, floor)
        alleys = alleys + self.roof + self.floor
        alleys[0] = max(alleys[0] - 22.0, 0.0) + _MARGIN
        alleys[-1] = max(alleys[-1], _MARGIN)
        self.across = _Band.lay_out(width, streets)
        self.down = _Band.lay_out(height, alleys)

    def _measure_rows(self, rows: int) -> Floats:
        """The height of each row, and where in it the middle of its operators lies.

        Beside the boxes in a gutter that have straight lines to an operator stand others, of operators further inside:
        these hang below, so that no operator is as high as what its neighbours read.
        """
        c, d = self.cells, self.drawn
        along = self.ways.kind == ALONG
        stack, own = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        np.maximum.at(stack, c.row[self.gutter], c.slot[self.gutter] + 1)
        for box in (d.source[along], d.target[along]):
            inside = box[self.gutter[box]]
            np.maximum.at(own, c.row[inside], c.slot[inside] + 1)
        own = np.where(own > 0, own, stack)
        self.stack, whole = _stack_height(own), _stack_height(stack)
        self.axis = np.maximum(_BOX, self.stack) / 2
        return self.axis + np.maximum(self.axis, whole - self.stack / 2)

    def _boxes(self) -> Boxes:
        c, d = self.cells, self.drawn
        middle = self.down.start[c.row] + self.axis[c.row]
        y = np.where(self.gutter, middle - self.stack[c.row] / 2 + c.slot * _PITCH, 0.0)
        height = np.where(self.gutter, _GUTTER_BOX, _BOX)
        # What has straight edges from or to boxes in a gutter is as high as they are.
        w = self.ways
        for op, box in ((d.source, d.target), (d.target, d.source)):
            e = np.flatnonzero((w.kind == ALONG) & self.gutter[box] & ~self.gutter[op])
            np.maximum.at(height, op[e], 2 * np.abs(y[box[e]] + _GUTTER_BOX / 2 - middle[op[e]]) + _GUTTER_BOX)
        y = np.where(self.gutter, y, middle - height / 2)
        self.box_height = height
        x, width = self.across.start[c.lane], self.across.size[c.lane]
        self.box_middle = y + height / 2
        return Boxes(d.nodes, x, y, width, height, self.names, self.facts, c.row, c.column, c.columns)

    # -- edges --------------------------------------------------------------------------------------------------------

    def _name_edges(self) -> None:
        """Text for edges that run straight and have room beside them."""
        c, d, w = self.cells, self.drawn, self.ways
        a, b = d.source, d.target
        down, count = w.kind == DOWN, len(d.nodes)
        ports = np.zeros(count)
        bent = w.kind == ALLEY
        np.maximum.at(ports, a[bent], np.minimum(w.leaves_at[bent], 9))
        between = (w.kind == ALONG) & ~self.gutter[a] & ~self.gutter[b]
        # Of parallel edges the one farthest to the right, or at the top, has the text.
        order = np.flatnonzero(down | between)
        order = order[np.argsort(np.where(down, w.leaves_at, -w.leaves_at)[order], kind="stable")]
        last = distinct((a[order] * count + b[order])[::-1])[1]
        named = np.sort(order[len(order) - 1 - last])
        # What goes along a row to the box of a tensor has its name there.
        places = d.place[d.tensor[named]]
        named = named[down[named] | d.is_cut[named] | ((places != a[named]) & (places != b[named]))]
        self.shift = 5 + _PORT_DOWN * (ports[a] + np.abs(w.leaves_at)) + np.where(d.is_cut, _SIGN, 0.0)
        self.label_needs, self.zone = np.zeros(count), np.zeros(len(c.lanes) + 1)
        edges = self.view.edges
        shown = [edges[e] for e in d.edges[named].tolist()]
        self.named = named
        self.texts = self.captions.edge_texts(d.tensors(named), shown, down[named].tolist())
        wide = np.array(self.captions.columns(self.texts)) * SMALL * ADVANCE
        along = ~down[named]
        low = named[~along]
        np.maximum.at(self.label_needs, a[low], 2 * (self.shift[low] + wide[~along] - 8))
        lanes = np.minimum(c.lane[a[named[along]]], c.lane[b[named[along]]])
        np.maximum.at(self.zone, lanes + 1, wide[along] + 2)
        self.label_alleys = self._label_alley(low)

    def _label_alley(self, e: Ints) -> Ints:
        source, target = self.cells.row[self.drawn.source[e]], self.cells.row[self.drawn.target[e]]
        return np.where(target > source, source + 1, source)

    def _labels(self, x0: Floats, y0: Floats, x1: Floats) -> tuple[Floats, Floats]:
        """Return where the texts start: next to an edge that goes down, on top of one that goes along a row."""
        at = self.named
        down = self.ways.kind[at] == DOWN
        alley = self._label_alley(at)
        low = self.down.gap_start[alley] + self.floor[alley] + SMALL + 4
        middle = self.across.middle[self.cells.lane[self.drawn.source[at]]] + self.shift[at]
        return np.where(down, middle, np.minimum(x0, x1)[at] + 6), np.where(down, low, y0[at] - 3)

    def _routes(self) -> Routes:
        c, d, w = self.cells, self.drawn, self.ways
        a, b = d.source, d.target
        across = self.across
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
        first = np.concatenate([[0], np.cumsum(_POINTS[w.kind])])
        x, y = np.empty(first[-1]), np.empty(first[-1])
        for kind in range(len(_POINTS)):
            of = np.flatnonzero(w.kind == kind)
            start, end = (x0[of], y0[of]), (x1[of], y1[of])
            for k, (px, py) in enumerate([start, *self._corners(kind, of, start, end), end]):
                x[first[of] + k], y[first[of] + k] = px, py
        return Routes(d.edges, _kinds(d), first, x, y, self.named, self.texts, *self._labels(x0, y0, x1))

    def _corners(
        self, kind: int, of: Ints, start: tuple[Floats, Floats], end: tuple[Floats, Floats]
    ) -> list[tuple[Floats, Floats]]:
        """Return where edges that take one kind of way turn."""
        w = self.ways
        (x0, y0), (x1, y1) = start, end
        if kind in (DOWN, ALONG):
            return []
        alley, track = w.alley[of], w.alley_track[of]
        m = self.down.gap_start[alley] + self.floor[alley] + np.where(alley == 0, 4.0, 0.0)
        m = m + np.where(self.strip[alley] > 0, _STRIP, 4.0) + 4 + track * _TRACK
        if kind == ALLEY:
            return [(x0, m), (x1, m)]
        u = self._street_x(w.street[of], w.street_track[of])
        if kind == STREET:
            return [(u, y0), (u, y1)]
        v = self._street_x(w.other[of], w.other_track[of])
        return [(u, y0), (u, m), (v, m), (v, y1)]

    def _street_x(self, street: Ints, track: Ints) -> Floats:
        """Inner tracks lie at the lane that uses them: in the forward column to the left, elsewhere to the right."""
        c = self.cells
        column = np.append(c.lanes, -1)[street]
        downwards = [name not in GUTTERS and not up for name, up in zip(c.columns, c.up.tolist(), strict=True)]
        reverse = np.array([*downwards, False], dtype=bool)[column] | (street == 0)
        start, size = self.across.gap_start[street], self.across.gap_size[street]
        return np.where(
            reverse, start + size - _MARGIN - track * _TRACK, start + self.zone[street] + _MARGIN + track * _TRACK
        )

    # -- frames -------------------------------------------------------------------------------------------------------

    def _groups(self) -> list[frames.FrameRows]:
        blocks = {b.index: (b.parent, f"block {b.index} of {printable(b.owner)}") for b in self.view.blocks}
        tensors: dict[int, str] = {}
        if RECOMPUTED in self.cells.columns:
            everything = np.arange(len(self.drawn.edges))
            for source, tensor in zip(self.drawn.source.tolist(), self.drawn.tensors(everything), strict=True):
                tensors.setdefault(source, tensor.name)
        return frames.groups(self.cells, blocks, tensors)

    def _frames(self) -> list[Frame]:
        c = self.cells
        boxes = []
        for g, nesting in zip(self.groups, frames.nestings(self.groups), strict=True):
            lanes = c.lane[list(g.members)]
            left, last = int(lanes.min()), int(lanes.max())
            pad = 6.0 + 3 * nesting.inside
            x = float(self.across.start[left]) - pad
            right = float(self.across.start[last] + self.across.size[last]) + pad
            y = float(self.down.start[g.first]) - _TITLE - 2 - nesting.above * (_TITLE + 4)
            bottom = float(self.down.start[g.last] + self.down.size[g.last]) + 5 + nesting.below * _FRAME
            boxes.append(frames.make_frame(g, c, x, y, right - x, bottom - y))
        return boxes


def _stack_height(boxes: Ints) -> Floats:
    """Return the height of so many boxes of a gutter, one below the other."""
    return np.where(boxes > 0, boxes * _PITCH - (_PITCH - _GUTTER_BOX), 0.0)


def _kinds(drawn: DrawnGraph) -> Ints:
    """Return what travels along each edge, as positions in ``KINDS``."""
    code = {kind: n for n, kind in enumerate(KINDS)}
    computed = np.where(drawn.of_backward, code[GRADIENT], code[VALUE])
    forward = np.where(drawn.is_cut, code[CUT], computed)
    return np.where(drawn.saved, code[SAVED], np.where(drawn.shape_only, code[SHAPE], forward))

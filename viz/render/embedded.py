"""Data of the HTML page: a scene, and facts about its nodes, in few characters; ``page/graph.mjs`` reads it.

Everything is told in columns of numbers, one for each property: texts stand once and are told by their place among
them, places by how far they lie from something near, and what follows from something else is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.core import names
from gradtool.engine.view.graph import BACKWARD, OP, NodeView

from ..details import Details, format_statistics
from ..layers import layers
from ..legend import Colouring, legend_title, roles
from ..mirror.scene import KINDS, Box, Route, Routes, Scene
from ..stretches import stretches
from ..style import ROLES, NodeStyle, role_of
from ..text import printable, shorten
from .svg import SHAPES

ANCHORS: Final = ("start", "middle", "end")
_SIGN: Final = (26.0, 16.0)
AS_PAIR: Final = -1
"""Instead of the place of a text: what the node's pair has, or what a line usually says."""


def embed(data: Any) -> str:
    """JSON that can stand inside a ``script`` element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda c: f"\\u{ord(c[0]):04x}", text)


_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def data(scene: Scene, details: Details, colouring: Colouring | None) -> dict[str, Any]:
    """Return the data that the script draws."""
    graph = _Graph(scene, details, colouring)
    nodes = _columns(map(graph.node, graph.shown), 9)
    boxes = _columns(map(graph.box, scene.boxes), 11)
    edges, steps = graph.edges(scene)
    return {
        "title": printable(legend_title(scene.view)),
        "width": _number(scene.width),
        "height": _number(scene.height),
        "nodes": nodes,
        "boxes": boxes,
        "edges": edges,
        "steps": steps,
        "frames": _frames(scene),
        "roles": {r: {"letter": s.letter, "meaning": s.meaning, **_look(s)} for r, s in roles(graph.shown)},
        "legend": [_entry(s, colouring) for _, s in roles(scene.boxes.nodes)],
        "colours": [] if colouring is None else [*colouring.entries, (_white(colouring), "#FFFFFF")],
        "ordered": colouring is not None and colouring.ordered,
        "colourTitle": "" if colouring is None else colouring.title,
        "stacks": [[list(call) for call in stack] for stack in graph.stacks],
        "files": {file: {str(n): line for n, line in lines.items()} for file, lines in details.files.items()},
        "values": {i: format_statistics(numbers) for i, numbers in details.values.items() if i in graph.by_id},
        "outlines": graph.outlines(),
        "looks": [list(look) for look in graph.look.all()],
        "words": graph.word.all(),
    }


# -- columns ----------------------------------------------------------------------------------------------------------

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def pack(column: Sequence[float] | Floats) -> str:
    """Numbers as text: ``3 1*5`` is 3 and five times 1. With ``~`` before it, each but the first is a difference.

    Which of the two it is, is what is shorter. Numbers are told to a tenth.
    """
    values = _tenths(column)
    if not len(values):
        return ""
    plain, steps = _Runs(values), _Runs(np.diff(values, prepend=0))
    return str(plain) if len(plain) <= len(steps) + 1 else f"~{steps}"


class _Runs:
    """Tenths as text, equal ones that follow each other together; ``len`` is that of the text."""

    def __init__(self, values: Ints) -> None:
        starts = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
        self._counts = np.diff(starts, append=len(values))
        self._values = values[starts]
        self._whole = not (self._values % 10).any()

    def __len__(self) -> int:
        fractions = 2 * int((self._values % 10 != 0).sum())
        signs = int((self._values < 0).sum())
        runs = self._counts[self._counts > 1]
        between = len(self._values) - 1
        return _digits(np.abs(self._values) // 10) + fractions + signs + _digits(runs) + len(runs) + between

    def __str__(self) -> str:
        texts = map(str, (self._values // 10).tolist()) if self._whole else map(_text, self._values.tolist())
        counts = self._counts.tolist()
        return " ".join([text if n == 1 else f"{text}*{n}" for text, n in zip(texts, counts, strict=True)])


def _digits(numbers: Ints) -> int:
    """Return how many digits it takes to write numbers that are not below 0."""
    return len(numbers) + sum(int((numbers >= 10**n).sum()) for n in range(1, 13))


def _text(tenths: int) -> str:
    whole, rest = divmod(abs(tenths), 10)
    return f"{'-' if tenths < 0 else ''}{whole}{f'.{rest}' if rest else ''}"


def _tenths(values: Any) -> Ints:
    """Numbers in tenths, so that what is rounded adds up."""
    tenths: Ints = np.rint(np.asarray(values, dtype=np.float64) * 10).astype(np.int64)
    return tenths


def _columns(rows: Iterable[Sequence[float]], width: int) -> list[str]:
    table = list(rows)
    return [pack(c) for c in np.array(table, dtype=np.float64).T] if table else [""] * width


def _number(value: float) -> float:
    """To a tenth of a pixel, and without a point where it can be."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


class _Once:
    """Things that come again and again, each once, by their places."""

    def __init__(self, *first: Any) -> None:
        self._places: dict[Any, int] = {}
        for thing in first:
            self(thing)

    def __call__(self, thing: Any) -> int:
        return self._places.setdefault(thing, len(self._places))

    def all(self) -> list[Any]:
        return list(self._places)


class _Graph:
    """The parts of a scene as rows of numbers."""

    def __init__(self, scene: Scene, details: Details, colouring: Colouring | None) -> None:
        view = scene.view
        self.edges_of_view = view.edges
        touched = {n.id for n in scene.boxes.nodes}
        touched.update(view.edges[e].tensor for e in scene.routes.edge.tolist())
        self.shown = [n for n in view.nodes if n.id in touched]
        self.index = {n.id: i for i, n in enumerate(self.shown)}
        self.by_id = {n.id: n for n in self.shown}
        self.colouring = colouring
        self.word, self.outline, self.look = _Once(""), _Once(), _Once()
        self.stack_of = {i: stack for i, stack in details.stacks.items() if i in touched}
        stack = _Once()
        for calls in self.stack_of.values():
            stack(calls)
        self.stack_place, self.stacks = stack, stack.all()
        self.number = {"op": -1, "v": -1}

    def node(self, n: NodeView) -> list[float]:
        pair = self.by_id.get(n.pair) if n.pair is not None else None
        model = pair if n.part == BACKWARD and pair is not None and pair.part != BACKWARD else None
        flags = int(n.kind == OP) + 2 * (n.part == BACKWARD) + 4 * (n.role == "loss")
        look = self.look((self.word(role_of(n)), flags, self.word(n.type)))
        facts = (n.spec, n.source, n.scope)
        of_pair = (None, None, None) if model is None else (model.spec, model.source, model.scope)
        told = [AS_PAIR if a == b and a else self.word(printable(a)) for a, b in zip(facts, of_pair, strict=True)]
        stack = self.stack_place(self.stack_of[n.id]) + 1 if n.id in self.stack_of else 0
        note = self.word(printable(n.note))
        place = 0 if pair is None else self.index[pair.id] + 1
        return [self._id(n), self._name(n, model), look, *told, place, stack, note]

    def _id(self, n: NodeView) -> int:
        """Return how far the number in the id is from that of the id before."""
        kind = "op" if n.kind == OP else "v"
        number = int(n.id.removeprefix(kind))
        step = number - self.number[kind]
        self.number[kind] = number
        return step

    def _name(self, n: NodeView, model: NodeView | None) -> int:
        """0 for that of the gradient of *model*; k + 1 for the k-th operator of its type; below 0 a word."""
        if model is not None and n.name == names.grad(model.name):
            return 0
        numbered = n.name.removeprefix(f"{n.type}.")
        if numbered.isdecimal() and n.name == f"{n.type}.{int(numbered)}":
            return int(numbered) + 1
        return -self.word(printable(n.name)) - 1

    def box(self, b: Box) -> list[float]:
        node = self.by_id[b.node]
        style = ROLES[role_of(node)]
        fill = self.word(self.colouring.fill(node)) if self.colouring is not None else 0
        look = self.outline((_shape(style), b.width, b.height))
        place = [b.x, b.y, b.width, b.height, b.row, self.word(b.column), look, fill]
        about = " · ".join(filter(None, (node.id, node.scope, node.source))) if node.kind == OP else node.spec
        usual = (f"{style.letter} {node.name}", about)
        lines = [AS_PAIR if t == u else self.word(t) for t, u in zip(b.lines, usual, strict=True)]
        return [self.index[b.node], *place, *lines]

    def outlines(self) -> list[str]:
        """The outlines of the boxes, each at (0, 0)."""
        return [SHAPES[shape](0.0, 0.0, width, height) for shape, width, height in self.outline.all()]

    def edges(self, scene: Scene) -> tuple[list[str], str]:
        """The columns of the edges, and all steps of their lines."""
        boxes, routes = scene.boxes, scene.routes
        rows = list(map(self._edge, routes))
        if not rows:
            return [""] * 13, ""
        box = {n.id: i for i, n in enumerate(boxes.nodes)}
        start = np.array([box[self.edges_of_view[e].source] for e in routes.edge.tolist()])
        lines = _Lines(routes, np.stack([boxes.x[start], boxes.y[start]], axis=1))
        table = np.array(rows, dtype=np.float64).T
        label_x, label_y = lines.offsets(table[7:9])
        numbers = [*table[:6], lines.right, lines.down, lines.counts, table[6], label_x, label_y, table[9]]
        return [pack(n) for n in numbers], pack(lines.steps / 10)

    def _edge(self, r: Route) -> list[float]:
        e = self.edges_of_view[r.edge]
        source, tensor = self.index[e.source], self.index[e.tensor]
        ends = [source, self.index[e.target] - source, tensor - source]
        numbers = [*ends, self.word(e.slot), KINDS.index(r.kind), self.word(printable(e.cut))]
        if r.label is None:
            return [*numbers, AS_PAIR, *r.points[0], 0]
        text, x, y, anchor = r.label
        name = self.by_id[e.tensor].name
        if text.startswith(name):
            return [*numbers, self.word(text.removeprefix(name)), x, y, ANCHORS.index(anchor) + 3]
        beginning, _, shape = text.rpartition(" ")
        if beginning and name.isprintable() and beginning == shorten(name, len(beginning)):
            # Told by how long the name is there, so that it stands once.
            return [*numbers, self.word(f" {shape}"), x, y, ANCHORS.index(anchor) + 3 + 3 * len(beginning)]
        return [*numbers, self.word(text), x, y, ANCHORS.index(anchor)]


class _Lines:
    """The lines of edges: where they start, and how far they go to the side and down in turn.

    Attributes:
        right, down: from the corner of the box that they start at.
        steps: of all lines, in tenths; none of them is slanted.
        counts: how many steps each line has.
    """

    def __init__(self, routes: Routes, corners: Floats) -> None:
        places = _tenths(np.stack([routes.x, routes.y], axis=1))
        firsts, lengths = routes.first[:-1], np.diff(routes.first)
        self._first = places[firsts]
        self.right, self.down = ((self._first - _tenths(corners)) / 10).T
        inside = np.ones(len(places), dtype=bool)
        inside[firsts] = False
        steps = np.diff(places, axis=0, prepend=places[:1])[inside]
        line = np.repeat(np.arange(len(lengths)), lengths - 1)
        # Two parts of a line meet: (7, 0) and (0, 5) are told as 7 and 5.
        mask = np.ones(steps.shape, dtype=bool)
        meets = (line[:-1] == line[1:]) & (steps[:-1, 1] == 0) & (steps[1:, 0] == 0)
        mask[:-1, 1] &= ~meets
        mask[1:, 0] &= ~meets
        ends = np.diff(line, append=-1) != 0
        mask[ends & (steps[:, 1] == 0), 1] = False
        self.steps: Ints = steps[mask]
        self.counts: Ints = np.bincount(line, weights=mask.sum(axis=1), minlength=len(lengths)).astype(np.int64)

    def offsets(self, places: Floats) -> Floats:
        """Places, told from the starts of the lines."""
        offsets: Floats = (_tenths(places) - self._first.T) / 10
        return offsets


# -- what stands around ----------------------------------------------------------------------------------------------


def _shape(style: NodeStyle) -> str:
    return "rounded" if style.border == "rounded" else style.shape


def _look(style: NodeStyle) -> dict[str, Any]:
    return {"fill": style.fill, "dashed": int(style.border == "dashed"), "bold": int(style.border == "bold")}


def _entry(style: NodeStyle, colouring: Colouring | None) -> dict[str, Any]:
    width, height = _SIGN
    look = _look(style) | ({"fill": "#FFFFFF"} if colouring is not None else {})
    outline = SHAPES[_shape(style)](0.0, 0.0, width, height)
    return {
        "letter": style.letter,
        "meaning": style.meaning,
        **look,
        "outline": outline,
        "width": width,
        "height": height,
    }


def _white(colouring: Colouring) -> str:
    """Return the reason why a box has no colour."""
    return colouring.white or ("not known" if colouring.ordered else "not known, or several")


def _frames(scene: Scene) -> list[list[Any]]:
    """Return what can be collapsed: the frames of the scene with their places, and layers around them without one."""
    row = {b.node: b.row for b in scene.boxes}
    boxes: list[list[Any]] = []
    spans = set()
    for f in scene.frames:
        rows = [row[n] for n in f.nodes if n in row]
        if rows:
            spans.add((min(rows), max(rows)))
            place = list(map(_number, (f.x, f.y, f.width, f.height)))
            boxes.append([_frame_id(f.id, f.kind, f.title), f.kind, printable(f.title), min(rows), max(rows), 0, place])
    taken = {f.id for f in scene.frames}
    for layer in layers(scene):
        if (layer.first, layer.last) not in spans:
            id_ = layer.id if layer.id not in taken else f"{layer.id}~"
            name = _frame_id(id_, "layer", layer.title)
            boxes.append([name, "layer", printable(layer.title), layer.first, layer.last, layer.depth, None])
    known = [(first, last, title) for _, _, title, first, last, _, _ in boxes]
    for part in stretches(scene, known):
        if (part.first, part.last) not in spans:
            boxes.append([part.id, "stretch", printable(part.title), part.first, part.last, part.depth, None])
    return boxes


def _frame_id(id_: str, kind: str, title: str) -> str:
    """Empty where the id is what kind and title say."""
    return "" if id_ == f"{kind}:{printable(title)}" else id_

"""What the HTML page embeds: a scene, and what is known of its nodes, in few characters; ``page/graph.mjs`` reads it.

Everything is told in columns of numbers, one for each property: texts stand once and are told by their place among
them, places by how far they lie from something near, and what follows from something else is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

from gradtool.engine import names
from gradtool.engine.view import BACKWARD, OP, NodeView

from ..details import Details, shown
from ..layers import layers
from ..legend import Colouring, heading, roles
from ..scene import KINDS, Box, Point, Route, Scene
from ..style import ROLES, NodeStyle, role_of
from ..text import printable
from .svg import SHAPES

ANCHORS: Final = ("start", "middle", "end")
_SIGN: Final = (26.0, 16.0)
AS_PAIR: Final = -1
"""Instead of the place of a text: what the node's pair has, or what a line usually says."""


def embedded(data: Any) -> str:
    """JSON that can stand inside a ``script`` element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda c: f"\\u{ord(c[0]):04x}", text)


_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def data(scene: Scene, details: Details, colouring: Colouring | None) -> dict[str, Any]:
    """What the script draws."""
    graph = _Graph(scene, details, colouring)
    return {
        "title": printable(heading(scene.view)),
        "width": _number(scene.width),
        "height": _number(scene.height),
        "nodes": _columns(map(graph.node, graph.shown), 8),
        "boxes": _columns(map(graph.box, scene.boxes), 11),
        "edges": _columns(map(graph.edge, scene.routes), 12),
        "steps": packed(graph.steps),
        "frames": _frames(scene),
        "roles": {r: {"letter": s.letter, "meaning": s.meaning, **_look(s)} for r, s in roles(graph.shown)},
        "legend": [_entry(s, colouring) for _, s in roles(graph.by_id[b.node] for b in scene.boxes)],
        "colours": [] if colouring is None else [*colouring.entries, (_white(colouring), "#FFFFFF")],
        "ordered": colouring is not None and colouring.ordered,
        "colourTitle": "" if colouring is None else colouring.title,
        "stacks": [[list(call) for call in stack] for stack in graph.stacks],
        "files": {file: {str(n): line for n, line in lines.items()} for file, lines in details.files.items()},
        "values": {i: shown(found) for i, found in details.values.items() if i in graph.by_id},
        "outlines": graph.outline.all(),
        "looks": [list(look) for look in graph.look.all()],
        "words": graph.word.all(),
    }


# -- columns ----------------------------------------------------------------------------------------------------------


def packed(column: Sequence[float]) -> str:
    """Numbers as text: ``3 1*5`` is 3 and five times 1. With ``~`` before it, each but the first is a difference.

    Which of the two it is, is what is shorter.
    """
    plain = _runs(column)
    steps = _runs([_number(b - a) for a, b in zip([0, *column[:-1]], column, strict=True)] if column else [])
    return plain if len(plain) <= len(steps) + 1 else f"~{steps}"


def _runs(column: Sequence[float]) -> str:
    counted = ((value, sum(1 for _ in run)) for value, run in groupby(column))
    return " ".join(f"{value}*{n}" if n > 1 else str(value) for value, n in counted)


def _columns(rows: Iterable[Sequence[float]], width: int) -> list[str]:
    found = [packed(column) for column in zip(*rows, strict=True)]
    return found or [""] * width


def _number(value: float) -> float:
    """To a tenth of a pixel, and without a point where it can be."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _between(a: float, b: float) -> float:
    """How far b lies from a, both to a tenth of a pixel, so that distances add up."""
    return _number(round(b, 1) - round(a, 1))


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
        touched = {b.node for b in scene.boxes}
        for r in scene.routes:
            e = view.edges[r.edge]
            touched.update((e.source, e.target, e.tensor))
        self.shown = [n for n in view.nodes if n.id in touched]
        self.index = {n.id: i for i, n in enumerate(self.shown)}
        self.by_id = {n.id: n for n in self.shown}
        self.box_of = {b.node: b for b in scene.boxes}
        self.colouring = colouring
        self.word, self.outline, self.look = _Once(""), _Once(), _Once()
        self.stack_of = {i: stack for i, stack in details.stacks.items() if i in touched}
        stack = _Once()
        for found in self.stack_of.values():
            stack(found)
        self.stack_place, self.stacks = stack, stack.all()
        self.steps: list[float] = []
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
        return [self._id(n), self._name(n, model), look, *told, 0 if pair is None else self.index[pair.id] + 1, stack]

    def _id(self, n: NodeView) -> int:
        """How far the number in the id is from that of the id before."""
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
        path = SHAPES[_shape(style)](0.0, 0.0, b.width, b.height)
        fill = self.word(self.colouring.fill(node)) if self.colouring is not None else 0
        place = [*map(_number, (b.x, b.y, b.width, b.height)), b.row, self.word(b.column), self.outline(path), fill]
        about = " · ".join(filter(None, (node.id, node.scope, node.source))) if node.kind == OP else node.spec
        usual = (f"{style.letter} {node.name}", about)
        lines = [AS_PAIR if t == u else self.word(t) for t, u in zip(b.lines, usual, strict=True)]
        return [self.index[b.node], *place, *lines]

    def edge(self, r: Route) -> list[float]:
        e = self.edges_of_view[r.edge]
        source = self.index[e.source]
        tensor = self.index[e.tensor]
        ends = [source, self.index[e.target] - source, tensor - source]
        start, box = r.points[0], self.box_of[e.source]
        steps = list(_steps(r.points))
        self.steps += steps
        found: list[float] = [*ends, self.word(e.slot), KINDS.index(r.kind)]
        found += [_between(box.x, start[0]), _between(box.y, start[1]), len(steps)]
        if r.label is None:
            return [*found, AS_PAIR, 0, 0, 0]
        text, x, y, anchor = r.label
        name = self.by_id[e.tensor].name
        follows = text.startswith(name)
        rest = self.word(text.removeprefix(name))
        place = [_between(start[0], x), _between(start[1], y)]
        return [*found, rest, *place, ANCHORS.index(anchor) + 3 * follows]


def _steps(points: Sequence[Point]) -> Iterator[float]:
    """How far a line goes to the side and down in turn, from its first point on; lines have no slanting parts."""
    across = True
    for (x, y), (to_x, to_y) in pairwise(points):
        for length, is_across in ((_between(x, to_x), True), (_between(y, to_y), False)):
            if length:
                if is_across != across:
                    yield 0
                yield length
                across = not is_across


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
    """What it means that a box has no colour."""
    return "not known" if colouring.ordered else "not known, or several"


def _frames(scene: Scene) -> list[list[Any]]:
    """What can be collapsed: the frames of the scene with their places, and layers around them that have none."""
    row = {b.node: b.row for b in scene.boxes}
    found: list[list[Any]] = []
    spans = set()
    for f in scene.frames:
        rows = [row[n] for n in f.nodes if n in row]
        if rows:
            spans.add((min(rows), max(rows)))
            place = list(map(_number, (f.x, f.y, f.width, f.height)))
            found.append([f.id, f.kind, printable(f.title), min(rows), max(rows), 0, place])
    taken = {f.id for f in scene.frames}
    for layer in layers(scene):
        if (layer.first, layer.last) not in spans:
            id_ = layer.id if layer.id not in taken else f"{layer.id}~"
            found.append([id_, "layer", printable(layer.title), layer.first, layer.last, layer.depth, None])
    return found

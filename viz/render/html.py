"""One HTML file that needs nothing else: the picture, what is known of every node, and the script that moves it.

The script and the style lie in ``viz/page`` as plain files. They are put into the page, and the page's content security
policy allows exactly these two texts and no connection to anywhere. What comes from the program stands in one block of
JSON, in which no character can end the block, and the script adds it to the page as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

import gradtool
from gradtool.engine import names
from gradtool.engine.view import BACKWARD, FORWARD, OP, NodeView

from ..details import Details, shown
from ..layers import layers
from ..legend import FLOW, LINES, Colouring, heading, roles
from ..scene import KINDS, Box, Point, Route, Scene
from ..style import ROLES, NodeStyle, role_of
from ..text import FONT, printable
from .svg import SHAPES

SCRIPTS: Final = (
    "graph.mjs",
    "trace.mjs",
    "search.mjs",
    "bins.mjs",
    "viewport.mjs",
    "fold.mjs",
    "elements.mjs",
    "draw.mjs",
    "panel.mjs",
    "table.mjs",
    "printing.mjs",
    "main.mjs",
)
"""The files of the script; each uses only those before it."""

LONGEST_TITLE: Final = 200
_NOTHING: Final = Details()
_SIGN: Final = (26.0, 16.0)


def render(scene: Scene, *, details: Details = _NOTHING, colouring: Colouring | None = None) -> str:
    """The scene as an HTML file.

    Args:
        details: call stacks, source and values, shown for the node that is selected.
        colouring: fills in place of those of the roles.

    Returns:
        The same text for the same arguments, every time.
    """
    script, style = _script(), _style()
    title = printable(heading(scene.view))
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1] + "…"
    kinds = {r.kind for r in scene.routes}
    boxes = len(scene.boxes)
    parts = {
        "script_hash": _hash(script),
        "style_hash": _hash(style),
        "version": escape(gradtool.__version__),
        "title": escape(title),
        "heading": escape(title),
        "description": escape(f"{title}: {boxes} {'box' if boxes == 1 else 'boxes'}"),
        "style": style,
        "flow": escape(FLOW[scene.view.part]),
        "lines": "".join(_line(kind) for kind in KINDS if kind in kinds),
        "data": embedded(_data(scene, details, colouring)),
        "script": script,
    }
    return _PLACE.sub(lambda found: parts[found[1]], _text("page.html"))


_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def _text(name: str) -> str:
    return (files("gradtool.viz") / "page" / name).read_text(encoding="utf-8")


_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.mjs";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_INDENT = re.compile(r"\n\s+")


@cache
def _script() -> str:
    """All files as one script: each a function that returns what it exports. Comments and indentation stay at home."""
    modules = []
    for name in SCRIPTS:
        text = _text(name)
        exported = ", ".join(_EXPORT.findall(text))
        body = _IMPORT.sub(r"const \1 = $\2;", _EXPORT.sub("", _COMMENT.sub("", text)))
        module = name.removesuffix(".mjs")
        modules.append(f"const ${module} = (() => {{\n{body}return {{ {exported} }};\n}})();\n")
    return _INDENT.sub("\n", '"use strict";\n' + "".join(modules))


@cache
def _style() -> str:
    return _INDENT.sub("\n", f":root {{ --code: {FONT}; }}\n{_text('page.css')}")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def embedded(data: Any) -> str:
    """JSON that can stand inside a ``script`` element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda c: f"\\u{ord(c[0]):04x}", text)


_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def _line(kind: str) -> str:
    """An entry of the legend for a kind of edge."""
    sign = f'<svg class="edge {kind}" viewBox="0 0 30 18" aria-hidden="true"><path d="M0 9H30"/></svg>'
    return f"<li>{sign}{escape(LINES[kind])}</li>"


class _Words:
    """Texts that come again and again, each once; the empty one is 0."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def all(self) -> list[str]:
        return list(self._places)


class _Graph:
    """The parts of a scene as short lists; ``graph.mjs`` reads them. What a reader can conclude is left out."""

    def __init__(self, scene: Scene, colouring: Colouring | None) -> None:
        view = scene.view
        self.edges_of_view = view.edges
        self.touched = {b.node for b in scene.boxes}
        for r in scene.routes:
            e = view.edges[r.edge]
            self.touched.update((e.source, e.target, e.tensor))
        self.shown = [n for n in view.nodes if n.id in self.touched]
        self.index = {n.id: i for i, n in enumerate(self.shown)}
        self.by_id = {n.id: n for n in self.shown}
        self.colouring = colouring
        self.word, self.outline = _Words(), _Words()

    def node(self, n: NodeView) -> list[Any]:
        word = self.word
        pair = self.by_id.get(n.pair) if n.pair is not None else None
        name: str | int = printable(n.name)
        if pair is not None and pair.part == FORWARD and n.name == names.grad(pair.name):
            name = 0
        role = [word(role_of(n)), int(n.kind == OP) + 2 * (n.part == BACKWARD) + 4 * (n.role == "loss")]
        facts = [word(n.type), word(n.spec), word(printable(n.source)), word(printable(n.scope))]
        return _trimmed([n.id, name, *role, *facts, 0 if pair is None else self.index[pair.id] + 1])

    def box(self, b: Box) -> list[Any]:
        node = self.by_id[b.node]
        style = ROLES[role_of(node)]
        path = SHAPES[_shape(style)](0.0, 0.0, b.width, b.height)
        fill = self.word(self.colouring.fill(node)) if self.colouring is not None else 0
        place = [*map(_number, (b.x, b.y, b.width, b.height)), b.row, self.word(b.column), self.outline(path), fill]
        about = " · ".join(filter(None, (node.id, node.scope, node.source))) if node.kind == OP else node.spec
        usual = (f"{style.letter} {node.name}", about)
        lines = [0 if t == u else self.word(t) for t, u in zip(b.lines, usual, strict=True)]
        return _trimmed([self.index[b.node], *place, *lines])

    def edge(self, r: Route) -> list[Any]:
        e = self.edges_of_view[r.edge]
        ends = [self.index[e.source], self.index[e.target], self.index[e.tensor]]
        found = [*ends, self.word(e.slot), KINDS.index(r.kind), _steps(r.points)]
        if r.label is not None:
            text, x, y, anchor = r.label
            name = self.by_id[e.tensor].name
            follows = text.startswith(name)
            rest = self.word(text.removeprefix(name))
            found += [rest, int(follows), _number(x), _number(y), ANCHORS.index(anchor)]
        return found


ANCHORS: Final = ("start", "middle", "end")


def _trimmed(entries: list[Any]) -> list[Any]:
    """Without the zeros at the end."""
    while entries and entries[-1] == 0:
        entries.pop()
    return entries


def _steps(points: Iterable[Point]) -> list[float]:
    """The first point, then how far each lies from the one before."""
    found = []
    x = y = 0.0
    for to_x, to_y in points:
        found += [_number(to_x - x), _number(to_y - y)]
        x, y = round(to_x, 1), round(to_y, 1)
    return found


def _data(scene: Scene, details: Details, colouring: Colouring | None) -> dict[str, Any]:
    """What the script draws."""
    graph = _Graph(scene, colouring)
    stack_of, stacks = _stacks(details, graph.touched)
    return {
        "title": printable(heading(scene.view)),
        "width": _number(scene.width),
        "height": _number(scene.height),
        "nodes": [graph.node(n) for n in graph.shown],
        "boxes": [graph.box(b) for b in scene.boxes],
        "edges": [graph.edge(r) for r in scene.routes],
        "frames": _frames(scene),
        "roles": {r: {"letter": s.letter, "meaning": s.meaning, **_look(s)} for r, s in roles(graph.shown)},
        "legend": [_entry(s, colouring) for _, s in roles(graph.by_id[b.node] for b in scene.boxes)],
        "colours": [] if colouring is None else [*colouring.entries, ("not known", "#FFFFFF")],
        "colourTitle": "" if colouring is None else colouring.title,
        "stackOf": stack_of,
        "stacks": stacks,
        "files": {file: {str(n): line for n, line in lines.items()} for file, lines in details.files.items()},
        "values": {i: shown(found) for i, found in details.values.items() if i in graph.touched},
        "outlines": graph.outline.all(),
        "words": graph.word.all(),
    }


def _number(value: float) -> float:
    """To a tenth of a pixel, and without a point where it can be."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


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


def _stacks(details: Details, touched: set[str]) -> tuple[dict[str, int], list[Any]]:
    """Operator -> position of its stack among those that differ."""
    places: dict[tuple[Any, ...], int] = {}
    of = {i: places.setdefault(stack, len(places)) for i, stack in details.stacks.items() if i in touched}
    return of, [[list(call) for call in stack] for stack in places]

"""DOT text for Graphviz, with every place in it: ``neato -n2`` only draws.

Node ids are the view's (``op7``, ``v12``); names appear in escaped labels only, where ``:`` is no port, ``<x>`` no HTML
and a backslash no escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from graphviz import escape, nohtml
from graphviz.quoting import quote

from gradtool.engine.view.graph import OP, EdgeView, NodeView

from ..forms import Drawable
from ..legend import FLOW, LINES, Colouring, legend_title, roles
from ..mirror.scene import CUT, GRADIENT, SAVED, SCISSORS, SHAPE, VALUE, Frame, Point, Route, Scene
from ..style import ROLES, STROKES, role_of
from ..text import ADVANCE, cells, printable
from .corners import curves

FONT: Final = "DejaVu Sans Mono"
_ARROW: Final = 6.0
_LEGEND: Final = 24.0
_SIGN: Final = 7.0
_ROOM: Final = {"plaintext": 8, "hexagon": 72, "parallelogram": 60, "doubleoctagon": 48}
"""Shape -> how much wider than its text a box of the legend is."""
_SIGNS: Final = {
    GRADIENT: "thick arrow",
    SAVED: "dashed arrow",
    SHAPE: "dotted arrow",
    CUT: f"{SCISSORS} on a dashed arrow",
}
_STROKES: Final[dict[str, dict[str, str]]] = {
    VALUE: {},
    GRADIENT: {"penwidth": "1.6", "color": STROKES[GRADIENT]},
    SAVED: {"style": "dashed", "color": STROKES[SAVED]},
    SHAPE: {"style": "dotted", "color": STROKES[SHAPE]},
    CUT: {"style": "dashed", "penwidth": "1.4", "color": STROKES[CUT], "fontcolor": STROKES[CUT]},
}


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: DOT text with places."""
    return render(subject.scene, file=subject.file, command=subject.command, colouring=subject.fills)


def render(
    scene: Scene,
    *,
    file: str = "graph.dot",
    command: str = "",
    colouring: Colouring | None = None,
    placed: bool = True,
) -> str:
    """The scene as DOT text.

    Args:
        file: the name that the text will be stored under, for the comment that says how to draw it.
        command: the command that made it, for the same comment.
        colouring: fills in place of those of the roles.
        placed: whether places are in it; without them Graphviz's ``dot`` finds its own.

    Returns:
        The same text for the same scene, every time.
    """
    return "\n".join(_lines(scene, file, command, colouring, placed)) + "\n"


def _lines(scene: Scene, file: str, command: str, colouring: Colouring | None, placed: bool) -> Iterator[str]:
    view = scene.view
    by_id = view.by_id()
    stem = file.removesuffix(".dot")
    yield f"// {printable(legend_title(view))}"
    if command:
        yield f"// made by: {printable(command)}"
    program = "neato -n2" if placed else "dot"
    yield f"// draw it:  {program} -Tsvg {printable(file)} -o {printable(stem)}.svg"
    yield "digraph G {"
    title = _attributes(labelloc="t", label=escape(printable(legend_title(view))), fontname=FONT, fontsize="11")
    yield f"\tgraph{title}"
    yield f'\tnode [fixedsize=true fontcolor="#000000" color="#000000" fontname="{FONT}" fontsize=9]'
    yield f'\tedge [color="#444444" fontname="{FONT}" fontsize=8 arrowsize=0.6]'
    for box in scene.boxes:
        node = by_id[box.node]
        place = _position(box.x, box.y, box.width, box.height, placed)
        small = {} if node.kind == OP else {"fontsize": "8"}
        full = {"tooltip": escape(printable(node.name))} if printable(node.name) not in box.lines[0] else {}
        fill = {"fillcolor": colouring.fill(node)} if colouring is not None else {}
        look = {**_style(role_of(node)), **fill, **place, **small, **full}
        yield f"\t{box.node}{_attributes(label=_label(box.lines), **look)}"
    for frame in scene.frames if placed else ():
        yield from _frame(frame)
    for route in scene.routes:
        edge = view.edges[route.edge]
        yield f"\t{edge.source} -> {edge.target}{_edge(route, edge, by_id, placed)}"
    for number, route in enumerate(r for r in scene.routes if placed and view.edges[r.edge].cut):
        yield f"\tcut_{number}{_attributes(**_sign(route))}"
    yield from _legend(scene, by_id, colouring, placed)
    yield "}"


def _attributes(**attributes: str) -> str:
    text = " ".join([f"{name}={_usual(v) if type(v) is str else quote(v)}" for name, v in attributes.items()])
    return f" [{text}]"


@lru_cache(1024)
def _usual(value: str) -> str:
    """A value in quotes where it needs them; most attributes of a picture have the same few values."""
    return str(quote(value))


def _label(lines: Iterable[str]) -> Any:
    """Lines of a label, marked as being no HTML; only the breaks between them are escapes."""
    return nohtml("\\n".join(escape(line) for line in lines if line))


def _style(role: str) -> dict[str, str]:
    style = ROLES[role]
    border = {"solid": "filled", "rounded": "filled,rounded"}.get(style.border, f"filled,{style.border}")
    return {"shape": style.shape, "style": border, "fillcolor": style.fill}


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _position(x: float, y: float, width: float, height: float, placed: bool = True) -> dict[str, str]:
    """A box in Graphviz's terms: its middle in points, y upwards, and its size in inches."""
    size = {"width": f"{width / 72:.3f}", "height": f"{height / 72:.3f}"}
    return {"pos": f"{_n(x + width / 2)},{_n(-y - height / 2)}!", **size} if placed else size


def _edge(route: Route, edge: EdgeView, by_id: dict[str, NodeView], placed: bool) -> str:
    tensor = by_id[edge.tensor]
    facts = f"{printable(tensor.name)} {tensor.spec} {edge.slot}".rstrip()
    attributes: dict[str, Any] = {"pos": _spline(route.points)} if placed else {}
    if edge.cut:
        facts = f"{facts}\n{SCISSORS} {printable(edge.cut)}"
    attributes["tooltip"] = escape(facts)
    if edge.cut and not placed:
        attributes["label"] = _label([f"{SCISSORS} {printable(edge.cut)}"])
    if route.label is not None and (placed or not edge.cut):
        text, x, y, _ = route.label
        attributes["label"] = _label([text])
        if placed:
            attributes["lp"] = f"{_n(x + cells(text) * 8 * ADVANCE / 2)},{_n(3 - y)}"
    return _attributes(**attributes, **_STROKES[route.kind])


def _sign(route: Route) -> dict[str, str]:
    """The sign of a cut on its line, as a node of its own: labels of edges are put where there is room for them."""
    x, y = route.point_before_end
    look = {"shape": "circle", "style": "filled", "fillcolor": "#FFFFFF", "fontsize": "10"}
    colour = STROKES[route.kind]
    place = _position(x - _SIGN, y - _SIGN, 2 * _SIGN, 2 * _SIGN)
    return {"label": SCISSORS, **look, "color": colour, "fontcolor": colour, **place}


def _spline(points: tuple[Point, ...]) -> str:
    """The route as curves with round corners, that end where the arrow head begins."""
    (x, y), (bx, by) = points[-1], points[-2]
    length = abs(x - bx) + abs(y - by)
    head = min(_ARROW, length / 2)
    if length:
        points = (*points[:-1], (x + (bx - x) / length * head, y + (by - y) / length * head))
    shown = " ".join(f"{_n(px)},{_n(-py)}" for px, py in curves(points))
    return f"e,{_n(x)},{_n(-y)} {shown}"


def _frame(frame: Frame) -> Iterator[str]:
    """A border as a node of its own, which no edge touches: without a layout program clusters have no place."""
    name = "frame_" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in frame.id)
    place = _position(frame.x, frame.y, frame.width, frame.height)
    style = "dashed" if frame.kind in ("block", "segment") else "rounded"
    label = _label([frame.title])
    yield f"\t{name}{_attributes(label='', shape='box', style=style, color='#999999', **place)}"
    title = _position(frame.x + 4, frame.y + 1, cells(frame.title) * 8 * ADVANCE, 11)
    yield f"\t{name}_title{_attributes(label=label, shape='plaintext', fontsize='8', **title)}"


def _legend(scene: Scene, by_id: dict[str, NodeView], colouring: Colouring | None, placed: bool) -> Iterator[str]:
    """Boxes above the picture, row by row."""
    plain = {"shape": "plaintext"}
    kinds = scene.routes.kinds()
    entries: list[tuple[str, str, dict[str, str]]] = []
    for role, style in roles(scene.boxes.nodes):
        fill = {"fillcolor": "#FFFFFF"} if colouring is not None else {}
        entries.append((f"legend_{role}", f"[{style.letter}] {style.meaning}", {**_style(role), **fill}))
    for i, (text, colour) in enumerate(colouring.entries if colouring is not None else ()):
        shown = {"shape": "box", "style": "filled", "fillcolor": colour}
        entries.append((f"legend_colour{i}", text, shown))
    if colouring is not None:
        entries.append(("legend_colours", f"colour: {colouring.title}", plain))
    for kind, sign in _SIGNS.items():
        if kind in kinds:
            entries.append((f"legend_line_{kind}", f"{sign}: {LINES[kind]}", {**plain, "fontcolor": STROKES[kind]}))
    entries.append(("legend_flow", FLOW[scene.view.part], plain))
    x, rows = 16.0, 0
    places = []
    for name, text, look in entries:
        width = cells(text) * 9 * ADVANCE + _ROOM.get(look["shape"], 28)
        if x > 16 and x + width > max(scene.width, 460.0) - 16:
            x, rows = 16.0, rows + 1
        places.append((name, text, look, x, rows, width))
        x += width + 12
    for name, text, look, left, row, width in places:
        at = _position(left, (row - rows - 1) * _LEGEND - 6, width, _LEGEND - 6, placed)
        yield f"\t{name}{_attributes(label=_label([text]), **look, **at)}"

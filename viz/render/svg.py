"""SVG text, drawn by us from the places that a layout gave.

Text stays text, names are escaped, every box and line says in a tooltip what it is. Colours of lines and text follow
the reader's light or dark scheme; fills are the same in both, with black text on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import Final

from gradtool.engine.core.collector import pause_gc
from gradtool.engine.view.graph import OP, EdgeView, NodeView

from ..forms import Drawable
from ..legend import FLOW, LINES, Colouring, legend_title, roles
from ..mirror.scene import CUT, KINDS, SCISSORS, Box, Frame, Point, Route, Scene
from ..style import ROLES, STROKES, STROKES_ON_DARK, role_of
from ..text import FONT, fit_text, printable, text_width
from .corners import bends

LARGE: Final = 11.0
SMALL: Final = 9.0
_MARGIN: Final = 16.0
_NARROWEST: Final = 460.0

_DASHES: Final = {"saved": "5 3", "shape": "1.5 3", "cut": "7 3 1.5 3"}


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: the text of an SVG file."""
    return render(subject.scene, colouring=subject.fills, command=subject.command)


def render(scene: Scene, *, colouring: Colouring | None = None, command: str = "") -> str:
    """The scene as the text of an SVG file.

    Args:
        colouring: fills in place of those of the roles.
        command: the command that made it, for its metadata.

    Returns:
        The same text for the same scene, every time.
    """
    with pause_gc():
        return "\n".join(_lines(scene, colouring, command)) + "\n"


def _lines(scene: Scene, colouring: Colouring | None, command: str) -> Iterator[str]:
    view = scene.view
    by_id = view.by_id()
    width = max(scene.width, _NARROWEST)
    top, legend = _legend(scene, by_id, colouring, width)
    title = escape(printable(legend_title(view)))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(top + scene.height)}" '
        f'viewBox="0 0 {_n(width)} {_n(top + scene.height)}" role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{title}</title>'
    yield f'<desc id="desc">{len(scene.boxes)} boxes and {len(scene.routes)} arrows; {FLOW[view.part]}</desc>'
    if command:
        yield f"<metadata>made by: {escape(printable(command))}</metadata>"  # no comment can hold two hyphens
    yield _style(colouring)
    yield "<defs>"
    for kind in KINDS:
        yield (
            f'<marker id="to-{kind}" class="{kind}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" '
            f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z"/></marker>'
        )
    yield "</defs>"
    yield '<rect class="ground" width="100%" height="100%"/>'
    yield from legend
    offset = max(0.0, (width - scene.width) / 2)
    yield f'<g transform="translate({_n(offset)} {_n(top)})">'
    for frame in scene.frames:
        yield _frame(frame)
    edges = view.edges
    labels, cuts = [], []
    for route in scene.routes:
        yield _route(route, edges[route.edge], by_id)
        if route.label is not None:
            labels.append(route.label)
        if route.kind == CUT:
            cuts.append(route.point_before_end)
    for box in scene.boxes:
        yield _box(box, by_id[box.node], by_id, colouring)
    for text, x, y, anchor in labels:
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        yield f'<text class="s" x="{_n(x)}" y="{_n(y)}"{place}>{escape(text)}</text>'
    for x, y in cuts:
        yield _scissors(x, y)
    yield "</g>"
    yield "</svg>"


def _n(value: float) -> str:
    """A number as short as it can be."""
    return f"{value:.1f}".removesuffix(".0")


def _style(colouring: Colouring | None) -> str:
    rules = [
        "svg{background:#fff}",
        ".ground{fill:#fff}",
        f"text{{font:{LARGE:g}px {FONT.replace(chr(34), chr(39))};fill:#111;white-space:pre}}",
        f".s{{font-size:{SMALL:g}px}}",
        "path,rect{stroke-linejoin:round}",
        ".n path,.k path{stroke:#222;stroke-width:1}.n text{fill:#000;text-anchor:middle}",
        ".bold path{stroke-width:2.5}.dashed path{stroke-dasharray:4 2}",
        ".e{fill:none;stroke-width:1.2}.e.gradient{stroke-width:1.6}.e:hover{stroke-width:3.5}",
        "marker path{stroke:none}",
        ".f{fill:none;stroke:#999;stroke-width:1}.f.block,.f.segment{stroke-dasharray:6 2}",
        ".f.repeat{stroke-width:2}.ft{fill:#555}",
    ]
    rules += [f".r-{role}{{fill:{style.fill}}}" for role, style in ROLES.items()]
    for kind in KINDS:
        light = STROKES[kind]
        dash = f";stroke-dasharray:{_DASHES[kind]}" if kind in _DASHES else ""
        rules.append(f".e.{kind}{{stroke:{light}{dash};marker-end:url(#to-{kind})}}marker.{kind}{{fill:{light}}}")
    rules.append(f".x{{fill:#fff;stroke:{STROKES[CUT]};stroke-width:1.2}}")
    dark = [f".x{{fill:#16181c;stroke:{STROKES_ON_DARK[CUT]}}}"]
    dark += ["svg{background:#16181c}", ".ground{fill:#16181c}text{fill:#e6e6e6}.ft{fill:#aaa}.f{stroke:#777}"]
    dark += [".n text{fill:#000}"]
    dark += [f".e.{k}{{stroke:{STROKES_ON_DARK[k]}}}marker.{k}{{fill:{STROKES_ON_DARK[k]}}}" for k in KINDS]
    return f"<style>{''.join(rules)}@media (prefers-color-scheme:dark){{{''.join(dark)}}}</style>"


# -- boxes ------------------------------------------------------------------------------------------------------------


def _box(box: Box, node: NodeView, by_id: dict[str, NodeView], colouring: Colouring | None) -> str:
    role = role_of(node)
    style = ROLES[role]
    x, y, w, h = box.x, box.y, box.width, box.height
    rounded = style.border == "rounded"
    outline = SHAPES["rounded" if rounded else style.shape](x, y, w, h)
    extra = f" {style.border}" if style.border in ("bold", "dashed") else ""
    fill = f' style="fill:{colouring.fill(node)}"' if colouring is not None else ""
    middle, line = _n(x + w / 2), y + h / 2
    first = f'<text x="{middle}" y="{_n(line - 2)}">{escape(box.lines[0])}</text>'
    second = ""
    if len(box.lines) > 1 and box.lines[1]:
        second = f'<text class="s" x="{middle}" y="{_n(line + 11)}">{escape(box.lines[1])}</text>'
    else:
        first = f'<text x="{middle}" y="{_n(line + 4)}">{escape(box.lines[0])}</text>'
    return (
        f'<g class="n r-{role}{extra}" id="{node.id}"><title>{escape(tooltip(node, by_id))}</title>'
        f'<path d="{outline}"{fill}/>{first}{second}</g>'
    )


def tooltip(node: NodeView, by_id: dict[str, NodeView]) -> str:
    """All that the view knows of a node, for its tooltip."""
    lines = [printable(node.name), f"{ROLES[role_of(node)].meaning} {node.id}"]
    if node.kind != OP:
        lines.append(node.spec)
    elif node.type not in ("", node.name.rpartition(".")[0]):
        lines.append(f"type {node.type}")
    if node.pair is not None and node.pair in by_id:
        lines.append(f"belongs to {printable(by_id[node.pair].name)}")
    if node.count > 1:
        lines.append(f"stands for {len(node.members)}, from {node.count} repetitions")
    elif node.members:
        lines.append(f"stands for {len(node.members)}")
    if node.note:
        lines.append(printable(node.note))
    lines += [t for t in (printable(node.scope), printable(node.source)) if t]
    return "\n".join(lines)


def _rect(x: float, y: float, w: float, h: float) -> str:
    return f"M{_n(x)} {_n(y)}h{_n(w)}v{_n(h)}h{_n(-w)}z"


def _rounded_path(x: float, y: float, w: float, h: float, r: float = 9.0) -> str:
    a = f"a{_n(r)} {_n(r)} 0 0 1 "
    return (
        f"M{_n(x + r)} {_n(y)}h{_n(w - 2 * r)}{a}{_n(r)} {_n(r)}v{_n(h - 2 * r)}{a}{_n(-r)} {_n(r)}"
        f"h{_n(2 * r - w)}{a}{_n(-r)} {_n(-r)}v{_n(2 * r - h)}{a}{_n(r)} {_n(-r)}z"
    )


def _pill(x: float, y: float, w: float, h: float) -> str:
    return _rounded_path(x, y, w, h, min(h, 32.0) / 2)


def _slanted_path(x: float, y: float, w: float, h: float) -> str:
    return f"M{_n(x + 4)} {_n(y)}h{_n(w)}l-8 {_n(h)}h{_n(-w)}z"


def _hexagon(x: float, y: float, w: float, h: float) -> str:
    return f"M{_n(x + 7)} {_n(y)}h{_n(w - 14)}l7 {_n(h / 2)}l-7 {_n(h / 2)}h{_n(14 - w)}l-7 {_n(-h / 2)}z"


def _octagon(x: float, y: float, w: float, h: float) -> str:
    c = min(9.0, h / 3)
    return (
        f"M{_n(x + c)} {_n(y)}h{_n(w - 2 * c)}l{_n(c)} {_n(c)}v{_n(h - 2 * c)}l{_n(-c)} {_n(c)}"
        f"h{_n(2 * c - w)}l{_n(-c)} {_n(-c)}v{_n(2 * c - h)}z"
    )


def _double_octagon(x: float, y: float, w: float, h: float) -> str:
    return _octagon(x, y, w, h) + _octagon(x + 3, y + 3, w - 6, h - 6)


def _cylinder(x: float, y: float, w: float, h: float) -> str:
    """A drum that lies on its side."""
    arc = f"a4 {_n(h / 2)} 0 0 "
    return (
        f"M{_n(x + 4)} {_n(y)}h{_n(w - 8)}{arc}1 0 {_n(h)}h{_n(8 - w)}{arc}1 0 {_n(-h)}z"
        f"M{_n(x + w - 4)} {_n(y)}{arc}0 0 {_n(h)}"
    )


SHAPES: Final[dict[str, Callable[[float, float, float, float], str]]] = {
    "box": _rect,
    "rounded": _rounded_path,
    "ellipse": _pill,
    "parallelogram": _slanted_path,
    "hexagon": _hexagon,
    "octagon": _octagon,
    "doubleoctagon": _double_octagon,
    "cylinder": _cylinder,
}
"""Shape as Graphviz calls it -> the outline of a box."""


# -- lines ------------------------------------------------------------------------------------------------------------


def _route(route: Route, edge: EdgeView, by_id: dict[str, NodeView]) -> str:
    tensor = by_id[edge.tensor]
    said = f"{printable(tensor.name)}\n{tensor.spec}\n{LINES[route.kind]}, read as {edge.slot}"
    if edge.count > 1:
        said = f"{edge.count} values, among them {said}"
    if edge.cut:
        said = f"{said}\n{SCISSORS} {printable(edge.cut)}"
    return f'<path class="e {route.kind}" d="{outline(route.points)}"><title>{escape(said)}</title></path>'


def outline(points: tuple[Point, ...]) -> str:
    """Straight pieces with rounded corners."""
    parts = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    if len(points) > 2:
        for (s, t), (x, y), (u, v) in bends(points):
            parts.append(f"L{_n(s)} {_n(t)}Q{_n(x)} {_n(y)} {_n(u)} {_n(v)}")
    parts.append(f"L{_n(points[-1][0])} {_n(points[-1][1])}")
    return "".join(parts)


def _frame(frame: Frame) -> str:
    room = int((frame.width / 2 - 16) / text_width("x", SMALL))
    return (
        f'<rect class="f {frame.kind}" x="{_n(frame.x)}" y="{_n(frame.y)}" width="{_n(frame.width)}" '
        f'height="{_n(frame.height)}" rx="6"><title>{escape(printable(frame.title))}</title></rect>'
        f'<text class="s ft" x="{_n(frame.x + 6)}" y="{_n(frame.y + 10)}">'
        f"{escape(fit_text(frame.title, room))}</text>"
    )


def _line_sign(x: float, y: float, kind: str) -> str:
    """The entry of the legend for a kind of line."""
    line = f'<path class="e {kind}" d="M{_n(x)} {_n(y + 7)}h28"/>'
    return line + _scissors(x + 12, y + 7) if kind == CUT else line


def _scissors(x: float, y: float) -> str:
    """The sign of a cut, drawn, as few fonts have it."""
    return f'<g class="x" transform="translate({_n(x)} {_n(y)})"><circle r="7"/><path d="{SHEARS}"/></g>'


SHEARS: Final = (
    "M-2.6 -1.6L5.5 3.4M-2.6 1.6L5.5 -3.4"
    "M-2.4 -2.6a1.6 1.6 0 1 0 -3.2 0a1.6 1.6 0 1 0 3.2 0zM-2.4 2.6a1.6 1.6 0 1 0 -3.2 0a1.6 1.6 0 1 0 3.2 0z"
)
"""The outline of a pair of scissors around (0, 0)."""


# -- legend -----------------------------------------------------------------------------------------------------------


def _legend(
    scene: Scene, by_id: dict[str, NodeView], colouring: Colouring | None, width: float
) -> tuple[float, list[str]]:
    """The title and the legend above the picture, and how high they are."""
    room = int((width - 2 * _MARGIN) / text_width("x", LARGE))
    lines = [
        f'<text x="{_n(_MARGIN)}" y="20" font-weight="bold">{escape(fit_text(legend_title(scene.view), room))}</text>'
    ]
    x, y, step = _MARGIN, 30.0, 18.0

    def entry(text: str, sign: float, draw: Callable[[float, float], str]) -> None:
        nonlocal x, y
        wide = sign + 8 + text_width(text, SMALL)
        if x > _MARGIN and x + wide > width - _MARGIN:
            x, y = _MARGIN, y + step
        lines.append(draw(x, y))
        lines.append(f'<text class="s" x="{_n(x + sign + 8)}" y="{_n(y + 10)}">{escape(text)}</text>')
        x += wide + 16

    for role, style in roles(scene.boxes.nodes):
        shape = SHAPES["rounded" if style.border == "rounded" else style.shape]
        extra = f" {style.border}" if style.border in ("bold", "dashed") else ""
        plain = ' style="fill:#fff"' if colouring is not None else ""

        def sign(
            x: float,
            y: float,
            role: str = role,
            shape: Callable[[float, float, float, float], str] = shape,
            extra: str = extra,
            plain: str = plain,
            letter: str = style.letter,
        ) -> str:
            return (
                f'<g class="n r-{role}{extra}"><path d="{shape(x, y, 26, 14)}"{plain}/>'
                f'<text class="s" x="{_n(x + 13)}" y="{_n(y + 10)}">{letter}</text></g>'
            )

        entry(style.meaning, 26, sign)
    for kind in scene.routes.kinds():
        entry(LINES[kind], 28, lambda x, y, k=kind: _line_sign(x, y, k))  # type: ignore[misc]
    if colouring is not None:
        x, y = _MARGIN, y + step
        for text, fill in colouring.entries:
            entry(
                text,
                14,
                lambda x, y, f=fill: f'<g class="k"><path d="{_rect(x, y, 14, 14)}" style="fill:{f}"/></g>',  # type: ignore[misc]
            )
        y += step
        lines.append(f'<text class="s" x="{_n(_MARGIN)}" y="{_n(y + 10)}">colour: {escape(colouring.title)}</text>')
    y += step
    lines.append(f'<text class="s" x="{_n(_MARGIN)}" y="{_n(y + 10)}">{FLOW[scene.view.part]}</text>')
    return y + step + 2, lines

"""Mermaid text: a flowchart for pages that draw such blocks, such as those of GitHub and GitLab.

Mermaid reads its labels as HTML and Markdown. Here every character that means something to either is an entity code, so
a label shows what the name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gradtool.engine.view.graph import OP, EdgeView, GraphView, NodeView

from ..forms import Drawable
from ..legend import FLOW, legend_title
from ..mirror.scene import SCISSORS
from ..style import ROLES, look, role_of
from ..text import printable, shorten

MOST_EDGES: Final = 500
MOST_CHARACTERS: Final = 50_000
"""What Mermaid draws unless its ``maxEdges`` and ``maxTextSize`` are raised, which the text itself cannot do."""

LONGEST: Final = 48

_SHAPES: Final = {
    "box": ('["', '"]'),
    "parallelogram": ('[/"', '"/]'),
    "cylinder": ('[("', '")]'),
    "doubleoctagon": ('[["', '"]]'),
    "hexagon": ('{{"', '"}}'),
    "ellipse": ('(["', '"])'),
    "rounded": ('("', '")'),
    "octagon": ('{{"', '"}}'),
}


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: a Mermaid flowchart."""
    for note in notes(subject.view):
        subject.note(note)
    return render(subject.view, command=subject.command)


def render(view: GraphView, *, command: str = "") -> str:
    """The view as a Mermaid flowchart; the same text for the same view, every time.

    Args:
        command: the command that made it, for a comment.
    """
    first, _, rest = _body(view).partition("\n")
    body = f"{first}\n%% made by: {printable(command)}\n{rest}" if command else f"{first}\n{rest}"
    notes = "".join(f"%% {note}\n" for note in _notes(len(view.edges), len(body)))
    return notes + body


def notes(view: GraphView) -> list[str]:
    """Return notes about a graph that is larger than Mermaid draws by default; none for others."""
    return _notes(len(view.edges), len(_body(view)))


def _body(view: GraphView) -> str:
    return "\n".join(_lines(view)) + "\n"


def _notes(edges: int, characters: int) -> list[str]:
    remarks = []
    if edges > MOST_EDGES:
        remarks.append(f"{edges} edges: Mermaid draws at most {MOST_EDGES} unless its setting maxEdges is raised")
    if characters > MOST_CHARACTERS:
        remarks.append(
            f"{characters} characters: Mermaid reads at most {MOST_CHARACTERS} unless its setting maxTextSize is raised"
        )
    return remarks


def _lines(view: GraphView) -> Iterator[str]:
    by_id = view.by_id()
    drawn = view.drawn()
    yield f"%% {printable(legend_title(view))}"
    yield f"%% {FLOW[view.part]}; dotted: a forward value kept for backward, or only its shape; {SCISSORS}: cut"
    yield "flowchart TB"
    yield from _group_lines(drawn)
    for edge in view.edges:
        yield f"    {edge.source} {_arrow(edge, by_id)} {edge.target}"
    used = {role_of(n) for n in drawn}
    for role, style in ROLES.items():
        if role in used:
            border = {"dashed": ",stroke-dasharray:4 2", "bold": ",stroke-width:2.5px"}.get(style.border, "")
            yield f"    classDef {role} fill:{style.fill},stroke:#222,color:#000{border}"
            members = ",".join(n.id for n in drawn if role_of(n) == role)
            yield f"    class {members} {role}"


def _group_lines(drawn: Iterable[NodeView]) -> Iterator[str]:
    """The nodes, those of a scope inside a subgraph; scopes in the order of their first node."""
    groups: dict[tuple[str, str], list[NodeView]] = {}
    for node in drawn:
        groups.setdefault((node.scope, node.part if node.scope else ""), []).append(node)
    number = 0
    for (scope, part), nodes in groups.items():
        if not scope:
            yield from (f"    {_node(n)}" for n in nodes)
            continue
        yield f'    subgraph scope{number}["{_escape(shorten(printable(scope), LONGEST))} · {part}"]'
        yield from (f"        {_node(n)}" for n in nodes)
        yield "    end"
        number += 1


def _node(node: NodeView) -> str:
    style = look(node)
    start, end = _SHAPES["rounded" if style.border == "rounded" else style.shape]
    about = printable(node.source) if node.kind == OP else node.spec
    lines = [f"{style.letter} {shorten(printable(node.name), LONGEST)}", printable(node.note), about]
    return f"{node.id}{start}{'<br/>'.join(_escape(line) for line in lines if line)}{end}"


def _arrow(edge: EdgeView, by_id: dict[str, NodeView]) -> str:
    if edge.cut:
        return f'-.->|"{SCISSORS} {_escape(shorten(printable(edge.cut), LONGEST))}"|'
    arrow = "-.->" if edge.saved or edge.shape_only else "-->"
    if edge.tensor in (edge.source, edge.target):
        return arrow
    tensor = by_id[edge.tensor]
    return f'{arrow}|"{_escape(shorten(printable(tensor.name), LONGEST))}"|'


_PLAIN = re.compile(r"[^\w .,·…/+-]")


def _escape(text: str) -> str:
    """*text* with an entity code for every character that could mean something."""
    return _PLAIN.sub(lambda c: f"#{ord(c[0])};", text)

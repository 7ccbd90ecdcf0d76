"""DOT text for Graphviz.

Node ids are the view's (``op7``, ``v12``); names appear in escaped labels only, where ``:`` is no port, ``<x>`` no HTML
and a backslash no escape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviz import escape, nohtml
from graphviz.quoting import attr_list

from gradtool.engine.view import BACKWARD, BOTH, FORWARD, OP, BlockView, EdgeView, GraphView, NodeView

from ..style import ROLES
from ..text import printable, shortened

LONGEST = 60
"""Characters of a name that a label shows; the whole name is in the tooltip."""

FLOW = {
    FORWARD: "arrows follow the values",
    BACKWARD: "arrows point the way the gradient flows",
    BOTH: "arrows follow the values; from the seed on, the way the gradient flows",
}

PARTS = {FORWARD: "forward", BACKWARD: "backward", BOTH: "forward and backward"}


def render(view: GraphView, *, file: str = "graph.dot", command: str = "") -> str:
    """The view as DOT text.

    Args:
        file: the name that the text will be stored under, for the comment that says how to draw it.
        command: the command that made it, for the same comment.

    Returns:
        The same text for the same view, every time.
    """
    return "\n".join(_lines(view, file, command)) + "\n"


def _lines(view: GraphView, file: str, command: str) -> Iterator[str]:
    by_id = view.by_id()
    drawn = view.drawn()
    stem = file.removesuffix(".dot")
    what = PARTS[view.part]
    yield f"// {what} graph of {printable(view.title)}" if view.title else f"// {what} graph"
    if command:
        yield f"// made by: {printable(command)}"
    yield f"// draw it:  dot -Tsvg {printable(file)} -o {printable(stem)}.svg"
    yield "digraph G {"
    yield f"\tgraph{_attributes(rankdir='TB', labelloc='t', label=escape(printable(view.title)), fontname='Helvetica')}"
    yield '\tnode [fontname=Helvetica fontsize=10 fontcolor="#000000" color="#000000" margin="0.12,0.06"]'
    yield '\tedge [fontname=Helvetica fontsize=8 color="#444444"]'
    yield from _nodes(_Framed(view, drawn), 0, "\t")
    for edge in view.edges:
        yield f"\t{edge.source} -> {edge.target}{_edge(edge, by_id)}"
    yield from _legend(view, drawn)
    yield "}"


class _Framed:
    """Nodes by the block that they stand in, and blocks by the one around them."""

    def __init__(self, view: GraphView, drawn: tuple[NodeView, ...]) -> None:
        self.alone = view.part != BOTH
        self.nodes: dict[int, list[NodeView]] = {}
        self.inner: dict[int, list[BlockView]] = {}
        for node in drawn:
            self.nodes.setdefault(node.block, []).append(node)
        for block in view.blocks:
            self.inner.setdefault(block.parent, []).append(block)


def _nodes(framed: _Framed, block: int, indent: str) -> Iterator[str]:
    """The nodes of a block, and those of the blocks in it with a frame around them."""
    for node in framed.nodes.get(block, ()):
        yield f"{indent}{node.id}{_node(node, framed.alone)}"
    for inner in framed.inner.get(block, ()):
        lines = list(_nodes(framed, inner.index, f"{indent}\t"))
        if lines:
            label = escape(printable(f"block {inner.index} of {inner.owner}"))
            yield f"{indent}subgraph cluster_block{inner.index} {{"
            yield f"{indent}\tgraph{_attributes(label=label, style='rounded', fontsize='10')}"
            yield from lines
            yield f"{indent}}}"


def _attributes(**attributes: Any) -> str:
    return str(attr_list(attributes=list(attributes.items())))


def _label(lines: list[str]) -> Any:
    """Lines of a label, marked as being no HTML; only the breaks between them are escapes."""
    return nohtml("\\n".join(escape(line) for line in lines if line))


def _style(role: str) -> dict[str, str]:
    style = ROLES[role]
    border = {"solid": "filled", "rounded": "filled,rounded"}.get(style.border, f"filled,{style.border}")
    return {"shape": style.shape, "style": border, "fillcolor": style.fill}


def _node(node: NodeView, alone: bool) -> str:
    """Attributes of a node; where one part is drawn *alone*, an operator names its partner in the other."""
    name = printable(node.name)
    role = "forward" if node.kind == OP and node.role == "loss" else node.role
    lines = [f"[{ROLES[role].letter}] {shortened(name, LONGEST)}"]
    if node.kind == OP:
        partner = f"↔ {node.pair}" if alone and node.pair is not None else ""
        facts = (node.id, partner, shortened(printable(node.scope), LONGEST), printable(node.source))
        lines.append(" · ".join(t for t in facts if t))
    else:
        lines.append(node.spec)
    full = {"tooltip": escape(name)} if len(name) > LONGEST else {}
    return _attributes(label=_label(lines), **_style(role), **full)


def _edge(edge: EdgeView, by_id: dict[str, NodeView]) -> str:
    tensor = by_id[edge.tensor]
    shown = edge.tensor in (edge.source, edge.target)
    lines = [edge.slot] if shown else [shortened(printable(tensor.name), LONGEST), tensor.spec]
    style = {"penwidth": "1.6"} if tensor.part == BACKWARD else {}
    if edge.saved or edge.shape_only:
        style = {"style": "dashed" if edge.saved else "dotted"}
    return _attributes(label=_label(lines), **style)


def _legend(view: GraphView, drawn: tuple[NodeView, ...]) -> Iterator[str]:
    used = {"forward" if n.kind == OP and n.role == "loss" else n.role for n in drawn}
    yield "\tsubgraph cluster_legend {"
    yield f"\t\tgraph{_attributes(label='legend: ' + FLOW[view.part], style='dotted', fontsize='10')}"
    before = ""
    for role, style in ROLES.items():
        if role not in used:
            continue
        node = f"legend_{role}"
        yield f"\t\t{node}{_attributes(label=_label([f'[{style.letter}] {style.meaning}']), **_style(role))}"
        if before:
            yield f"\t\t{before} -> {node} [style=invis]"
        before = node
    lines = {
        "legend_saved": ("dashed arrow: a forward value kept for backward", any(e.saved for e in view.edges)),
        "legend_shape": ("dotted arrow: only its shape is read", any(e.shape_only for e in view.edges)),
    }
    for node, (text, present) in lines.items():
        if present:
            yield f"\t\t{node}{_attributes(label=text, shape='plaintext')}"
            yield f"\t\t{before} -> {node} [style=invis]"
            before = node
    yield "\t}"

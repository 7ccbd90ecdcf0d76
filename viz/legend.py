"""Legend of a picture: one list for every renderer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, GraphView, NodeView

from .mirror.scene import CUT, GRADIENT, SAVED, SHAPE, VALUE
from .style import ROLES, NodeStyle, role_of

FLOW: Final = {
    FORWARD: "arrows follow the values",
    BACKWARD: "arrows point the way the gradient flows",
    BOTH: "arrows follow the values; from the seed on, the way the gradient flows",
}

PARTS: Final = {FORWARD: "forward", BACKWARD: "backward", BOTH: "forward and backward"}

LINES: Final = {
    VALUE: "forward value",
    GRADIENT: "gradient",
    SAVED: "forward value kept for backward",
    SHAPE: "only its shape is read",
    CUT: "cut: no gradient comes back",
}


@dataclass(frozen=True, slots=True)
class Colouring:
    """Fills that say something else than the role of a node.

    Attributes:
        title: what the colours mean.
        fills: node -> colour as ``#rrggbb``; others are white.
        entries: text and colour for the legend.
        ordered: whether later entries stand for more: then a collapsed layer has the colour of its largest member.
        notes: node -> what its box says of it, so that colour is not all that tells.
        white: what it means that a box has no colour.
    """

    title: str
    fills: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False
    white: str = ""

    def fill(self, node: NodeView) -> str:
        return self.fills.get(node.id, "#FFFFFF")


def roles(drawn: Iterable[NodeView]) -> list[tuple[str, NodeStyle]]:
    """The roles that a picture shows, in the order of the table."""
    used = {role_of(n) for n in drawn}
    return [(role, style) for role, style in ROLES.items() if role in used]


def legend_title(view: GraphView) -> str:
    """``forward and backward graph of model.py``."""
    what = f"{PARTS[view.part]} graph"
    return f"{what} of {view.title}" if view.title else what

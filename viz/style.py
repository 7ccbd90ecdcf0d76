"""Colours, shapes and letters of nodes: one table for every renderer.

The fills are Okabe and Ito's palette, which people with any kind of colour vision can tell apart; the text on them is
black (contrast at least 4.5). Shape and letter say the same as the colour does.
"""

from __future__ import annotations

from typing import Final

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import BIRTH, IDLE, LOST, OP, NodeView


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """Look of one role.

    Attributes:
        letter: stands in front of the node's name.
        meaning: the text of the legend.
        fill: as ``#rrggbb``.
        shape, border: as Graphviz calls them.
    """

    letter: str
    meaning: str
    fill: str
    shape: str
    border: str = "solid"


ROLES: Final = {
    "data": NodeStyle("D", "data that is fed", "#FFFFFF", "parallelogram"),
    "parameter": NodeStyle("P", "parameter", "#E69F00", "cylinder"),
    "leaf": NodeStyle("V", "leaf tensor that takes a gradient", "#E69F00", "box", "bold"),
    "constant": NodeStyle("C", "tensor without a gradient", "#FFFFFF", "parallelogram", "dashed"),
    "state": NodeStyle("S", "kept between runs", "#FFFFFF", "cylinder", "dashed"),
    "forward": NodeStyle("F", "forward operator", "#56B4E9", "box"),
    "loss": NodeStyle("L", "loss", "#F0E442", "doubleoctagon"),
    "seed": NodeStyle("B", "seed of the backward part", "#F0E442", "box", "rounded"),
    "backward": NodeStyle("B", "backward operator", "#CC79A7", "box", "rounded"),
    "gradient": NodeStyle("G", "gradient that was asked for", "#009E73", "hexagon"),
    "optimize": NodeStyle("O", "optimizer's operator", "#D55E00", "box", "bold"),
    "temporary": NodeStyle("T", "other tensor", "#FFFFFF", "ellipse"),
    IDLE: NodeStyle("F", "no gradient comes to it", "#E6E6E6", "box", "dashed"),
    LOST: NodeStyle("∅", "gets no gradient", "#E6E6E6", "cylinder", "dashed"),
    BIRTH: NodeStyle("✗", "NaN or infinity is born here", "#D55E00", "octagon", "bold"),
}
"""Role or mark of a node -> how it looks, in the order of the legend."""

STROKES: Final = {"value": "#444444", "gradient": "#9C3D74", "saved": "#00629B", "shape": "#767676", "cut": "#A33B00"}
"""Kind of line -> its colour on light ground."""

STROKES_ON_DARK: Final = {
    "value": "#BBBBBB",
    "gradient": "#E79AC6",
    "saved": "#6CC0F2",
    "shape": "#9A9A9A",
    "cut": "#FF9A5C",
}


def role_of(node: NodeView) -> str:
    """The entry of :data:`ROLES` for a node: its mark if it has one; what makes the loss is a forward operator."""
    if node.mark:
        return node.mark
    return "forward" if node.kind == OP and node.role == "loss" else node.role


def look(node: NodeView) -> NodeStyle:
    return ROLES[role_of(node)]

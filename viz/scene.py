"""What a layout gives and renderers draw: boxes, routes and frames with their places.

Coordinates are pixels at scale 1, x to the right and y down, from the top left corner of the picture. What there is
one of for every node or edge is a named tuple: a program of 20,000 operators has some hundred thousand, and they cost a
third of what objects of frozen classes cost to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from gradtool.engine.view import GraphView

Point = tuple[float, float]

VALUE: Final = "value"
GRADIENT: Final = "gradient"
SAVED: Final = "saved"
SHAPE: Final = "shape"
KINDS: Final = (VALUE, GRADIENT, SAVED, SHAPE)
"""What travels along a route: a forward value, a gradient, a forward value that backward needs, or only its shape."""


class Box(NamedTuple):
    """A node of the view where it stands.

    Attributes:
        node: its id.
        x, y: its top left corner.
        lines: what is written in it, shortened where it has to be.
        row: its place in the order from top to bottom; the two operators of a pair share it.
        column: ``forward``, ``recomputed``, ``backward``, ``parameters``, ``gradients`` or ``optimizer``; further
            columns of higher-order programs are ``backward2`` and so on.
    """

    node: str
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    row: int
    column: str

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


class Label(NamedTuple):
    """Text beside a route; *anchor* is ``start``, ``middle`` or ``end`` of the text at the point."""

    text: str
    x: float
    y: float
    anchor: str = "middle"


class Route(NamedTuple):
    """An edge of the view: a line from box to box that crosses no other box.

    Attributes:
        edge: its position in ``view.edges``.
        points: at least two, joined by straight lines that are drawn with rounded corners.
        kind: one of :data:`KINDS`.
    """

    edge: int
    points: tuple[Point, ...]
    kind: str
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A border around boxes that belong together: a layer, a repetition, a sub-block, a recomputed segment.

    Attributes:
        id: ``layer:encoder.0``, ``repeat:12``, ``block:2`` or ``segment:1``; stable.
        kind: ``layer``, ``repeat``, ``block`` or ``segment``.
        nodes: the ids of the boxes inside, those of inner frames included.
    """

    id: str
    kind: str
    title: str
    x: float
    y: float
    width: float
    height: float
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture ready to be drawn.

    Attributes:
        view: what it shows, folded as far as it is.
    """

    view: GraphView
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    frames: tuple[Frame, ...]
    width: float
    height: float

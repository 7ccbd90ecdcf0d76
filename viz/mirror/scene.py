"""Scene that a layout gives and renderers draw: boxes, routes and frames with their places.

Coordinates are pixels at scale 1, x to the right and y down, from the top left corner of the picture. What there is
one of for every node or edge is kept in arrays: a program of 20,000 operators has some hundred thousand. Renderers go
through them one by one, as named tuples that are made on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise, repeat
from typing import Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import GraphView, NodeView

from .picture_arrays import Ints

Floats = NDArray[np.float64]

Point = tuple[float, float]

VALUE: Final = "value"
GRADIENT: Final = "gradient"
SAVED: Final = "saved"
SHAPE: Final = "shape"
CUT: Final = "cut"
KINDS: Final = (VALUE, GRADIENT, SAVED, SHAPE, CUT)
"""What travels along a route: a forward value, a gradient, a forward value that backward needs, or only its shape; a
forward value along which no gradient comes back although it should."""

SCISSORS: Final = "✂"
"""Stands on what is cut."""


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

    @property
    def point_before_end(self) -> Point:
        """A point on the line, a little before its arrow: where the sign of a cut stands."""
        (x, y), (to_x, to_y) = self.points[-2:]
        length = abs(to_x - x) + abs(to_y - y)
        share = max(length / 2, length - 16) / length if length else 0.0
        return x + (to_x - x) * share, y + (to_y - y) * share


# What Box._make does, without a call of Python's for each.
_BOX_OF: Callable[[Iterable[object]], Box] = partial(tuple.__new__, Box)
_ROUTE_OF: Callable[[Iterable[object]], Route] = partial(tuple.__new__, Route)
_LABEL_OF: Callable[[Iterable[object]], Label] = partial(tuple.__new__, Label)


@dataclass(frozen=True, slots=True, eq=False)
class Boxes(Sequence[Box]):
    """The boxes of a picture, in the order of its nodes. All attributes have one entry for each box.

    Attributes:
        nodes: what they show.
        names, facts: their two lines.
        column: positions in *columns*, which has the names.
    """

    nodes: Sequence[NodeView]
    x: Floats
    y: Floats
    width: Floats
    height: Floats
    names: Sequence[str]
    facts: Sequence[str]
    row: Ints
    column: Ints
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Box]:
        numbers = (values.tolist() for values in (self.x, self.y, self.width, self.height))
        columns = map(self.columns.__getitem__, self.column.tolist())
        lines = zip(self.names, self.facts, strict=True)
        ids = [n.id for n in self.nodes]
        return map(_BOX_OF, zip(ids, *numbers, lines, self.row.tolist(), columns, strict=True))

    @overload
    def __getitem__(self, at: int) -> Box: ...
    @overload
    def __getitem__(self, at: slice) -> Boxes: ...
    def __getitem__(self, at: int | slice) -> Box | Boxes:
        if isinstance(at, slice):
            places = (self.x[at], self.y[at], self.width[at], self.height[at])
            cells = (self.row[at], self.column[at])
            return Boxes(self.nodes[at], *places, self.names[at], self.facts[at], *cells, self.columns)
        x, y, width, height = (float(values[at]) for values in (self.x, self.y, self.width, self.height))
        lines = (self.names[at], self.facts[at])
        place = (x, y, width, height, lines, int(self.row[at]), self.columns[self.column[at]])
        return Box(self.nodes[at].id, *place)


@dataclass(frozen=True, slots=True, eq=False)
class Routes(Sequence[Route]):
    """The lines of a picture, in the order of its edges.

    Attributes:
        edge: of each line its position in ``view.edges``.
        kind: positions in :data:`KINDS`.
        first: where in *x* and *y* its points begin; one entry more says where the last one's end.
        x, y: all points.
        labelled: positions of the lines with a text beside them, in order.
        texts: these texts.
        text_x, text_y: where they start.
    """

    edge: Ints
    kind: Ints
    first: Ints
    x: Floats
    y: Floats
    labelled: Ints
    texts: Sequence[str]
    text_x: Floats
    text_y: Floats

    def __len__(self) -> int:
        return len(self.edge)

    def __iter__(self) -> Iterator[Route]:
        points = list(zip(self.x.tolist(), self.y.tolist(), strict=True))
        lines = (tuple(points[a:b]) for a, b in pairwise(self.first.tolist()))
        kinds = map(KINDS.__getitem__, self.kind.tolist())
        texts = zip(self.texts, self.text_x.tolist(), self.text_y.tolist(), repeat("start"))
        by_edge = dict(zip(self.labelled.tolist(), map(_LABEL_OF, texts), strict=True))
        labels = map(by_edge.get, range(len(self.edge)))
        return map(_ROUTE_OF, zip(self.edge.tolist(), lines, kinds, labels, strict=True))

    @overload
    def __getitem__(self, at: int) -> Route: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Route]: ...
    def __getitem__(self, at: int | slice) -> Route | Sequence[Route]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        here = range(len(self))[at]
        span = slice(int(self.first[here]), int(self.first[here + 1]))
        points = tuple(zip(self.x[span].tolist(), self.y[span].tolist(), strict=True))
        at = int(np.searchsorted(self.labelled, here))
        label = None
        if at < len(self.labelled) and self.labelled[at] == here:
            label = Label(self.texts[at], float(self.text_x[at]), float(self.text_y[at]), "start")
        return Route(int(self.edge[here]), points, KINDS[self.kind[here]], label)

    def kinds(self) -> tuple[str, ...]:
        """The kinds of line that there are, in the order of :data:`KINDS`."""
        return tuple(kind for k, kind in enumerate(KINDS) if (self.kind == k).any())


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
    boxes: Boxes
    routes: Routes
    frames: tuple[Frame, ...]
    width: float
    height: float

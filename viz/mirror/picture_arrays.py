"""Content of a picture as arrays: nodes and edges by number, and what the layout needs of them.

A pass over the objects of a view costs a hundred times what a pass over an array does, so there is one, and it is here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import compress
from operator import attrgetter
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import BACKWARD, FORWARD, IDLE, OP, GraphView, NodeView

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SOURCES: Final = frozenset({"parameter", "data", "state", "leaf", "constant"})
"""Roles of what is there before an operator runs."""

T = TypeVar("T", bound=Hashable)

_BLOCK = attrgetter("block")
_SORT = attrgetter("kind", "part", "role", "mark")
_FLAGS: Final = (attrgetter("saved"), attrgetter("shape_only"), attrgetter("cut"))


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """The nodes and edges of a picture.

    Attributes:
        nodes: what has a box, in the order of the view.
        place: of each node of the view its position in *nodes*, -1 where it has no box.
        pair: of each node its partner, as a position in *nodes*; -1 without one.
        block: the block of the program that it stands in.
        is_op, forward, idle: what it is.
        role: of each node a position in *roles*.
        edges: positions in ``view.edges`` of the edges that are drawn.
        source, target: positions in *nodes* of the two ends of each edge.
        tensor: position in ``view.nodes`` of what travels along it.
        of_backward: whether that is a tensor of the backward part.
        saved, shape_only, is_cut: as the view says.
    """

    view: GraphView
    nodes: tuple[NodeView, ...]
    place: Ints
    pair: Ints
    block: Ints
    is_op: Bools
    forward: Bools
    idle: Bools
    role: Ints
    roles: tuple[str, ...]
    edges: Ints
    source: Ints
    target: Ints
    tensor: Ints
    of_backward: Bools
    saved: Bools
    shape_only: Bools
    is_cut: Bools

    @classmethod
    def select(cls, view: GraphView) -> DrawnGraph:
        nodes, edges, at = view.nodes, view.edges, view.positions
        shown = view.shown
        drawn = tuple(compress(nodes, shown.tolist()))
        place = np.where(shown, np.cumsum(shown) - 1, -1)
        of_sort, sorts = number_values(map(_SORT, drawn), len(drawn))
        of_role, roles = number_values([role for _, _, role, _ in sorts], len(sorts))
        pair = at.pair[shown]
        block = np.zeros(len(drawn), dtype=np.int64)
        if view.blocks:
            block = np.fromiter(map(_BLOCK, drawn), np.int64, len(drawn))
        index = np.flatnonzero(at.source != at.target)
        tensor = at.tensor[index]
        of_backward = np.array([n.part == BACKWARD for n in nodes], dtype=bool)[tensor]
        saved, shape_only, is_cut = (np.fromiter(map(flag, edges), np.bool_, len(edges))[index] for flag in _FLAGS)
        return cls(
            view,
            drawn,
            place,
            np.where(pair >= 0, place[pair], -1) if len(nodes) else pair,
            block,
            _each(sorts, lambda sort: sort[0] == OP)[of_sort],
            _each(sorts, lambda sort: sort[1] == FORWARD)[of_sort],
            _each(sorts, lambda sort: sort[3] == IDLE)[of_sort],
            of_role[of_sort],
            tuple(roles),
            index,
            place[at.source[index]],
            place[at.target[index]],
            tensor,
            of_backward,
            saved,
            shape_only,
            is_cut,
        )

    def has_role(self, *wanted: str) -> Bools:
        """Of each node, whether its role is among *wanted*."""
        return _each(self.roles, wanted.__contains__)[self.role]

    def tensors(self, edges: Ints) -> list[NodeView]:
        """Return what travels along these of the edges."""
        return list(map(self.view.nodes.__getitem__, self.tensor[edges].tolist()))


def number_values(values: Iterable[T], count: int) -> tuple[Ints, list[T]]:
    """Equal values by one number, counted from 0 as they first appear; and the values in the order of the numbers."""
    table: defaultdict[T, int] = defaultdict()
    table.default_factory = table.__len__
    return np.fromiter(map(table.__getitem__, values), np.int64, count), list(table)


def _each(of: Iterable[T], is_so: Callable[[T], bool]) -> Bools:
    return np.array([is_so(value) for value in of], dtype=bool)

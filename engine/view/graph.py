"""The neutral picture of a graph: what renderers draw.

A :class:`GraphView` is plain data. It knows nothing of files or drawing, holds no reference to the objects that it was
made from, and is the same for the same program in every run. Renderers (``viz/render``) are functions of it. Nodes and
edges are named tuples: a program of 20,000 operators has a hundred thousand, and they cost a quarter of what objects of
frozen classes cost to make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import InitVar, replace
from functools import cached_property
from itertools import chain, compress, repeat
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.records import dataclass
from ..core.spec import Shape
from ..ir import roles
from ..ir.operator import Operator

FORWARD: Final = "forward"
BACKWARD: Final = "backward"
BOTH: Final = "both"
PARTS: Final = (FORWARD, BACKWARD, BOTH)

OP: Final = "op"
TENSOR: Final = "tensor"

FOLDED: Final = "folded"
"""The type of a node that stands for several operators of different types."""

IDLE: Final = "idle"
LOST: Final = "lost"
BIRTH: Final = "birth"
MARKS: Final = (IDLE, LOST, BIRTH)
"""What is wrong with a node: no gradient comes to what it computes; it is a parameter, or something else that could be
trained, and gets no gradient; NaN or infinity is born in it."""


class NodeView(NamedTuple):
    """An operator or a tensor.

    Attributes:
        id: ``op7`` for the eighth operator, ``v12`` for the thirteenth variable.
        kind: :data:`OP` or :data:`TENSOR`.
        name: ``mul_grad.0`` (the first operator of that type), or the tensor's name.
        type: the operator's type, or what the variable holds.
        role: of an operator ``forward``, ``loss``, ``seed``, ``backward`` or ``optimize``; of a tensor ``data``,
            ``parameter``, ``gradient`` (of a parameter or of something else that was asked for), ``loss``, ``state``
            (persistable) or ``temporary``; on a tape also ``leaf``, ``constant`` (no gradient) and ``seed``.
        part: :data:`FORWARD` or :data:`BACKWARD`.
        shape, dtype: of a tensor; None for an operator. -1 in the shape is not known until the program runs.
        pair: the forward operator that a gradient operator differentiates, the tensor that a gradient belongs to. On a
            tape, where a forward operator has one gradient operator, the other way round as well.
        source: ``model.py:9``, or empty.
        scope: the ``name_scope`` that an operator was made in, on a tape the layer whose parameter it reads; or empty.
        block: the index of the block that it stands in.
        count: how many nodes of one kind, one from each repetition, it stands for.
        members: the ids of the nodes that were folded into it.
        mark: one of :data:`MARKS`, or empty.
        note: the reason for the mark in a few words, such as ``detached, model.py:14``.
    """

    id: str
    kind: str
    name: str
    type: str
    role: str
    part: str
    shape: Shape | None = None
    dtype: str | None = None
    pair: str | None = None
    source: str = ""
    scope: str = ""
    block: int = 0
    count: int = 1  # type: ignore[assignment]  # not tuple's
    members: tuple[str, ...] = ()
    mark: str = ""
    note: str = ""

    @property
    def spec(self) -> str:
        """``float32[-1, 13]``; empty for an operator."""
        return "" if self.shape is None else f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class EdgeView(NamedTuple):
    """A tensor on its way from where its value comes from to an operator that reads it, or to a result.

    Attributes:
        source: the operator that wrote the value, or the tensor itself when nothing did.
        target: the operator that reads it, or the tensor itself where a result is shown.
        tensor: the tensor's node.
        slot: the slot of the reading operator; of the writing one when the target is the tensor.
        saved: whether a backward operator reads a forward value, which has to be kept alive for it.
        shape_only: whether a backward operator reads nothing but the shape of a forward value.
        count: how many edges were folded into it.
        cut: why no gradient comes back along it although one comes to its target, such as ``detached, model.py:14``;
            empty where one does, or where nothing behind it could be trained.
    """

    source: str
    target: str
    tensor: str
    slot: str = ""
    saved: bool = False
    shape_only: bool = False
    count: int = 1  # type: ignore[assignment]  # not tuple's
    cut: str = ""


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block that an operator runs: its index, that of the block around it, and the operator's name."""

    index: int
    parent: int
    owner: str


@dataclass(frozen=True, slots=True)
class Positions:
    """A view in numbers, all of them positions in ``nodes``.

    Attributes:
        pair: the partner of each node, -1 where it has none.
        source, target, tensor: of each edge.
    """

    pair: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    tensor: NDArray[np.int64]


@dataclass(frozen=True)
class GraphView:
    """Nodes and edges in the order of the program, and the blocks beside the main one.

    Every tensor has a node. Edges touch the node of a tensor only where the tensor itself is of interest: data,
    parameters, their gradients, the loss, results. Others travel along edges from operator to operator.

    Args:
        known: the view in numbers, from who made it and knows them; else they are looked up when they are asked for.
    """

    title: str
    nodes: tuple[NodeView, ...]
    edges: tuple[EdgeView, ...]
    part: str = BOTH
    blocks: tuple[BlockView, ...] = ()
    known: InitVar[Positions | None] = None

    def __post_init__(self, known: Positions | None) -> None:
        if known is not None:
            self.__dict__["positions"] = known

    @cached_property
    def positions(self) -> Positions:
        number = dict(zip(map(_ID, self.nodes), range(len(self.nodes)), strict=True))
        count = len(self.nodes)
        pair = np.fromiter(map(number.get, map(_PAIR, self.nodes), repeat(-1)), np.int64, count)
        return Positions(
            pair,
            *(np.fromiter(map(number.__getitem__, map(end, self.edges)), np.int64, len(self.edges)) for end in _ENDS),
        )

    def by_id(self) -> dict[str, NodeView]:
        return {n.id: n for n in self.nodes}

    def only(self, part: str) -> GraphView:
        """The forward or the backward part, with the edges inside it; everything for :data:`BOTH`."""
        if part == BOTH:
            return self
        nodes = tuple(n for n in self.nodes if n.part == part)
        ids = {n.id for n in nodes}
        edges = tuple(e for e in self.edges if e.source in ids and e.target in ids)
        return replace(self, nodes=nodes, edges=edges, part=part)

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Mask of the nodes that a picture shows: operators, tensors with an edge, and parameters even without one."""
        mask = np.array([n.kind == OP or n.role == "parameter" for n in self.nodes], dtype=bool)
        mask[self.positions.source] = mask[self.positions.target] = True
        return mask

    @property
    def visible_count(self) -> int:
        """Number of nodes that a picture shows."""
        return int(np.count_nonzero(self.shown))

    def drawn(self) -> tuple[NodeView, ...]:
        """The nodes that a picture shows."""
        return tuple(compress(self.nodes, self.shown.tolist()))


_ID = attrgetter("id")
_PAIR = attrgetter("pair")
_ENDS = (attrgetter("source"), attrgetter("target"), attrgetter("tensor"))


def op_names(ops: Iterable[Operator], chosen: Container[Operator] | None = None) -> dict[Operator, str]:
    """A stable name for each operator: ``mul_grad.0`` is the first one of its type.

    Those of the forward part are counted first, so they are called the same before there is a backward part.

    Args:
        chosen: the operators whose names are wanted; all of them by default.
    """
    forward: list[Operator] = []
    others: list[Operator] = []
    for op in ops:
        (forward if roles.is_forward(op.role) else others).append(op)
    counts: defaultdict[str, int] = defaultdict(int)
    labels = {}
    for op in chain(forward, others):
        kind = op.op.type
        if chosen is None or op in chosen:
            labels[op] = f"{kind}.{counts[kind]}"
        counts[kind] += 1
    return labels

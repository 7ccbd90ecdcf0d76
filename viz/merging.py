"""Nodes of a view made one: those with the same key, what follows them, and the edges between what is left.

All of it is counted in positions of nodes, which views know of their edges; objects are looked at where nodes are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple, TypeVar

import numpy as np

from gradtool.engine.core.collector import pause_gc
from gradtool.engine.view.graph import BACKWARD, BIRTH, FOLDED, OP, EdgeView, GraphView, NodeView

from .mirror.picture_arrays import Bools, Ints

REPEAT: Final = "repeat"
STAYS: Final = -1
"""In the place of a key: nothing is folded."""

_T = TypeVar("_T")


class Key(NamedTuple):
    """Key of the node that a node is folded into.

    Attributes:
        kind: ``layer``, ``repeat`` or ``stretch``; of these the first and last have a name.
        number: which of that kind.
        place: of a repetition the place in a block.
        block: the block of the program.
        part: of an operator whether it is forward; of a tensor what it is; what tells members of *place* apart.
    """

    kind: str
    number: int
    place: int = 0
    block: int = 0
    part: tuple[str | int, ...] = ()

    @property
    def is_named(self) -> bool:
        """True if all of it is one node with a name of its own."""
        return self.kind != REPEAT


class Groups:
    """Nodes that the nodes of a view are folded into, by their positions.

    Attributes:
        keys: all of them, in the order in which they were entered.
        of: for each node the place of its key in *keys*; :data:`STAYS` for one that is not folded.
        copy: for each node the repetition that it stands in; -1 for none.

    Args:
        count: of the nodes.
    """

    def __init__(self, count: int) -> None:
        self.keys: list[Key] = []
        self.of = [STAYS] * count
        self.copy = [-1] * count
        self.is_named: list[bool] = []
        self._places: dict[Key, int] = {}
        self._inner: dict[tuple[int, tuple[str, ...], int], int] = {}
        self._numbers: dict[tuple[int, tuple[str, ...]], int] = {}

    def place(self, key: Key) -> int:
        """The place of *key* in *keys*, to which it is added."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.keys)
            self.keys.append(key)
            self.is_named.append(key.is_named)
        return place

    def follow(self, node: int, op: int, role: str, *place: str) -> None:
        """Fold *node* with the operator that it belongs to, in the same repetition.

        Args:
            role: what all such nodes are in a folded layer.
            place: what they are to a folded operator, where several are numbered.
        """
        key = self.of[op]
        number = 0
        if self.is_named[key]:
            place = (role,)
        else:
            number = self._numbers.get((op, place), 0)
            self._numbers[op, place] = number + 1
        inner = self._inner.get((key, place, number))
        if inner is None:
            whole = self.keys[key]
            numbered = () if self.is_named[key] else (number,)
            inner = self._inner[key, place, number] = self.place(whole._replace(part=(*whole.part, *place, *numbered)))
        self.of[node] = inner
        self.copy[node] = self.copy[op]


def merge(view: GraphView, groups: Groups, names: Mapping[Key, str]) -> GraphView:
    """Nodes with the same key become one, and so do their gradient operators, parameters and gradients.

    Args:
        groups: what forward operators are folded into; others stay. Edges from one repetition to the next are left out.
        names: keys -> the name of the node; without one the node is its first member, once for each repetition.
    """
    with pause_gc():
        return _Merging(view, groups, names).merge()


class _Merging:
    def __init__(self, view: GraphView, groups: Groups, names: Mapping[Key, str]) -> None:
        self.view, self.nodes, self.groups, self.names = view, view.nodes, groups, names
        at = view.positions
        self.pair, self.source, self.target, self.tensor = at.pair, at.source, at.target, at.tensor
        is_made = self.source != self.tensor
        self.made, self.read = np.flatnonzero(is_made), np.flatnonzero(~is_made)
        """The edges from operators that make a tensor, and those from the tensor itself."""
        self.maker = self._first(self.made)

    def _first(self, edges: Ints) -> Ints:
        """For each tensor the first of *edges* that it travels along; -1 for none."""
        first = np.full(len(self.nodes), -1)
        first[self.tensor[edges][::-1]] = edges[::-1]  # what is written last stays
        return first

    def merge(self) -> GraphView:
        self._backward_keys()
        self._tensor_keys()
        of, copy = np.array(self.groups.of, dtype=np.int64), np.array(self.groups.copy, dtype=np.int64)
        # The nodes with each key, repetition by repetition; the first of them stands for all.
        folded = np.flatnonzero(of != STAYS)
        order = folded[np.lexsort((copy[folded], of[folded]))]
        begins = np.flatnonzero(np.diff(of[order], prepend=STAYS))
        sizes = np.diff(begins, append=len(order))
        self.to = np.arange(len(self.nodes))
        self.to[order] = np.repeat(order[begins], sizes)
        whole = np.zeros(len(self.nodes), dtype=bool)
        whole[order[begins]] = np.array(self.groups.is_named, dtype=bool)[of[order[begins]]]
        members = order.tolist()
        group_of = dict(zip(order[begins].tolist(), zip(begins.tolist(), sizes.tolist(), strict=True), strict=True))
        # What is left: they, and what is not folded.
        shown = []
        for i in np.flatnonzero(self.to == np.arange(len(self.nodes))).tolist():
            n, group = self.nodes[i], group_of.get(i)
            if group is None:
                shown.append(n if self.pair[i] < 0 else n._replace(pair=self._id(int(self.pair[i]))))
            else:
                inside = members[group[0] : sum(group)]
                name = self.names.get(self.groups.keys[of[i]]._replace(part=()))
                shown.append(_fold_node([self.nodes[m] for m in inside], self._pair(inside), name))
        return replace(self.view, nodes=tuple(shown), edges=tuple(self._join_edges(of, copy, whole)))

    def _id(self, node: int) -> str:
        """The id of what stands for a node."""
        return self.nodes[int(self.to[node])].id

    def _pair(self, members: Sequence[int]) -> str | None:
        """Return what *members* differentiate: a sum of gradients nothing, what it is folded with does."""
        first = next((m for m in members if self.nodes[m].pair is not None), None)
        if first is None:
            return None
        return self._id(int(self.pair[first])) if self.pair[first] >= 0 else self.nodes[first].pair

    # -- what follows forward operators -------------------------------------------------------------------------------

    def _backward_keys(self) -> None:
        """Keys for gradient operators, from those of the operators that they differentiate.

        An operator that differentiates none (the sum of two gradients) is folded with what it works for: with the
        operator whose result its own result is the gradient of. Where that is not folded, or it is the gradient of a
        parameter or of data, it is folded with the first layer that reads this, whose gradient is the last to be added.
        """
        groups, pair = self.groups, self.pair.tolist()
        backward = [(i, n) for i, n in enumerate(self.nodes) if n.kind == OP and n.part == BACKWARD]
        made_for = self._find_customers([i for i, n in backward if n.pair is None])
        for i, n in backward:
            of = made_for.get(i, -1) if n.pair is None else pair[i]
            if of >= 0 and groups.of[of] != STAYS and n.role not in ("optimize", "seed"):
                groups.follow(i, of, "gradient", n.type)

    def _find_customers(self, apart: Sequence[int]) -> dict[int, int]:
        """Backward operators that differentiate none -> the operator that they work for."""
        if not apart:
            return {}
        is_apart = np.zeros(len(self.nodes), dtype=bool)
        is_apart[apart] = True
        folded = is_apart | (np.array(self.groups.of, dtype=np.int64) != STAYS)
        written: dict[int, list[int]] = {}
        for e in np.flatnonzero(is_apart[self.source]).tolist():
            written.setdefault(int(self.source[e]), []).append(int(self.pair[self.tensor[e]]))
        reader = self._first_reading_edges()
        owners: dict[int, int] = {}
        for op, differentiated in written.items():
            makers = [int(self.source[self.maker[t]]) for t in differentiated if t >= 0 and self.maker[t] >= 0]
            readers = [int(self.target[reader[t]]) for t in differentiated if t >= 0 and reader[t] >= 0]
            owner = next(iter(makers if makers and folded[makers[0]] else [*readers, *makers]), None)
            if owner is not None:
                owners[op] = owner
        return owners

    def _first_reading_edges(self) -> Ints:
        """For each tensor the first edge along which an operator of a folded layer reads it; -1 for none."""
        named = np.array([*self.groups.is_named, False], dtype=bool)  # the last one stands for what stays
        return self._first(np.flatnonzero(named[np.array(self.groups.of, dtype=np.int64)][self.target]))

    def _tensor_keys(self) -> None:
        """Keys for tensors: by the operator that makes them, or reads them first, and the slot there."""
        groups, edges = self.groups, self.view.edges
        source, target = self.source.tolist(), self.target.tolist()
        makers, readers = self.maker.tolist(), self._first(self.read).tolist()
        boxes = np.zeros(len(self.nodes), dtype=bool)
        boxes[self.target[self.made]] = boxes[self.source[self.read]] = True
        has_box = boxes.tolist()
        for i, n in enumerate(self.nodes):
            if n.kind == OP or n.role in ("loss", "data"):
                continue
            edge = makers[i]
            if edge < 0 or n.role in ("parameter", "state"):
                edge = readers[i]
                if edge < 0:
                    continue
                op, slot = target[edge], edges[edge].slot
            else:
                op, slot = source[edge], edges[edge].slot if target[edge] == i else ""
            key = groups.of[op]
            if key != STAYS and (has_box[i] or not groups.is_named[key]):
                groups.follow(i, op, n.role, slot, n.role)

    # -- edges --------------------------------------------------------------------------------------------------------

    def _join_edges(self, of: Ints, copy: Ints, whole: Bools) -> Iterator[EdgeView]:
        """The edges between what is left; all that goes between a folded layer and something else is one line."""
        source, target, tensor = self.to[self.source], self.to[self.target], self.to[self.tensor]
        stays = np.flatnonzero((source != target) & ~self._crosses_copies(of, copy))
        is_whole = whole.tolist()
        lines: dict[tuple[object, ...], tuple[int, int]] = {}
        """The edge that is shown, and how many it stands for."""
        numbers = zip(source[stays].tolist(), target[stays].tolist(), tensor[stays].tolist(), strict=True)
        for i, (from_, to, through) in zip(stays.tolist(), numbers, strict=True):
            _, _, _, slot, saved, shape_only, count, cut = self.view.edges[i]
            if not is_whole[from_] and not is_whole[to]:
                lines[from_, to, through, slot, saved, shape_only, cut] = i, count
                continue
            line = (from_, to, self.nodes[through].part, saved, shape_only, cut)
            before = lines.get(line)
            lines[line] = (i, count) if before is None else (before[0], before[1] + count)
        for i, count in lines.values():
            edge = self.view.edges[i]
            a, b, t = (self.nodes[int(ends[i])].id for ends in (source, target, tensor))
            yield EdgeView(a, b, t, edge.slot, edge.saved, edge.shape_only, count, edge.cut)

    def _crosses_copies(self, of: Ints, copy: Ints) -> Bools:
        """Mask of the edges that lead from one repetition to the next."""
        families: dict[tuple[str, int], int] = {}
        family = np.array([*(families.setdefault(k[:2], len(families)) for k in self.groups.keys), STAYS])[of]
        here, there = copy[self.source], copy[self.target]
        leads: Bools = (family[self.source] == family[self.target]) & (here >= 0) & (there >= 0) & (here != there)
        return leads


# -- the node that stands for others -----------------------------------------------------------------------------------


def _fold_node(members: Sequence[NodeView], pair: str | None, name: str | None) -> NodeView:
    """The node that stands for *members*; of a layer with its *name*, of repetitions as the first of them."""
    first = members[0]
    if len(members) == 1:
        return first._replace(pair=pair)
    mark, note = _mark(members)
    within = tuple(chain.from_iterable([n.members or (n.id,) for n in members]))
    node = first._replace(pair=pair, members=within, mark=mark, note=note)
    shown = first.name if first.kind == OP else _pattern([n.name for n in members])
    if name is not None:
        return _layer(node, members, name, shown)
    scope = _pattern([n.scope for n in members])
    return node._replace(name=shown, scope=scope, count=sum([n.count for n in members]))


def _mark(members: Sequence[NodeView]) -> tuple[str, str]:
    """Mark and note of what stands for *members*: that of a birth; any other only where all have it."""
    marks = [n.mark for n in members]
    if BIRTH in marks:
        return BIRTH, members[marks.index(BIRTH)].note
    mark = _same(marks, "")
    return mark, _same([n.note for n in members if n.note] or [""], "") if mark else ""


def _layer(node: NodeView, members: Sequence[NodeView], name: str, shown: str) -> NodeView:
    """*node* as what a layer does forward or backward, or as all tensors that it has of one kind."""
    count = _same([n.count for n in members], 1)
    if node.kind != OP:
        return node._replace(name=shown, shape=None, dtype=None, count=count)
    backward = node.part == BACKWARD
    return node._replace(
        name=f"{name} gradient" if backward else name,
        type=FOLDED,
        role="backward" if backward else "forward",
        scope=name,
        source=_same([n.source for n in members], ""),
        count=count,
    )


def _same(values: Sequence[_T], otherwise: _T) -> _T:
    """Return what all values are, if they are one."""
    return values[0] if len(set(values)) == 1 else otherwise


_NUMBER: Final = re.compile(r"(\d+)")


def _pattern(names: Sequence[str]) -> str:
    """Return the common pattern of names: ``blocks.*.weight``."""
    if len(set(names)) == 1:
        return names[0]
    if len({_NUMBER.sub("0", n) for n in names}) == 1:
        # They differ in numbers alone: a star for each that is not the same everywhere.
        numbers = zip(*map(_NUMBER.findall, names), strict=True)
        told = iter([_same(column, "*") for column in numbers])
        return "".join([next(told) if i % 2 else text for i, text in enumerate(_NUMBER.split(names[0]))])
    start, end = _common_prefix(names), _common_prefix([n[::-1] for n in names])[::-1]
    shortest = min(map(len, names))
    return f"{start}*{end[max(0, len(start) + len(end) - shortest) :]}"


def _common_prefix(names: Sequence[str]) -> str:
    """Return the common beginning of all *names*."""
    first, last = min(names), max(names)
    at = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:at]

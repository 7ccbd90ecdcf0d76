"""Smaller views of a graph: layers, repetitions and stretches folded.

Every function gives a new view; renderers need not know that anything was left out. A folded node keeps the ids of what
it stands for (``members``), and its gradient operators are folded with it, so that pairs stay pairs. Each takes a
constant number of passes over the view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from gradtool.engine.view.graph import BACKWARD, BIRTH, FOLDED, FORWARD, OP, EdgeView, GraphView, NodeView

from .repeats import repetitions

LAYER: Final = "layer"
REPEAT: Final = "repeat"
AUTO: Final = "auto"
NONE: Final = "none"
FOLDS: Final = (AUTO, NONE, LAYER, REPEAT)

_T = TypeVar("_T")

MAX_NODES: Final = 400
"""Nodes that a picture shows before it is folded; beyond that people search, they do not look."""


def fold(view: GraphView, how: str = AUTO, max_nodes: int = MAX_NODES) -> GraphView:
    """The view folded as the command line asks for it.

    Args:
        how: one of :data:`FOLDS`.
        max_nodes: for :data:`AUTO`, the most nodes to show.
    """
    if how == NONE:
        return view
    if how == LAYER:
        return layers(view, max_nodes=max_nodes)
    return repeated(view) if how == REPEAT else automatic(view, max_nodes)


def automatic(view: GraphView, max_nodes: int = MAX_NODES) -> GraphView:
    """Folded as little as it takes to show at most *max_nodes*.

    Repetitions come first, which lose nothing; then layers from the innermost out; then stretches of the program.
    """
    if len(view.drawn()) <= max_nodes:
        return view
    result = repeated(view)
    if len(result.drawn()) <= max_nodes:
        return result
    result = layers(result, max_nodes=max_nodes)
    return result if len(result.drawn()) <= max_nodes else stretches(result, max_nodes)


# -- layers -----------------------------------------------------------------------------------------------------------


def layers(view: GraphView, *, max_nodes: int = MAX_NODES) -> GraphView:
    """One node for each layer, one for its parameters, one for what differentiates it, one for the gradients.

    The innermost layers are folded; layers around them as well, as long as there are more than *max_nodes*.
    """
    scopes = _scopes(view)
    smallest = view
    for depth in range(max((len(s.split(".")) for s in scopes.values() if s), default=0), 0, -1):
        smallest = _folded_layers(view, scopes, depth)
        if len(smallest.drawn()) <= max_nodes:
            break
    return smallest


def _folded_layers(view: GraphView, scopes: Mapping[str, str], depth: int) -> GraphView:
    keys: dict[str, Key] = {}
    names: dict[Key, str] = {}
    before, run = "", 0
    for n in view.nodes:
        if n.kind != OP or n.part != FORWARD:
            continue
        here = ".".join(scopes[n.id].split(".")[:depth])
        if here != before:
            before, run = here, run + 1
        if here:
            # A layer that runs again further down is another node: folded into one, it would read its own result.
            key = Key("layer", run, block=n.block)
            keys[n.id], names[key] = key, here
    return merged(view, keys, names)


def _scopes(view: GraphView) -> dict[str, str]:
    """Forward operators -> the layer that they belong to.

    Where only operators that read parameters know their layer, those between two of a layer belong to it too.
    """
    ops = [n for n in view.nodes if n.kind == OP and n.part == FORWARD]
    scopes = {n.id: n.scope.replace("/", ".") for n in ops}
    before, pending = "", list[str]()
    for n in ops:
        scope = scopes[n.id]
        if not scope:
            pending.append(n.id)
            continue
        common = _common(before, scope)
        for i in pending:
            scopes[i] = common
        before, pending = scope, []
    return scopes


def _common(a: str, b: str) -> str:
    parts = []
    for x, y in zip(a.split("."), b.split("."), strict=False):
        if x != y:
            break
        parts.append(x)
    return ".".join(parts)


# -- repetitions ------------------------------------------------------------------------------------------------------


def repeated(view: GraphView) -> GraphView:
    """Blocks that follow each other and are built alike are shown once, with ``×12`` on every node."""
    ops = [n for n in view.nodes if n.kind == OP and n.part == FORWARD]
    keys: dict[str, Key] = {}
    copies: dict[str, int] = {}
    for number, (start, length, times) in enumerate(repetitions(view, ops)):
        for i in range(length * times):
            op = ops[start + i].id
            keys[op] = Key("repeat", number, i % length)
            copies[op] = i // length
    return merged(view, keys, {}, copies) if keys else view


def stretches(view: GraphView, max_nodes: int) -> GraphView:
    """Operators that follow each other, in equal parts: for programs without layers and repetitions."""
    ops = [n for n in view.nodes if n.kind == OP and n.part == FORWARD]
    size = -(-len(ops) // max(max_nodes // 4, 1))
    if size < 2:
        return view
    keys: dict[str, Key] = {}
    names: dict[Key, str] = {}
    for i, n in enumerate(ops):
        key = Key("stretch", i // size, block=n.block)
        keys[n.id] = key
        names.setdefault(key, f"{n.name} …")
    return merged(view, keys, names)


# -- merging ----------------------------------------------------------------------------------------------------------


class Key(NamedTuple):
    """What a node is folded into.

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
        """Whether all of it is one node with a name of its own."""
        return self.kind != REPEAT

    def inner(self, *part: str | int) -> Key:
        """What belongs to this one."""
        return Key(self.kind, self.number, self.place, self.block, self.part + part)


def merged(
    view: GraphView, keys: Mapping[str, Key], names: Mapping[Key, str], copies: Mapping[str, int] | None = None
) -> GraphView:
    """Nodes with the same key become one, and so do their gradient operators, parameters and gradients.

    Args:
        keys: forward operators -> what they are folded into; others stay.
        names: keys -> the name of the node; without one the node is its first member, once for each repetition.
        copies: forward operators -> the repetition that they stand in; edges from one to the next are left out.
    """
    key_of, copy_of = dict(keys), dict(copies or {})
    _backward_keys(view, key_of, copy_of)
    _tensor_keys(view, key_of, copy_of)
    members = _members(view, key_of, copy_of)
    to = {n.id: nodes[0].id for nodes in members.values() for n in nodes}
    shown = []
    for n in view.nodes:
        first = to.get(n.id)
        if first is None:
            shown.append(n if n.pair not in to else n._replace(pair=to[n.pair]))
        elif first == n.id:
            key = key_of[n.id]
            shown.append(_folded(members[key], names.get(key._replace(part=())), to))
    whole = {nodes[0].id for key, nodes in members.items() if key.is_named}
    edges = _joined(view, key_of, copy_of, to, whole)
    return replace(view, nodes=tuple(shown), edges=tuple(edges))


def _members(view: GraphView, key_of: Mapping[str, Key], copy_of: Mapping[str, int]) -> dict[Key, list[NodeView]]:
    """The nodes with each key, repetition by repetition; the first of them stands for all."""
    members: dict[Key, list[NodeView]] = {}
    for n in view.nodes:
        key = key_of.get(n.id)
        if key is not None:
            members.setdefault(key, []).append(n)
    if copy_of:
        for nodes in members.values():
            nodes.sort(key=lambda n: copy_of.get(n.id, 0))
    return members


def _joined(
    view: GraphView, key_of: Mapping[str, Key], copy_of: Mapping[str, int], to: Mapping[str, str], whole: set[str]
) -> Iterable[EdgeView]:
    """The edges between what is left; all that goes between a folded layer and something else is one line."""
    parts = {n.id: n.part for n in view.nodes}

    def to_another_copy(source: str, target: str) -> bool:
        """Whether the edge leads from one repetition to the next."""
        a, b = copy_of.get(source), copy_of.get(target)
        return a is not None and b is not None and a != b and key_of[source][:2] == key_of[target][:2]

    edges: dict[tuple[object, ...], EdgeView] = {}
    for source_, target_, tensor_, slot, saved, shape_only, count, cut in view.edges:
        source, target, tensor = to.get(source_, source_), to.get(target_, target_), to.get(tensor_, tensor_)
        if source == target or to_another_copy(source_, target_):
            continue
        edge = EdgeView(source, target, tensor, slot, saved, shape_only, count, cut)
        if source not in whole and target not in whole:
            edges[source, target, tensor, slot, parts[tensor], saved, shape_only, cut] = edge
            continue
        line = (source, target, parts[tensor], saved, shape_only, cut)
        before = edges.get(line)
        edges[line] = edge if before is None else before._replace(count=before.count + count)
    return edges.values()


def _folded(members: Sequence[NodeView], name: str | None, to: Mapping[str, str]) -> NodeView:
    """The node that stands for *members*; of a layer with its *name*, of repetitions as the first of them."""
    first = members[0]
    pair = _pair(members, to)
    if len(members) == 1:
        return first._replace(pair=pair)
    mark, note = _mark(members)
    within = tuple(chain.from_iterable(n.members or (n.id,) for n in members))
    node = first._replace(pair=pair, members=within, mark=mark, note=note)
    shown = first.name if first.kind == OP else _pattern([n.name for n in members])
    if name is not None:
        return _layer(node, members, name, shown)
    scope = _pattern([n.scope for n in members])
    return node._replace(name=shown, scope=scope, count=sum(n.count for n in members))


def _mark(members: Sequence[NodeView]) -> tuple[str, str]:
    """Mark and note of what stands for *members*: that of a birth; any other only where all have it."""
    birth = next((n for n in members if n.mark == BIRTH), None)
    if birth is not None:
        return BIRTH, birth.note
    mark = _same([n.mark for n in members], "")
    return mark, _same([n.note for n in members if n.note] or [""], "") if mark else ""


def _pair(members: Sequence[NodeView], to: Mapping[str, str]) -> str | None:
    """What *members* differentiate: a sum of gradients nothing, what it is folded with does."""
    pair = next((n.pair for n in members if n.pair is not None), None)
    return to.get(pair, pair) if pair is not None else None


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
    """What all values are, if they are one."""
    return values[0] if len(set(values)) == 1 else otherwise


def _pattern(names: Sequence[str]) -> str:
    """What names have in common: ``blocks.*.weight``."""
    if len(set(names)) == 1:
        return names[0]
    parts = [re.split(r"(\d+)", n) for n in names]
    if _differ_in_numbers(parts):
        return "".join(_same(column, "*") for column in zip(*parts, strict=True))
    start, end = _beginning(names), _beginning([n[::-1] for n in names])[::-1]
    shortest = min(map(len, names))
    return f"{start}*{end[max(0, len(start) + len(end) - shortest) :]}"


def _differ_in_numbers(parts: Sequence[Sequence[str]]) -> bool:
    """Whether names, taken apart at their numbers, have all else in common."""
    if len({len(p) for p in parts}) != 1:
        return False
    return all(len(set(column)) == 1 or column[0].isdigit() for column in zip(*parts, strict=True))


def _beginning(names: Sequence[str]) -> str:
    """What all of *names* begin with."""
    first, last = min(names), max(names)
    at = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:at]


class _Following:
    """Gives nodes the key, and the repetition, of the operator that they belong to."""

    def __init__(self, keys: dict[str, Key], copies: dict[str, int]) -> None:
        self._keys = keys
        self._copies = copies
        self._numbers: dict[tuple[str, ...], int] = {}

    def follow(self, node: str, op: str, role: str, *place: str) -> None:
        """Fold *node* with *op*.

        Args:
            role: what all such nodes are in a folded layer.
            place: what they are to a folded operator, where several are numbered.
        """
        key = self._keys[op]
        if key.is_named:
            self._keys[node] = key.inner(role)
        else:
            number = self._numbers[op, *place] = self._numbers.get((op, *place), -1) + 1
            self._keys[node] = key.inner(*place, number)
        if op in self._copies:
            self._copies[node] = self._copies[op]


def _backward_keys(view: GraphView, keys: dict[str, Key], copies: dict[str, int]) -> None:
    """Keys for gradient operators, from those of the operators that they differentiate.

    An operator that differentiates none (the sum of two gradients) is folded with what it works for: with the operator
    whose result its own result is the gradient of. Where that is not folded, or it is the gradient of a parameter or
    of data, it is folded with the first layer that reads this, whose gradient is the last to be added.
    """
    backward = [n for n in view.nodes if n.kind == OP and n.part == BACKWARD]
    made_for = _made_for(view, {n.id for n in backward if n.pair is None}, keys)
    following = _Following(keys, copies)
    for n in backward:
        of = n.pair or made_for.get(n.id, "")
        if of in keys and n.role not in ("optimize", "seed"):
            following.follow(n.id, of, "gradient", n.type)


def _made_for(view: GraphView, apart: set[str], keys: Mapping[str, Key]) -> dict[str, str]:
    """Backward operators that differentiate none -> the operator that they work for."""
    if not apart:
        return {}
    writer: dict[str, str] = {}
    written: dict[str, list[str]] = {}
    for e in view.edges:
        if e.source != e.tensor:
            writer.setdefault(e.tensor, e.source)
        if e.source in apart:
            written.setdefault(e.source, []).append(e.tensor)
    reader = _reading_layers(view, keys)
    pairs = {n.id: n.pair for n in view.nodes}
    folded = apart.union(keys)
    owners = {}
    for op, tensors in written.items():
        differentiated = [pairs[t] for t in tensors]
        maker = _first(writer, differentiated)
        owner = maker if maker in folded else _first(reader, differentiated) or maker
        if owner is not None:
            owners[op] = owner
    return owners


def _reading_layers(view: GraphView, keys: Mapping[str, Key]) -> dict[str, str]:
    """Tensors -> the first operator of a folded layer that reads them."""
    readers: dict[str, str] = {}
    for e in view.edges:
        key = keys.get(e.target)
        if key is not None and key.is_named:
            readers.setdefault(e.tensor, e.target)
    return readers


def _first(table: Mapping[str, str], tensors: Iterable[str | None]) -> str | None:
    return next(filter(None, (table.get(t or "") for t in tensors)), None)


def _tensor_keys(view: GraphView, keys: dict[str, Key], copies: dict[str, int]) -> None:
    """Keys for tensors: by the operator that makes them, or reads them first, and the slot there."""
    makers, readers, boxes = _ends(view)
    following = _Following(keys, copies)
    for n in view.nodes:
        if n.kind == OP or n.role in ("loss", "data"):
            continue
        ends = readers if n.role in ("parameter", "state") or n.id not in makers else makers
        op, slot = ends.get(n.id, ("", ""))
        if op in keys and (n.id in boxes or not keys[op].is_named):
            following.follow(n.id, op, n.role, slot, n.role)


def _ends(view: GraphView) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]], set[str]]:
    """Of tensors the operator that makes them and the one that reads them first, with the slots; those with a box."""
    makers: dict[str, tuple[str, str]] = {}
    readers: dict[str, tuple[str, str]] = {}
    boxes = set()
    for source, target, tensor, slot, *_ in view.edges:
        if source != tensor:
            makers.setdefault(tensor, (source, slot if target == tensor else ""))
            boxes.add(target)
        else:
            readers.setdefault(tensor, (target, slot))
            boxes.add(source)
    return makers, readers, boxes

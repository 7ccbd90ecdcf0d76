"""Two graphs as one picture: that of the second, with what only the first one has drawn where it stood.

Colours say what came, what went and what is another now; signs in the boxes (``+``, ``-``, ``~``) say the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from gradtool.engine.answers.diff.structure import GraphDifference
from gradtool.engine.view.graph import BACKWARD, OP, EdgeView, GraphView, NodeView

from . import excerpt
from .legend import Colouring

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"

_LOOKS: Final = {ADDED: ("+", "#009E73"), REMOVED: ("-", "#D55E00"), CHANGED: ("~", "#F0E442")}
"""What became of a node -> the sign in its box, and its fill: Okabe and Ito's, with black text on them."""

_CHANGING: Final = ("attributes", "rewired", "moved", "cut", "connected", "leaf", "frozen", "gradient")
"""Kinds of changes that something on both sides shows."""

LARGE: Final = 400
"""Nodes from which on a picture that cannot be folded by its reader shows what is near a change, and no more."""

_NEAR: Final = 2


def merge(before: GraphView, after: GraphView, difference: GraphDifference) -> tuple[GraphView, Colouring]:
    """The graph of *after* with what only *before* has, and what became of each node.

    Args:
        before, after: the whole graphs, whose operators and leaves are called as in *difference*.
    """
    merging = _Merging(before, after, difference)
    view = merging.view()
    return view, merging.colours()


def focus_changes(view: GraphView, colouring: Colouring) -> GraphView:
    """A large graph near what changed in it; a small one, and one without a change, as it is."""
    if len(view.drawn()) <= LARGE or not colouring.fills:
        return view
    return excerpt.focus(view, colouring.fills, _NEAR)


class _Merging:
    """Nodes of *before* beside those of *after*.

    Attributes:
        there: id of a node of *before* -> that of its partner in *after*, or of its copy.
        fates: id in the merged graph -> what became of it.
    """

    def __init__(self, before: GraphView, after: GraphView, difference: GraphDifference) -> None:
        self.before, self.after, self.difference = before, after, difference
        self.there: dict[str, str] = {}
        self.fates: dict[str, str] = {}
        self._new = max((int(n.id.lstrip("opv") or 0) for n in after.nodes), default=0) + 1
        self._pair_operators()
        self._pair_tensors()

    def view(self) -> GraphView:
        """Nodes of *after* in their order, each one that is gone behind the operator before it that is still there."""
        self._mark(self.after.nodes)
        gone = {n.id for n in self.before.nodes if n.kind == OP and n.id not in self.there}
        went = [e for e in self.before.edges if e.source in gone or e.target in gone]
        drawn = gone | {end for e in went for end in (e.source, e.target, e.tensor)}
        behind: dict[str, list[NodeView]] = {}
        last = ""
        for node in self.before.nodes:
            if node.id not in self.there and (node.id in drawn or node.role == "parameter"):
                behind.setdefault(last, []).append(self._copy(node))
            elif node.kind == OP:
                last = self.there[node.id]
        nodes = [*behind.get("", ()), *(n for node in self.after.nodes for n in (node, *behind.get(node.id, ())))]
        # A forward operator may point at gradient operators that come later.
        gradients = {n.id: self.there.get(n.pair or "") for n in self.before.nodes}
        pairs = {self.there[old]: pair for old, pair in gradients.items() if old in self.there}
        own = {n.id for n in self.after.nodes}
        nodes = [n if n.id in own else n._replace(pair=pairs[n.id]) for n in nodes]
        edges = dict.fromkeys([*self.after.edges, *map(self._move_edge, went)])
        return GraphView(self.after.title, tuple(nodes), tuple(edges), self.after.part, self.after.blocks)

    def colours(self) -> Colouring:
        """Return the change of each node, for every renderer."""
        fates = self.fates
        present = [fate for fate in _LOOKS if fate in fates.values()]
        return Colouring(
            f"since {self.before.title}",
            {node: _LOOKS[fate][1] for node, fate in fates.items()},
            tuple((f"{_LOOKS[fate][0]} {fate}", _LOOKS[fate][1]) for fate in present),
            {node: f"{_LOOKS[fate][0]} {fate}" for node, fate in fates.items()},
            white="the same",
        )

    # -- which nodes belong together ----------------------------------------------------------------------------------

    def _pair_operators(self) -> None:
        """Forward operators as the comparison has matched them, backward ones by what they belong to and by type."""
        matching = self.difference.matching
        ours, theirs = _operators(self.before), _operators(self.after)
        for here, there in matching.operations.items():
            left = ours.get(matching.before.operations[here].name)
            right = theirs.get(matching.after.operations[there].name)
            if left is not None and right is not None:
                self.there[left] = right
        waiting: dict[tuple[str | None, str], deque[str]] = {}
        for node in _backward(self.after, set(self.there.values())):
            waiting.setdefault((node.pair, node.type), deque()).append(node.id)
        for node in _backward(self.before, set(self.there)):
            pair = None if node.pair is None else self.there.get(node.pair, "")
            others = waiting.get((pair, node.type))
            if others:
                self.there[node.id] = others.popleft()

    def _pair_tensors(self) -> None:
        """Leaves as the comparison has matched them, other tensors by name."""
        leaves = self.difference.matching.leaves
        theirs = {n.name: n.id for n in self.after.nodes if n.kind != OP}
        for node in self.before.nodes:
            other = theirs.get(leaves.get(node.name, node.name)) if node.kind != OP else None
            if other is not None:
                self.there[node.id] = other

    # -- what is only in one of them ----------------------------------------------------------------------------------

    def _copy(self, node: NodeView) -> NodeView:
        """A node that is gone, under an id that *after* does not use."""
        number, self._new = self._new, self._new + 1
        new = f"{'op' if node.kind == OP else 'v'}{number}"
        self.there[node.id] = new
        if node.kind == OP or node.role == "parameter":
            self.fates[new] = REMOVED
        return node._replace(id=new, block=0)

    def _move_edge(self, edge: EdgeView) -> EdgeView:
        source, target, tensor = (self.there[end] for end in (edge.source, edge.target, edge.tensor))
        return edge._replace(source=source, target=target, tensor=tensor)

    def _mark(self, nodes: Iterable[NodeView]) -> None:
        """Return the mark of a node that is new, or that both sides have and that differs."""
        partners = set(self.there.values())
        named = {
            name
            for c in (*self.difference.changes, *self.difference.effects)
            if c.kind in _CHANGING
            for name in c.after
        }
        for node in nodes:
            if node.id not in partners and (node.kind == OP or node.role == "parameter"):
                self.fates[node.id] = ADDED
            elif node.name in named and (node.kind == OP or node.role in ("parameter", "leaf", "data")):
                self.fates[node.id] = CHANGED


def _operators(view: GraphView) -> dict[str, str]:
    """Name -> id of the operators that the comparison knows by name."""
    return {n.name: n.id for n in view.nodes if n.kind == OP}


def _backward(view: GraphView, paired: set[str]) -> list[NodeView]:
    """The backward operators that have no partner yet."""
    return [n for n in view.nodes if n.kind == OP and n.part == BACKWARD and n.id not in paired]

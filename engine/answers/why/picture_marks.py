"""Marks in a picture what gets no gradient, and cuts the edges at which gradients end, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, Generic, TypeVar

from ...core.collector import pause_gc
from ...ops import registry
from ...view.graph import FORWARD, IDLE, LOST, OP, EdgeView, GraphView, NodeView
from .reasons import Cut, Reason, Reasons, same
from .verdicts import Verdict

SHAPE_ONLY: Final = frozenset(
    {
        *(
            (op, "Y")
            for op in ("cast_like", "einsum_like", "expand_as_v2", "expand_like", "reshape_like", "split_like")
        ),
        *((op, "Y") for op in ("sum_to", "tile_like", "unresize")),
        *((op, "X") for op in ("fill_any_like", "ones_like", "size_of", "zeros_like")),
        *((op, "Input") for op in ("shape", "size")),
        ("shape64", "input"),
    }
)
"""Operator and slot: what reads only how large a tensor is. Nothing is lost where no gradient comes back from there."""

_MAY_READ_SHAPES: Final = frozenset(op for op, _ in SHAPE_ONLY)

V = TypeVar("V")
C = TypeVar("C")


def mark_view(
    view: GraphView,
    reasons: Reasons[V, C],
    value: Callable[[EdgeView], V | None],
    called: Callable[[str], C | None],
    lost: Mapping[str, str],
    trained: Collection[str],
    left: Mapping[str, str] | None = None,
) -> GraphView:
    """*view* with marks. Nothing of it changes where every operator has its gradient operator.

    Args:
        reasons: what the backward pass reaches.
        value: what travels along a forward edge; None where that is not known.
        called: the call of a forward operator, by its id.
        lost: ids of parameters, and of other tensors that could be trained, without a gradient -> why.
        trained: ids of those that take gradients, whether or not they get one.
        left: ids of operators whose results left the graph beside its edges, as numbers or arrays -> the reason.
    """
    with pause_gc():
        return _Marking(view, reasons, value, called, lost).mark(trained, left or {})


class _Marking(Generic[V, C]):
    def __init__(
        self,
        view: GraphView,
        reasons: Reasons[V, C],
        value: Callable[[EdgeView], V | None],
        called: Callable[[str], C | None],
        lost: Mapping[str, str],
    ) -> None:
        self.view, self.reasons, self.value, self.called, self.lost = view, reasons, value, called, lost
        self.active = {n.pair for n in view.nodes if n.kind == OP and n.part != FORWARD and n.pair is not None}
        self.types = {n.id: n.type for n in view.nodes if n.part == FORWARD}
        self.forward = [*filter(self._is_forward, view.edges)]
        self._behind: dict[str, str] = {}

    @cached_property
    def operands_by_id(self) -> dict[str, list[EdgeView]]:
        """Return what forward operators read, by their ids."""
        incoming: dict[str, list[EdgeView]] = {}
        for e in self.forward:
            incoming.setdefault(e.target, []).append(e)
        return incoming

    def mark(self, trained: Collection[str], left: Mapping[str, str]) -> GraphView:
        if not self.active:
            return self.view
        self._leave_out_state({*trained})
        carrying = self._find_trainable({*trained, *self.lost})
        said = {e: cut for e in self.forward if (cut := self._cut(e, carrying)) is not None}
        edges = (
            self.view.edges
            if not said
            else tuple([e._replace(cut=said[e]) if e in said else e for e in self.view.edges])
        )
        cuts = {**left, **{e.source: cut for e, cut in said.items() if cut}}
        nodes = tuple([self._node(n, cuts) for n in self.view.nodes])
        return replace(self.view, nodes=nodes, edges=edges, known=self.view.positions)

    def _leave_out_state(self, trained: Collection[str]) -> None:
        """Running means and the like are parameters to a Layer; no operator that reads them has a gradient for them."""
        read = {i for i in self.lost if i not in trained}
        uses = [e for e in self.view.edges if e.tensor in read and e.target in self.types and e.target != e.tensor]
        wanted = {e.tensor for e in uses if self._takes_gradient(e)}
        self.state = {e.tensor for e in uses} - wanted
        self.lost = {i: why for i, why in self.lost.items() if i not in self.state}

    def _takes_gradient(self, edge: EdgeView) -> bool:
        """Return whether the operator that reads a tensor along *edge* could give it a gradient."""
        definition = registry.find(self.types[edge.target])
        if definition is None or definition.rule is None:
            return definition is None
        names = [slot.name for slot in definition.inputs]
        return edge.slot not in names or names.index(edge.slot) in definition.rule.wrt

    def _find_trainable(self, start: set[str]) -> set[str]:
        """Return what is computed from something that could be trained, itself included."""
        onward: dict[str, list[str]] = {}
        for e in self.forward:
            onward.setdefault(e.source, []).append(e.target)
        reached, todo = set(start), [*start]
        while todo:
            for target in onward.get(todo.pop(), ()):
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        return reached

    def _is_forward(self, edge: EdgeView) -> bool:
        """Return whether a forward operator reads what travels along it, rather than how large that is."""
        type_ = self.types.get(edge.target)
        if type_ is None or edge.source not in self.types:
            return False
        return type_ not in _MAY_READ_SHAPES or (type_, edge.slot) not in SHAPE_ONLY

    def _cut(self, edge: EdgeView, carrying: Collection[str]) -> str | None:
        """Why no gradient comes back along an edge whose target gets one; None where it is not cut."""
        if edge.target not in self.active or edge.source not in carrying or edge.tensor in self.state:
            return None
        value = self.value(edge)
        if value is None or value in self.reasons.reached:
            return None
        return self._words(edge, value, carrying)

    def _words(self, edge: EdgeView, value: V, carrying: Collection[str]) -> str:
        """Why *value* takes no gradient; where it stops one only because all does that it is made of, why that does."""
        way: list[str] = []
        while True:
            if edge.source == edge.tensor and edge.tensor in self.lost:
                words = self.lost[edge.tensor]
                break
            cut = self._where(edge.target, value)
            words = self._behind.get(edge.source) or self._write_reason(cut, value)
            asks = cut.verdict is Verdict.STOP_GRADIENT and cut.call is not None and edge.source not in self._behind
            if not asks or not self.reasons.flow.passes_stops_on(cut.call):  # type: ignore[arg-type]
                break
            way.append(edge.source)
            inner = next((e for e in self.operands_by_id.get(edge.source, ()) if e.source in carrying), None)
            before = None if inner is None else self.value(inner)
            if inner is None or before is None or before in self.reasons.reached:
                break
            edge, value = inner, before
        self._behind.update(dict.fromkeys(way, words))
        return words

    def _write_reason(self, cut: Cut[V, C], value: V) -> str:
        """The reason in a few words, with the operator where it is one that has no gradient."""
        refusal = self.reasons.flow.refusal(cut)
        if refusal is not None:
            return refusal.sentence
        if cut.verdict is Verdict.NON_DIFFERENTIABLE and cut.call is not None and not cut.at_input:
            return f"{self.reasons.flow.call_type(cut.call)} has no gradient"
        return Reason(cut.verdict, value, self.reasons.flow, cut).words

    def _where(self, target: str, value: V) -> Cut[V, C]:
        """The cut of *value* as the operator sees it that reads it; another path of it may end elsewhere."""
        cut = self.reasons.cuts.get(value)
        if cut is not None and same(cut.value, value):
            return cut
        flow, call = self.reasons.flow, self.called(target)
        stop = flow.stop(value)
        if stop is not None:
            return stop
        return Cut(Verdict.NON_DIFFERENTIABLE, value, None) if call is None else flow.explain_refusal(call, value)

    def _node(self, node: NodeView, cuts: Mapping[str, str]) -> NodeView:
        if node.id in self.state:
            return node._replace(role="state")
        if node.id in self.lost:
            return node._replace(mark=LOST, note=self.lost[node.id])
        if node.kind == OP and node.part == FORWARD and node.id not in self.active:
            return node._replace(mark=IDLE, note=cuts.get(node.id, ""))
        return node

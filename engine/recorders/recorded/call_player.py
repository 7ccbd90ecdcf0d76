"""Events of operators: each call gets the node that gradtool's operator would have."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core import watch
from ...core.identity import identity
from ...core.spec import dtype as dtype_of
from ...core.vocabulary import Titled
from ...eager.mode import _GradMode, grad_enabled
from ...eager.parameter import TensorParameter
from ...eager.rare_calls import slim, tensor_of, versions_of
from ...eager.recipe import leaves, recipes
from ...eager.tape import Place, each, keys
from ...eager.tensor import Tensor, array_of
from ...ops.opdef import OpDef
from ...ops.readings import flatten
from ...ops.registry import find, get_by_type
from . import events
from .counterparts import Counterparts, is_a_leaf
from .events import Ref
from .frameworks import Framework
from .matching import Entry, Match
from .nodes import ForeignCall, ForeignNode, ForeignOp
from .repetition import is_plain
from .repetition import repeat_call as repetition_of_call

_titled: dict[tuple[OpDef, str], OpDef] = {}
"""Operators of gradtool's with another title, by what the framework calls them: one each in a process."""


class CallPlayer:
    """Plays calls of operators, nodes that no call was seen of, and switches of recording.

    Args:
        framework: whose calls they are.
    """

    def __init__(self, framework: Framework, counterparts: Counterparts) -> None:
        self._framework, self._match = framework, framework.load()
        self._finding = None if framework.live is None else framework.live()
        self._counterparts, self._tensors = counterparts, counterparts.tensors
        self._guards: list[_GradMode] = []
        self._ops: dict[Any, ForeignOp] = {}

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method that plays each type of event."""
        return {
            events.NodesFreed: self._play_freed,
            events.OperatorCalled: self._play_called,
            events.Adopted: self._play_adopted,
            events.RecordingSwitched: self._play_guarding,
            events.RecordingRestored: self._play_guarded,
        }

    def _play_freed(self, event: events.NodesFreed) -> None:
        for n in event.nodes:
            self._counterparts.nodes.pop(n, None)

    def _play_guarding(self, event: events.RecordingSwitched) -> None:
        enclosure = None
        if event.enclosure is not None:
            kind, name, numbers = event.enclosure
            enclosure = watch.Enclosure(kind, name, tuple([self._tensors[n] for n in numbers]))
        guard = _GradMode(event.enabled, event.site, enclosure)
        guard.__enter__()
        self._guards.append(guard)

    def _play_guarded(self, event: events.RecordingRestored) -> None:
        if self._guards:
            self._guards.pop().__exit__()

    def _play_called(self, event: events.OperatorCalled) -> None:
        # what it took
        before = self._tensors_before(event)
        named = dict(zip(event.names, map(self._resolver(before), event.arguments), strict=True))
        taken = [v for v in flatten(list(named.values()), range(len(named))) if isinstance(v, Tensor)]
        # what it gave
        results = [self._result(r, taken, event) for r in event.results]
        name = event.operator.removesuffix("_") if before else event.operator
        matched = self._match(name, named, results)
        if matched is not None and not self._fits(matched, event):
            matched = None
        if matched is None:
            if event.node is None and self._framework.sized(name, named):
                named, taken = {n: v for n, v in named.items() if not isinstance(v, Tensor)}, []
            matched = self._match_foreign(name, named, taken, results, event)
            op: OpDef = self._op(name, named, results, event)
            call = ForeignCall(op, {n: _plain(v) for n, v in named.items() if is_plain(v)}, None)
        else:
            own = get_by_type(matched.type)
            bound = recipes[own].call(own.attributes(matched.attrs))
            op = self._name_operator(own, name)
            call = ForeignCall(op, {}, bound)
        # its node, and the report
        for info in event.behind:
            if info.number not in self._counterparts.nodes:
                self._adopt(info, results[0])
        node = None if event.node is None else self._record_node(event, call, matched, taken)
        self._report(event, call, matched, node, named, results)
        if event.enabled or not grad_enabled():
            self._place_results(event, matched, results, node, op)
        else:
            with _GradMode(False, event.site):
                self._place_results(event, matched, results, node, op)

    def _tensors_before(self, event: events.OperatorCalled) -> dict[int, Tensor]:
        """The tensors that a call wrote, or made other views of their storage, as they were before."""
        before: dict[int, Tensor] = {}
        turned = {r.tensor: r.array for r in event.results if r.array is not None and r.tensor in self._tensors}
        for n in (*event.written, *turned):
            t = self._tensors[n]
            before[n] = t.placed(self._counterparts.read.pop(n, t.array))
            before[n]._version = t.version
        for n, array in turned.items():
            self._tensors[n].array = array
        return before

    def _resolver(self, before: Mapping[int, Tensor]) -> Callable[[Any], Any]:
        tensors = self._tensors

        def resolve(value: Any) -> Any:
            if type(value) is Ref:
                return before[value] if value in before else tensors[value]
            if type(value) in (list, tuple):
                return [resolve(v) for v in value]
            return value

        return resolve

    def _result(self, result: events.CallResult, taken: Sequence[Tensor], event: events.OperatorCalled) -> Tensor:
        known = self._tensors.get(result.tensor)
        if known is not None:
            return known
        t = tensor_of(result.array)
        if event.view and taken:
            t._version = taken[0].version
            base = next(int(v) for v in event.arguments if isinstance(v, Ref))
            if base in self._counterparts.of_data or is_a_leaf(taken[0]):
                self._counterparts.of_data[result.tensor] = self._counterparts.of_data.get(base, base)
        self._tensors[result.tensor] = t
        return t

    def _fits(self, matched: Match, event: events.OperatorCalled) -> bool:
        """Return whether the gradients of the match go where those of the framework's node go."""
        op = get_by_type(matched.type)
        if event.node is None:
            return True
        return op.rule is not None and len(op.outputs) == len(matched.results)

    def _match_foreign(
        self, name: str, named: Mapping[str, Any], taken: Sequence[Tensor], results: Sequence[Tensor], event: Any
    ) -> Match:
        """A call of an operator that the framework alone knows."""
        return Match(name, list(taken), list(results), {})

    def _op(
        self, name: str, named: Mapping[str, Any], results: Sequence[Tensor], event: events.OperatorCalled
    ) -> ForeignOp:
        """The operator of a call that gradtool has no operator for."""
        entries: list[Entry] = []
        for n, v in named.items():
            if isinstance(v, Tensor):
                entries.append((n, None))
            elif isinstance(v, list):
                entries += [(n, i) for i, entry in enumerate(v) if isinstance(entry, Tensor)]
        inputs = [n if place is None else f"{n}{place}" for n, place in entries]
        wrt: tuple[int, ...] | None = tuple([i for i, e in enumerate(event.edges) if e is not None])
        if event.node is None:
            # Whether the framework has a gradient for it is not known then; whole numbers never have one.
            floats = all(t.array.dtype.kind not in "biu" for t in results)
            wrt = tuple(range(len(inputs))) if floats and not (grad_enabled() and event.edges) else None
        outputs = len(results) if event.node is None else max(len(event.node.shapes), len(results))
        made = tuple([(t.array.shape, dtype_of(t.array.dtype).name) for t in results])
        attrs = tuple([n for n, v in named.items() if is_plain(v)])
        key = name, event.overload, tuple(inputs), outputs, wrt, made, attrs
        op = self._ops.get(key)
        if op is None:
            shown = name if find(name) is None else f"{self._framework.prefix}{name}"
            computing = None if self._framework.again is None else self._framework.again()
            again = None if computing is None else computing(name, event.overload, entries, attrs, made, outputs)
            draws = self._framework.draws(name)
            op = self._ops[key] = ForeignOp(self._type(shown, name), inputs, outputs, wrt, attrs, again, draws)
        return op

    def _type(self, type_: str, name: str) -> str:
        """Return the type of an operator that the framework calls *name*, with the title that people know."""
        return type_ if self._framework.titled is None else Titled(type_, self._framework.titled(name))

    def _name_operator(self, op: OpDef, name: str) -> OpDef:
        """Return one of gradtool's operators as the framework calls it."""
        if self._framework.titled is None or self._framework.titled(name) == op.type:
            return op
        titled = _titled.get((op, name))
        if titled is None:
            titled = _titled[op, name] = copy(op)
            titled.type = self._type(op.type, name)
        return titled

    def _record_node(
        self, event: events.OperatorCalled, call: ForeignCall, matched: Match, taken: Sequence[Tensor]
    ) -> ForeignNode:
        """The node of a recorded call."""
        assert event.node is not None
        op, info = call.op, event.node
        assert op.rule is not None
        own = isinstance(op, ForeignOp)
        # where gradients go
        read = [matched.operands[i] for i in op.rule.wrt] if own else flatten(matched.operands, op.rule.wrt)
        edges = list(event.edges)
        order: list[int | None] = []
        used: set[int] = set()
        for v in read:
            # The same tensor twice has an edge for each.
            mine = [i for i, t in enumerate(taken) if v is t and i not in used]
            at = mine[0] if mine else None
            if at is not None:
                used.add(at)
            order.append(None if at is None else edges[at])
        wrt = [None if e is None else self._place(info.edges[e]) for e in order]
        # what it keeps
        if own:
            kept: list[Any] = [None] * len(op.rule.reads)
            shapes = [(shape, np.dtype(_kind(d))) for shape, d in info.shapes]
            shapes += [(t.array.shape, t.array.dtype) for t in matched.results[len(shapes) :]]
            outs: list[int | None] = list(range(len(shapes)))
        else:
            kept, counted = self._values_read(op, matched)
            results = flatten(matched.results, [r.place for r in op.rule.reads if r.kind == "dout"])
            shapes = [(array_of(v).shape, array_of(v).dtype) for v in results]
            numbers = {identity(self._tensors[r.tensor]): r.output for r in event.results}
            outs = [numbers.get(identity(v)) for v in results]
        node = ForeignNode()
        node.begin(call, tuple(kept), tuple(wrt), tuple(shapes))  # type: ignore[arg-type]
        if own:
            saved = [self._tensors[n] for n in info.saved if n in self._tensors]
            node.ctx = SimpleNamespace(_saved=tuple(saved))
            node.read = _refer_to_arrays(matched.operands)
            node.versions = tuple(itertools.chain.from_iterable((t.version, t.version.count) for t in saved))
        else:
            node.versions = versions_of(counted)
            if any(s.many for s in (*op.inputs, *op.outputs)):
                node.wrt_sizes = [_size(matched.operands[i]) for i in op.rule.wrt]
                node.out_sizes = [_size(matched.results[r.place]) for r in op.rule.reads if r.kind == "dout"]
        self._register(node, info, order, outs)
        return node

    def _register(
        self, node: ForeignNode, info: events.GraphNode, order: Sequence[int | None], outs: Sequence[int | None]
    ) -> None:
        node.told, node.passing = [], self._counterparts.passing
        node.order, node.outs_of = order, outs
        self._counterparts.nodes[info.number] = node

    def _place(self, edge: events.Edge) -> Place | None:
        if edge is None:
            return None
        if isinstance(edge, tuple):
            node = self._counterparts.nodes.get(edge[0])
            if node is None:
                return None
            return node, node.outs_of.index(edge[1]) if edge[1] in node.outs_of else edge[1]
        t = self._tensors[edge]
        return t.leaf

    def _values_read(self, op: OpDef, matched: Match) -> tuple[list[Any], list[Tensor]]:
        """Return the values that the rule of an operator of gradtool's reads."""
        assert op.rule is not None
        values: list[Any] = []
        counted: list[Tensor] = []
        sides = {"in": matched.operands, "out": matched.results}
        for kind, place, like, _ in op.rule.reads:
            value = sides[kind][place] if kind in sides else None
            if value is None:
                values.append(None)
            elif like:
                values.append(each(value, lambda v: slim(v) if isinstance(v, Tensor) else v))
            else:
                values.append(value if kind == "in" else each(value, array_of))
                entries = [v for v in flatten([value], [0]) if isinstance(v, Tensor)]
                for v in entries:
                    _ = v.version
                counted += entries
        return values, counted

    def _report(
        self,
        event: events.OperatorCalled,
        call: ForeignCall,
        matched: Match,
        node: ForeignNode | None,
        named: Mapping[str, Any],
        results: Sequence[Tensor],
    ) -> None:
        """Report the call to who watches the steps."""
        by = watch.watcher()
        if by is None:
            return
        again = None
        if self._finding is not None and event.overload and not isinstance(call.op, ForeignOp):
            again = repetition_of_call(self._finding, event.overload, named, matched, results)
        inputs = tuple([each(v, array_of) for v in matched.operands])
        outputs = tuple([each(v, array_of) for v in matched.results])
        # A key that the next call follows at once is that of a call without a node; see Numbering.
        key = next(keys) if node is None else node.key
        if node is not None:
            next(keys)
        backend = call.recipe.backend
        held = leaves(matched.operands)
        by(watch.Computed(call.op, call.attrs, inputs, outputs, event.site, key, event.seconds, backend, held, again))

    def _place_results(
        self,
        event: events.OperatorCalled,
        matched: Match,
        results: Sequence[Tensor],
        node: ForeignNode | None,
        op: OpDef,
    ) -> None:
        """Give the results their places on the tape, and report them to who watches tensors."""
        written = {n: self._tensors[n] for n in event.written}
        for n, t in written.items():
            self._counterparts.report_write(n)
            t.version.wrote(event.operator)
            self._counterparts.note_written(n)
        if node is not None:
            for r in event.results:
                if r.output is not None:
                    t = self._tensors[r.tensor]
                    t.node, t._stop, t._leaf = node, False, None
                    t.index = node.outs_of.index(r.output) if r.output in node.outs_of else r.output
            # What the operator overwrote is what it gave.
            node.versions = _as_now(node.versions, {identity(t.version): t.version.count for t in written.values()}, op)
        if not watch.noting:
            return
        plain = [t for t in written.values() if t.node is None or node is None]
        stand_ins = {identity(t): tensor_of(t.array) for t in plain}
        given = tuple(
            [each(v, lambda v: stand_ins.get(identity(v), v)) for v in matched.results if isinstance(v, (Tensor, list))]
        )
        filled = node is None and {int(v) for v in event.arguments if isinstance(v, Ref)} == set(written)
        if not filled:
            watch.note(watch.Called(op, tuple(matched.operands), given))
        for t in plain:
            self._note_values(t, stand_ins[identity(t)].array, event.operator, filled)
        for n, t in written.items():
            owner = self._tensors.get(self._counterparts.of_data.get(n, n))
            # Where they share a version, the journal knows it by that.
            if owner is not None and owner.version is not t.version and is_a_leaf(owner):
                self._note_values(owner, owner.array, event.operator, filled)

    @staticmethod
    def _note_values(t: Tensor, array: Any, operator: str, filled: bool) -> None:
        """Report that an operator gave a tensor other values, or its first ones."""
        if filled and isinstance(t, TensorParameter):
            watch.note(watch.Initialised(t, operator))  # how its first values came to be
            return
        watch.note(watch.Written(t, array, operator))

    def _play_adopted(self, event: events.Adopted) -> None:
        known = self._tensors[event.tensor]
        for info in event.nodes:
            if info.number not in self._counterparts.nodes:
                self._adopt(info, known)
        node = self._counterparts.nodes[event.nodes[-1].number]
        known.node, known.index, known._stop, known._leaf = node, event.output, False, None

    def _adopt(self, info: events.GraphNode, known: Tensor) -> None:
        # Arguments without a gradient have edges that lead nowhere: the node has no place for them.
        order = [i for i, edge in enumerate(info.edges) if edge is not None]
        places = [self._place(info.edges[i]) for i in order]
        type_ = self._type(f"PyLayer_{info.custom}", info.custom) if info.custom else info.name.rpartition("::")[2]
        key = type_, len(places), len(info.shapes), "adopted"
        op = self._ops.get(key)
        if op is None:
            names = [f"X{i}" for i in range(len(places))]
            op = self._ops[key] = ForeignOp(type_, names, max(len(info.shapes), 1), range(len(places)))
        shapes = tuple([(shape, np.dtype(_kind(d))) for shape, d in info.shapes])
        shapes = shapes or ((known.array.shape, known.array.dtype),)
        node = ForeignNode()
        node.begin(ForeignCall(op, {}, None), (None,) * len(shapes), tuple(places), shapes)  # type: ignore[arg-type]
        saved = [self._tensors[n] for n in info.saved if n in self._tensors]
        node.ctx = SimpleNamespace(_saved=tuple(saved))
        node.versions = tuple(itertools.chain.from_iterable((t.version, t.version.count) for t in saved))
        node.rule_at = info.rule
        node.adopted = not self._framework.views(info.name)
        self._register(node, info, order, list(range(len(shapes))))
        if watch.noting:
            inputs = tuple([_stand_in(p) for p in places if p is not None])
            outputs = tuple(
                [Tensor(_empty_array(*s), stop_gradient=False, node=node, index=i) for i, s in enumerate(shapes)]
            )
            watch.note(watch.Applied(node, inputs, outputs, (True,) * len(outputs)))


def _kind(name: str) -> Any:
    return dtype_of(name).numpy


def _empty_array(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.broadcast_to(np.zeros((), dtype), shape)


def _stand_in(place: Place) -> Tensor:
    from ...kinds.tape.model import stand_in

    return stand_in(place)


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _as_now(versions: Sequence[Any], counts: Mapping[int, int], op: OpDef) -> tuple[Any, ...]:
    """Write counters of what a rule reads, where the operator itself has written its results."""
    if not counts:
        return tuple(versions)
    pairs: Iterable[tuple[Any, int]] = zip(versions[::2], versions[1::2], strict=True)
    return tuple(itertools.chain.from_iterable((v, counts.get(identity(v), count)) for v, count in pairs))


def _refer_to_arrays(operands: Sequence[Any]) -> tuple[Callable[[], Any], ...]:
    """Return what gives the array of each operand while it is there; nothing where one of them has rows alone."""
    arrays = [array_of(v) for v in flatten(operands, range(len(operands)))]
    return tuple(map(weakref.ref, arrays)) if all(isinstance(a, np.ndarray) for a in arrays) else ()

"""From what a recorder inside another framework tells to gradtool's own tape, journal and step events.

Each of the framework's tensors has one of dynamic mode that stands for it: the same memory, its place on the tape, its
write counter. Each call gets the node that gradtool's operator would have, and whoever watches is told as if gradtool
had computed it. Where the framework runs backward, gradtool's own sweep runs over these nodes, each of which gives what
the framework gave.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core import deviations, source, state, watch
from ...core.errors import UnsupportedError
from ...core.identity import identity
from ...core.names import UniqueNames
from ...core.spec import dtype as dtype_of
from ...core.vocabulary import Titled, speak
from ...eager.mode import _GradMode, grad_enabled
from ...eager.parameter import TensorParameter
from ...eager.pass_start import PassRequest, Start
from ...eager.rare_calls import slim, tensor_of, versions_of
from ...eager.recipe import leaves, recipes
from ...eager.tape import LossScale, Place, each, keys
from ...eager.tensor import Leaf, Tensor, array_of, writes
from ...ops.opdef import OpDef
from ...ops.readings import flatten
from ...ops.registry import find, get_by_type
from . import events
from .events import Ref
from .frameworks import Framework
from .matching import Entry, Match
from .nodes import ForeignCall, ForeignNode, ForeignOp, close
from .repetition import is_plain
from .repetition import repeat_call as repetition_of_call


class Player:
    """Plays events, one after the other: call it with each.

    Args:
        framework: whose events they are.
        apart: whether gradients come apart from the tensors that the program holds, as from a file.

    Attributes:
        tensors: by number, what stands for a tensor of the framework that is still there.
        pinned: numbers of tensors that stay when the program frees them.
    """

    def __init__(self, framework: Framework, apart: bool = False) -> None:
        self._framework, self._match = framework, framework.load()
        self._finding = None if framework.live is None else framework.live()
        self.tensors: dict[int, Tensor] = {}
        self.pinned: frozenset[int] = frozenset()
        self._scales: list[LossScale] = []
        self._scheduled: set[frozenset[int]] = set()
        self._nodes: dict[int, ForeignNode] = {}
        self._apart = apart
        self._of_data: dict[int, int] = {}
        """By tensor whose memory is that of a leaf, this leaf: ``p.data``, a detached one, and views of them.

        They are written in place of ``p``.
        """
        self._grads: dict[int, int] = {}
        """By leaf, the tensor of the program's that its ``.grad`` is, once it was met."""
        self._guards: list[_GradMode] = []
        self._passing = [0]
        self._open: list[Sequence[Tensor] | None] = []
        """The inputs of the passes that run, None for all leaves."""
        self._passes = itertools.count(1)
        self._ops: dict[Any, ForeignOp] = {}
        self._before: dict[int, Any] = {}
        self._read: dict[int, Any] = {}
        """By tensor that is about to be written by an operator, the values that this one reads."""
        self._hooked: dict[int, list[tuple[Any, Any]]] = {}
        self._names = UniqueNames()
        speak(framework.vocabulary)

    def __call__(self, event: events.Event) -> None:
        """Play one event.

        Raises:
            Stopped: there have been enough backward passes.
            FreedGraphError, InplaceError: as the framework did, with both sides of it.
        """
        site = getattr(event, "site", None)
        before = source.pretend(site)
        source.pretend_drop(source.locate(getattr(event, "dropped", source.NOWHERE)))
        try:
            _PLAYED[type(event)](self, event)
        finally:
            source.pretend(before)

    # -- tensors ------------------------------------------------------------------------------------------------------

    def _play_made(self, event: events.TensorMade) -> None:
        if event.parameter:
            t: Tensor = TensorParameter(event.array, event.name or self._names("parameter"), trainable=event.takes)
        else:
            t = Tensor(event.array, stop_gradient=not event.takes)
            t.loc = source.here()
        if event.gradient_of is not None:
            self._has_gradient(self.tensors[event.gradient_of], event.array)
            if watch.noting:
                watch.note(watch.GradientMoved(self.tensors[event.gradient_of]))
            self._grads[event.gradient_of] = event.tensor
        if event.shares is not None and event.shares in self.tensors:
            t._version = self.tensors[event.shares].version
        self.tensors[event.tensor] = t
        if event.lent and watch.noting:
            watch.note(watch.Lent(t, ""))

    def _play_gone(self, event: events.Gone) -> None:
        self._of_data.pop(event.tensor, None)
        if event.tensor not in self.pinned:
            self.tensors.pop(event.tensor, None)

    def _freed(self, event: events.NodesFreed) -> None:
        for n in event.nodes:
            self._nodes.pop(n, None)

    def _play_detached(self, event: events.Detached) -> None:
        t = self.tensors[event.tensor]
        if watch.noting and watch.note(watch.Cutting("detach", t)):
            self.tensors[event.made] = t  # spared: gradients go on
            return
        copy = Tensor(event.array, version=t.version if event.how == "detach" else None)
        if watch.noting:
            watch.note(watch.Copied("detach", (t,), copy))
        self.tensors[event.made] = copy
        self._of_data[event.made] = self._of_data.get(event.tensor, event.tensor)

    def _play_taken(self, event: events.GradientTaken) -> None:
        made = Tensor(event.array)
        made.loc = source.here()
        if watch.noting:
            watch.note(watch.Copied("grad", tuple(self.tensors[n] for n in event.roots), made))
        self.tensors[event.made] = made

    def _note_copy(self, event: events.CopyMade) -> None:
        if watch.noting:
            watch.note(watch.DeepCopied(self.tensors[event.tensor], self.tensors[event.made]))

    def _note_reuse(self, event: events.ValueReused) -> None:
        if watch.noting:
            watch.note(watch.Reused(self.tensors[event.tensor], event.by))

    def _rebound(self, event: events.Rebound) -> None:
        t = self.tensors[event.tensor]
        t.array = event.array
        if not event.how:  # the same values elsewhere
            return
        self._note_written(event.tensor)
        if event.tensor in self._grads.values():
            self._grads = {leaf: n for leaf, n in self._grads.items() if n != event.tensor}
        if not watch.noting:
            return
        source = None if event.source is None else self.tensors.get(event.source)
        if source is not None:
            watch.note(watch.Left(event.how, source, t))
        watch.note(watch.Written(t, t.array, event.how))

    def _note_written(self, number: int) -> None:
        t = self.tensors.get(self._of_data.get(number, number))
        if t is not None and t.node is None:
            state.written.note(t)

    def _play_unfilled(self, event: events.MissingGradientRead) -> None:
        if watch.noting:
            watch.note(watch.Unfilled(self.tensors[event.tensor]))

    def _play_left(self, event: events.ValuesTaken) -> None:
        if watch.noting:
            watch.note(watch.Left(event.how, self.tensors[event.tensor]))
            if event.how in _LENDING:
                watch.note(watch.Lent(self.tensors[event.tensor], event.how))

    def _play_lent(self, event: events.MemoryLent) -> None:
        if watch.noting:
            watch.note(watch.Lent(self.tensors[event.tensor], event.how))

    def _requires(self, event: events.Requires) -> None:
        t = self.tensors[event.tensor]
        if event.how == events.RETAIN:
            t.retain_grads()
            return
        if isinstance(t, TensorParameter):
            if event.takes:
                t.stop_gradient = False
            else:
                t.trainable = False
            return
        t.stop_gradient = not event.takes
        if event.takes and not t.loc:
            t.loc = source.here()

    def _play_writing(self, event: events.OverwriteBegan) -> None:
        by = watch.watcher()
        if by is not None:  # the operator that writes has read what was there
            array = self.tensors[event.tensor].array
            self._read[event.tensor] = array.copy()
            by(watch.Doubled(array, self._read[event.tensor]))
        self._announce_write(event.tensor)

    @staticmethod
    def _follow(t: Tensor, array: Any) -> None:
        """Take over values that the framework wrote where it shares no memory with *t*."""
        if t.array.flags.writeable:
            np.copyto(t.array, array)
        else:
            t.array = array

    def _announce_write(self, number: int) -> None:
        """Tell who has to keep the values of a tensor before they are overwritten, and keep them for :meth:`_wrote`."""
        watcher = writes.get()
        if watcher is not None:
            t = self.tensors[number]
            self._before[number] = t.array.copy()
            watcher(t, None)

    def _wrote(self, number: int) -> None:
        """Tell what was written where: the framework wrote it before anyone could be told of the values."""
        watcher, before = writes.get(), self._before.pop(number, None)
        if watcher is None or before is None:
            return
        t = self.tensors[number]
        now = t.array
        t.array = before
        try:
            watcher(t, now)
        finally:
            t.array = now

    # -- modes --------------------------------------------------------------------------------------------------------

    def _play_guarding(self, event: events.RecordingSwitched) -> None:
        enclosure = None
        if event.enclosure is not None:
            kind, name, numbers = event.enclosure
            enclosure = watch.Enclosure(kind, name, tuple([self.tensors[n] for n in numbers]))
        guard = _GradMode(event.enabled, event.site, enclosure)
        guard.__enter__()
        self._guards.append(guard)

    def _play_guarded(self, event: events.RecordingRestored) -> None:
        if self._guards:
            self._guards.pop().__exit__()

    # -- operators ----------------------------------------------------------------------------------------------------

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
            matched = self._own(name, named, taken, results, event)
            op: OpDef = self._op(name, named, results, event)
            call = ForeignCall(op, {n: _plain(v) for n, v in named.items() if is_plain(v)}, None)
        else:
            own = get_by_type(matched.type)
            bound = recipes[own].call(own.attributes(matched.attrs))
            op = self._name_operator(own, name)
            call = ForeignCall(op, {}, bound)
        # its node, and who is told
        for info in event.behind:
            if info.number not in self._nodes:
                self._adopt(info, results[0])
        node = None if event.node is None else self._record_node(event, call, matched, taken)
        self._tell(event, call, matched, node, named, results)
        if event.enabled or not grad_enabled():
            self._place_results(event, matched, results, node, op)
        else:
            with _GradMode(False, event.site):
                self._place_results(event, matched, results, node, op)

    def _tensors_before(self, event: events.OperatorCalled) -> dict[int, Tensor]:
        """The tensors that a call wrote, or made other views of their storage, as they were before."""
        before: dict[int, Tensor] = {}
        turned = {r.tensor: r.array for r in event.results if r.array is not None and r.tensor in self.tensors}
        for n in (*event.written, *turned):
            t = self.tensors[n]
            before[n] = t.placed(self._read.pop(n, t.array))
            before[n]._version = t.version
        for n, array in turned.items():
            self.tensors[n].array = array
        return before

    def _resolver(self, before: Mapping[int, Tensor]) -> Callable[[Any], Any]:
        tensors = self.tensors

        def resolve(value: Any) -> Any:
            if type(value) is Ref:
                return before[value] if value in before else tensors[value]
            if type(value) in (list, tuple):
                return [resolve(v) for v in value]
            return value

        return resolve

    def _result(self, result: events.CallResult, taken: Sequence[Tensor], event: events.OperatorCalled) -> Tensor:
        known = self.tensors.get(result.tensor)
        if known is not None:
            return known
        t = tensor_of(result.array)
        if event.view and taken:
            t._version = taken[0].version
            base = next(int(v) for v in event.arguments if isinstance(v, Ref))
            if base in self._of_data or _is_a_leaf(taken[0]):
                self._of_data[result.tensor] = self._of_data.get(base, base)
        self.tensors[result.tensor] = t
        return t

    def _fits(self, matched: Match, event: events.OperatorCalled) -> bool:
        """Return whether the gradients of the match go where those of the framework's node go."""
        op = get_by_type(matched.type)
        if event.node is None:
            return True
        return op.rule is not None and len(op.outputs) == len(matched.results)

    def _own(
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
            again = None if computing is None else computing(name, event.overload, entries, made, outputs)
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
            numbers = {identity(self.tensors[r.tensor]): r.output for r in event.results}
            outs = [numbers.get(identity(v)) for v in results]
        node = ForeignNode()
        node.begin(call, tuple(kept), tuple(wrt), tuple(shapes))  # type: ignore[arg-type]
        if own:
            saved = [self.tensors[n] for n in info.saved if n in self.tensors]
            node.ctx = SimpleNamespace(_saved=tuple(saved))
            node.read = _refer_to_arrays(matched.operands)
            node.versions = tuple(itertools.chain.from_iterable((t.version, t.version.count) for t in saved))
        else:
            node.versions = versions_of(counted)
            if any(s.many for s in (*op.inputs, *op.outputs)):
                node.wrt_sizes = [_size(matched.operands[i]) for i in op.rule.wrt]
                node.out_sizes = [_size(matched.results[r.place]) for r in op.rule.reads if r.kind == "dout"]
        self._know(node, info, order, outs)
        return node

    def _know(
        self, node: ForeignNode, info: events.GraphNode, order: Sequence[int | None], outs: Sequence[int | None]
    ) -> None:
        node.told, node.passing = [], self._passing
        node.order, node.outs_of = order, outs
        self._nodes[info.number] = node

    def _place(self, edge: events.Edge) -> Place | None:
        if edge is None:
            return None
        if isinstance(edge, tuple):
            node = self._nodes.get(edge[0])
            if node is None:
                return None
            return node, node.outs_of.index(edge[1]) if edge[1] in node.outs_of else edge[1]
        t = self.tensors[edge]
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

    def _tell(
        self,
        event: events.OperatorCalled,
        call: ForeignCall,
        matched: Match,
        node: ForeignNode | None,
        named: Mapping[str, Any],
        results: Sequence[Tensor],
    ) -> None:
        """Tell who watches the steps."""
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
        """Give the results their places on the tape, and tell who watches tensors."""
        written = {n: self.tensors[n] for n in event.written}
        for n, t in written.items():
            self._wrote(n)
            t.version.wrote(event.operator)
            self._note_written(n)
        if node is not None:
            for r in event.results:
                if r.output is not None:
                    t = self.tensors[r.tensor]
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
            owner = self.tensors.get(self._of_data.get(n, n))
            # Where they share a version, the journal knows it by that.
            if owner is not None and owner.version is not t.version and _is_a_leaf(owner):
                self._note_values(owner, owner.array, event.operator, filled)

    @staticmethod
    def _note_values(t: Tensor, array: Any, operator: str, filled: bool) -> None:
        """Tell that an operator gave a tensor other values, or its first ones."""
        if filled and isinstance(t, TensorParameter):
            watch.note(watch.Initialised(t, operator))  # how its first values came to be
            return
        watch.note(watch.Written(t, array, operator))

    def _play_adopted(self, event: events.Adopted) -> None:
        known = self.tensors[event.tensor]
        for info in event.nodes:
            if info.number not in self._nodes:
                self._adopt(info, known)
        node = self._nodes[event.nodes[-1].number]
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
        saved = [self.tensors[n] for n in info.saved if n in self.tensors]
        node.ctx = SimpleNamespace(_saved=tuple(saved))
        node.versions = tuple(itertools.chain.from_iterable((t.version, t.version.count) for t in saved))
        node.rule_at = info.rule
        node.adopted = not self._framework.views(info.name)
        self._know(node, info, order, list(range(len(shapes))))
        if watch.noting:
            inputs = tuple([_stand_in(p) for p in places if p is not None])
            outputs = tuple(
                [Tensor(_empty_array(*s), stop_gradient=False, node=node, index=i) for i, s in enumerate(shapes)]
            )
            watch.note(watch.Applied(node, inputs, outputs, (True,) * len(outputs)))

    # -- backward -----------------------------------------------------------------------------------------------------

    def _began(self, event: events.BackwardBegan) -> None:
        while len(self._open) > event.depth:  # passes that the program's own error ended: nobody told of their end
            self._open.pop()
            state.passed.note()
        inputs = None if event.inputs is None else [self.tensors[n] for n in event.inputs]
        self._open.append(inputs)
        request = PassRequest(event.gradients, inputs)
        state.passes.note([self.tensors[n] for n in event.roots], event.how, event.recorded, request)

    def _play_ended(self, event: events.BackwardEnded) -> None:
        roots = [self.tensors[n] for n in event.roots]
        number = next(self._passes)
        for pulled in event.pulled:
            self._note_pull(number, pulled)
        if event.recorded and watch.noting:
            watch.note(watch.Differentiated(tuple(roots)))
        gave: dict[Leaf, Any] = {}
        inputs = self._open.pop() if self._open else None
        if not event.recorded and any(not t.stop_gradient for t in roots):
            self._passing[0] = number
            try:
                gave = self._sweep(event, Start.of(roots, event.seeds, inputs if event.how == "backward" else None))
            except UnsupportedError:
                if not event.error:
                    raise
                # The pass ended in the middle by an error of the program's own, a hook's say, which goes on from here.
            finally:
                self._passing[0] = 0
        if event.recorded:
            gave = self._differences(event.gradients)
        gave |= {self.tensors[n].leaf: gradient for n, gradient in event.nested}
        state.swept.note(gave)
        filled = list(gave) if event.how == "backward" or not event.recorded else []
        if watch.noting:
            for leaf in filled:
                watch.note(watch.Added(leaf, roots[0]))
        for n, gradient in event.gradients:
            self._take_gradient(n, gradient)
        if filled and watch.noting:
            watch.note(watch.Filled(tuple(filled)))
        state.passed.note()

    def _differences(self, gradients: Sequence[tuple[int, Any]]) -> dict[Leaf, Any]:
        """By leaf what a pass gave that was recorded itself: what it added to ``.grad``."""
        gave: dict[Leaf, Any] = {}
        for n, gradient in gradients:
            leaf = self.tensors[n].leaf
            before = None if leaf.grad is None or leaf.cleared else leaf.grad.array
            if gradient is not None and gradient is not before and not np.shares_memory(gradient, before):
                gave[leaf] = gradient if before is None else gradient - before
        return gave

    @staticmethod
    def _sweep(event: events.BackwardEnded, start: Start) -> dict[Leaf, Any]:
        """Sweep over the nodes of a pass, and return what it added to ``.grad``, by leaf.

        The framework has added the gradients already: nothing is added here.
        """
        fills = event.how == "backward"
        work = start.begin(retain_graph=event.retains, fill=fills)
        work.run()
        if not fills:
            return {}
        leaves = [leaf for leaf in work.leaves if start.inputs is None or leaf in start.inputs]
        return {leaf: work.total(leaf) for leaf in leaves}

    def _take_gradient(self, number: int, gradient: Any) -> None:
        """Take the ``.grad`` of a leaf from the framework."""
        held = self.tensors.get(self._grads.get(number, 0)) if self._apart else None
        if held is not None and gradient is not None and held.array.shape == gradient.shape:
            np.copyto(held.array, gradient)  # frameworks add in place
            gradient = held.array
        self._has_gradient(self.tensors[number], gradient)

    def _play_explored(self, event: events.Explored) -> None:
        number = next(self._passes)
        for pulled in event.pulled:
            self._note_pull(number, pulled)

    def _note_pull(self, number: int, pulled: events.NodeDifferentiated) -> None:
        node = self._nodes.get(pulled.node)
        if node is None:
            return
        arriving = tuple([None if o is None else _entry(pulled.arriving, o) for o in node.outs_of])
        given = tuple([None if e is None else _entry(pulled.gradients, e) for e in node.order])
        node.told.append((number, arriving, given))
        del node.told[:-_MOST_TOLD]

    @staticmethod
    def _has_gradient(t: Tensor, gradient: Any) -> None:
        """Let the ``.grad`` of a leaf share memory with the framework's."""
        if gradient is None:
            if t._leaf is not None:
                t._leaf.grad = None
            return
        t.leaf.grad = Tensor(gradient, stop_gradient=False)
        t.leaf.cleared = False

    def _play_cleared(self, event: events.GradientCleared) -> None:
        t = self.tensors[event.tensor]
        if event.removed:
            self._grads.pop(event.tensor, None)
        if watch.noting:
            watch.note(watch.Cleared("clear_grad" if not event.removed else "grad = None", t))
        leaf = t._leaf
        if leaf is None or leaf.grad is None:
            return
        if event.removed:
            leaf.grad = None
        else:
            leaf.grad = Tensor(np.zeros_like(leaf.grad.array), stop_gradient=False)
            leaf.cleared = True

    def _play_hooking(self, event: events.Hooking) -> None:
        t = self.tensors[event.tensor]
        seen = self._hooked.setdefault(event.key, [])

        def hook(gradient: Tensor) -> Tensor | None:
            """Return what the hook made of this gradient in the framework; of one that it has not seen, what it
            made last.
            """
            after = next((a for before, a in reversed(seen) if close(before, gradient.array)), None)
            if after is None and seen and not any(close(before, gradient.array) for before, _ in seen):
                after = seen[-1][1]
            return None if after is None else Tensor(after)

        hook.__dict__["stands_at"] = event.hook
        t.register_hook(hook)

    def _play_hook_call(self, event: events.HookCalled) -> None:
        seen = self._hooked.setdefault(event.key, [])
        seen.append((event.before, event.gradient))
        del seen[:-_MOST_HOOKED]

    def _play_replaced(self, event: events.ParametersReplaced) -> None:
        if watch.noting:
            before = {path: self.tensors[n] for path, n in event.before}
            watch.note(watch.Replaced(before, {path: self.tensors[n] for path, n in event.after}))

    def _play_switched(self, event: events.ModeSwitched) -> None:
        if watch.noting:
            watch.note(watch.Switched(tuple([self.tensors[n] for n in event.tensors]), event.training))

    def _label(self, event: events.ModuleLabelled) -> None:
        if watch.noting:
            watch.note(watch.Labelled(tuple([self.tensors[n] for n in event.tensors]), event.text))

    # -- optimizers ---------------------------------------------------------------------------------------------------

    def _play_listed(self, event: events.OptimizerMade) -> None:
        if watch.noting:
            watch.note(watch.Listed(tuple([self.tensors[n] for n in event.tensors])))

    def _play_awaited(self, event: events.ProcessesJoined) -> None:
        if watch.noting:
            watch.note(watch.Awaited(tuple([self.tensors[n] for n in event.tensors])))

    def _play_scaled(self, event: events.LossScaled) -> None:
        loss, scaled = self.tensors[event.loss], self.tensors[event.scaled]
        if scaled.node is not None:
            scaled.node.loss_scale = LossScale(event.scale)
            self._scales.append(scaled.node.loss_scale)
        watch.note_scale(watch.Scaled(loss, scaled, event.scale))

    def _play_unscaled(self, event: events.GradientsUnscaled) -> None:
        for scale in self._scales:
            scale.is_taken_off = True
        self._scales.clear()
        tensors = tuple([self.tensors[n] for n in event.tensors])
        watch.note_scale(watch.Unscaled(tensors, event.scale, event.finite))

    def _play_limited(self, event: events.GradientsClipped) -> None:
        if watch.noting:
            watch.note(watch.Limited(tuple([self.tensors[n] for n in event.tensors]), event.by))

    def _play_updating(self, event: events.UpdateBegan) -> None:
        tensors = tuple([self.tensors[n] for n in event.tensors])
        for n in event.tensors:
            self._announce_write(n)
        state.updating.note(tensors)
        state.taken.note([(t, t._leaf.grad) for t in tensors if t._leaf is not None and t._leaf.grad is not None])
        if watch.noting:
            watch.note(watch.Updating(tensors, event.by, event.rate, frozenset(event.tensors) not in self._scheduled))

    def _note_schedule(self, event: events.ScheduleMade) -> None:
        self._scheduled.add(frozenset(event.tensors))
        if watch.noting:
            tensors = tuple([self.tensors[n] for n in event.tensors])
            about = event.length, tuple(event.parts), event.rate, event.base
            watch.note(watch.Scheduled(event.schedule, event.by, tensors, *about))

    def _note_schedule_step(self, event: events.ScheduleStepped) -> None:
        if watch.noting:
            watch.note(watch.Advanced(event.schedule, event.rate, event.jumped))

    def _note_data_pass(self, event: events.DataPassBegan) -> None:
        if watch.noting:
            watch.note(watch.DataBegan(event.data))

    def _play_updated(self, event: events.UpdateEnded) -> None:
        for n, array in event.values:
            t = self.tensors[n]
            if not np.may_share_memory(t.array, array):
                self._follow(t, array)
            self._wrote(n)
            t.version.wrote("step")
        if watch.noting:
            watch.note(watch.Updated())

    def _note_compiler(self, event: events.Uncompiled) -> None:
        deviations.note("uncompiled")


_titled: dict[tuple[OpDef, str], OpDef] = {}
"""Operators of gradtool's with another title, by what the framework calls them: one each in a process."""

_MOST_TOLD = 3
"""Passes of the framework's over a node whose gradients are kept."""

_MOST_HOOKED = 16
"""Calls of a hook that are kept."""


def _is_a_leaf(t: Tensor) -> bool:
    """Return whether gradients end in a tensor, or would if it were not frozen."""
    return t.node is None and (isinstance(t, TensorParameter) or not t._stop)


def _entry(values: Sequence[Any], at: int) -> Any:
    return values[at] if at < len(values) else None


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


_PLAYED: Mapping[type, Callable[[Player, Any], None]] = {
    events.TensorMade: Player._play_made,
    events.CopyMade: Player._note_copy,
    events.ValueReused: Player._note_reuse,
    events.Uncompiled: Player._note_compiler,
    events.Gone: Player._play_gone,
    events.NodesFreed: Player._freed,
    events.OverwriteBegan: Player._play_writing,
    events.OperatorCalled: Player._play_called,
    events.Adopted: Player._play_adopted,
    events.Detached: Player._play_detached,
    events.ValuesTaken: Player._play_left,
    events.MemoryLent: Player._play_lent,
    events.GradientTaken: Player._play_taken,
    events.MissingGradientRead: Player._play_unfilled,
    events.Rebound: Player._rebound,
    events.Requires: Player._requires,
    events.RecordingSwitched: Player._play_guarding,
    events.RecordingRestored: Player._play_guarded,
    events.BackwardBegan: Player._began,
    events.BackwardEnded: Player._play_ended,
    events.Explored: Player._play_explored,
    events.GradientCleared: Player._play_cleared,
    events.OptimizerMade: Player._play_listed,
    events.ProcessesJoined: Player._play_awaited,
    events.UpdateBegan: Player._play_updating,
    events.UpdateEnded: Player._play_updated,
    events.Hooking: Player._play_hooking,
    events.HookCalled: Player._play_hook_call,
    events.ParametersReplaced: Player._play_replaced,
    events.ModeSwitched: Player._play_switched,
    events.ModuleLabelled: Player._label,
    events.LossScaled: Player._play_scaled,
    events.GradientsUnscaled: Player._play_unscaled,
    events.GradientsClipped: Player._play_limited,
    events.ScheduleMade: Player._note_schedule,
    events.ScheduleStepped: Player._note_schedule_step,
    events.DataPassBegan: Player._note_data_pass,
}

_LENDING = frozenset({"numpy", "__array__", "__dlpack__"})
"""Methods that give an array of a tensor's own memory."""


def _refer_to_arrays(operands: Sequence[Any]) -> tuple[Callable[[], Any], ...]:
    """Return what gives the array of each operand while it is there; nothing where one of them has rows alone."""
    arrays = [array_of(v) for v in flatten(operands, range(len(operands)))]
    return tuple(map(weakref.ref, arrays)) if all(isinstance(a, np.ndarray) for a in arrays) else ()

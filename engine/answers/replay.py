"""A forward pass written down operator by operator, to be computed again in double precision at other values.

What a run computed is taken from its step events, so neither the user's code nor its parameters are touched. Operators
that the chosen leaves do not lead to are constants, and so are random numbers: a dropout mask stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import watch
from ..eager.tape import GradNode
from ..eager.tensor import Leaf, Tensor
from ..executor.plan import Step
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..kernels.backend import backend
from ..ops.opdef import OpDef, Trait
from ..source import Location
from ..spec import dtype as dtype_of
from ..spec import float64
from . import kinks, magnitudes


class Ref(NamedTuple):
    """An output of a recorded operator."""

    entry: int
    slot: int
    place: int = -1
    """Its position in a list slot."""


@dataclass(slots=True)
class Entry:
    """One operator.

    Attributes:
        operands: per slot a :class:`Ref`, a key of :attr:`Trace.leaves`, an array, a list of these, or None.
        outputs: what it gave when it was recorded.
        wanted: of a gradient operator, which gradients.
    """

    op: OpDef
    attrs: Mapping[str, Any]
    operands: list[Any]
    outputs: tuple[Any, ...]
    loc: Location
    wanted: list[list[bool]] | None = None


class LeafRef(NamedTuple):
    """A leaf of dynamic mode, or a persistable or fed variable."""

    leaf: Any


@dataclass
class Trace:
    """A forward pass.

    Attributes:
        leaves: the array of every leaf that was read.
        results: where the results stand.
        breaks: why parts of it cannot be computed again, with the line.
    """

    entries: list[Entry] = field(default_factory=list)
    leaves: dict[Any, Any] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)
    breaks: list[tuple[str, Location]] = field(default_factory=list)

    def replay(self, chosen: Sequence[Any]) -> Replay:
        """What computes the results from the *chosen* leaves."""
        return Replay(self, chosen)


class Recorder:
    """Writes down the operators of a run; a watcher for :func:`gradtool.engine.watch.watched`."""

    def __init__(self) -> None:
        self.computed: list[tuple[watch.Computed, dict[int, Any]]] = []
        self.steps: list[Step] = []
        self._passes = 0
        self._copies: dict[int, Any] = {}
        self._made: set[int] = set()

    def __call__(self, event: Any) -> None:
        if isinstance(event, watch.Computed):
            if not self._passes:
                self._note(event)
        elif isinstance(event, Step):
            if event.op.block.idx:
                return  # inside a branch or a loop, which is one operator of the program around it
            if self.steps and event.index <= self.steps[-1].index:
                self.steps = []
            self.steps.append(event)
        elif isinstance(event, (watch.Began, watch.Ended)):
            recorded = isinstance(event, watch.Began) and event.recorded
            self._passes = 1 if isinstance(event, watch.Began) and not recorded else 0

    def _note(self, event: watch.Computed) -> None:
        """Keep the event, with copies of what no operator made: a training step overwrites parameters."""
        for a in _flat([list(v) if isinstance(v, (list, tuple)) else v for v in event.inputs]):
            if a is None or id(a) in self._made:
                continue
            before = self._copies.get(id(a))
            if before is None:
                self._copies[id(a)] = a.copy()
            elif not np.array_equal(before, a):
                self._copies = {**self._copies, id(a): a.copy()}  # earlier events go on reading what they read
        if event.op.rule is not None:  # what an optimizer made is overwritten in the next step
            self._made.update(id(a) for a in _flat([[*v] if isinstance(v, tuple) else v for v in event.outputs]))
        self.computed.append((event, self._copies))

    def of_tensors(self, results: Sequence[Tensor], nodes: Sequence[GradNode], leaves: Sequence[Tensor]) -> Trace:
        """The trace behind tensors of dynamic mode.

        Args:
            nodes: the recorded calls behind them.
            leaves: the tensors at the leaves, as far as they are known.
        """
        return _OfTensors(self.computed, nodes, leaves).trace(results)

    def of_program(self, results: Sequence[Variable]) -> Trace:
        """The trace of the last run of a static program."""
        trace = Trace()
        current: dict[Variable, Any] = {}
        for step in self.steps:
            op = step.op
            if op.sub_blocks:
                trace.breaks.append((f"{op.type} computes in a block of its own", op.loc))
                continue
            entry = Entry(op.op, op.attrs, _operands(step, current, trace), tuple(step.outputs), op.loc)
            if op.op.forward is not None:
                entry.wanted = [
                    [e is not None for e in v] if isinstance(v, tuple) else [v is not None] for v in op.outputs
                ]
            entry.outputs = _nested(op, step.outputs)
            for slot, v in enumerate(op.outputs):
                for place, e in enumerate(v) if isinstance(v, tuple) else [(-1, v)]:
                    if e is not None:
                        current[e] = Ref(len(trace.entries), slot, place)
            trace.entries.append(entry)
        trace.results = [current.get(v, LeafRef(v)) for v in results]
        return trace


def _nested(op: Operator, flat: Sequence[Any]) -> tuple[Any, ...]:
    rest = iter(flat)
    return tuple([next(rest, None) for _ in v] if isinstance(v, tuple) else next(rest, None) for v in op.outputs)


def _operands(step: Step, current: dict[Variable, Any], trace: Trace) -> list[Any]:
    rest = iter(step.inputs)

    def one(v: Any) -> Any:
        if v is None:
            return None
        array = next(rest)
        found = current.get(v)
        if found is None:
            found = current[v] = LeafRef(v)
            trace.leaves[v] = array
        return found

    operands = [[one(e) for e in v] if isinstance(v, tuple) else one(v) for v in step.op.inputs]
    for slot in step.op.op.inputs[len(operands) :]:
        operands.append([] if slot.many else None)
    return operands


class _OfTensors:
    """From events and the tape to a trace: the tape knows which result an operand is, the events its values."""

    def __init__(
        self,
        events: Sequence[tuple[watch.Computed, dict[int, Any]]],
        nodes: Sequence[GradNode],
        leaves: Sequence[Tensor],
    ) -> None:
        self.trace_ = Trace()
        self.events = events
        known = {n.key: n for n in nodes}
        self.by_key = {e.key: i for i, (e, _) in enumerate(events) if e.key in known and known[e.key].op is e.op}
        self.nodes = {key: known[key] for key in self.by_key}
        self.copies: dict[int, Any] = {}
        self.by_array: dict[int, Ref] = {}
        self.leaf_arrays: dict[int, Leaf] = {id(t.array): t.leaf for t in leaves}
        self.layers: dict[tuple[GradNode, int], Ref] = {}

    def trace(self, results: Sequence[Tensor]) -> Trace:
        trace = self.trace_
        for i, (event, copies) in enumerate(self.events):
            self.copies = copies
            node = self.nodes.get(event.key) if self.by_key.get(event.key) == i else None
            known = iter(_places(node)) if node is not None else None
            operands = []
            for slot, value in enumerate(event.inputs):
                takes = node is not None and node.op.rule is not None and slot in node.op.rule.wrt
                if isinstance(value, (list, tuple)):
                    operands.append([self._ref(a, next(known, None) if takes and known else None) for a in value])
                else:
                    operands.append(self._ref(value, next(known, None) if takes and known else None))
            trace.entries.append(Entry(event.op, event.attrs, operands, event.outputs, event.loc))
            for slot, value in enumerate(event.outputs):
                for place, a in enumerate(value) if isinstance(value, (list, tuple)) else [(-1, value)]:
                    if a is not None:
                        self.by_array[id(a)] = Ref(i, slot, place)
        for t in results:
            trace.results.append(self._ref(t.array, None if t.stop_gradient else t.on_tape()))
        for (node, _), ref in self.layers.items():
            self._check_layer(node, ref)
        return trace

    def _check_layer(self, node: GradNode, ref: Ref) -> None:
        """Note a break if the user's own operator did not get from its inputs to its result by operators."""
        seen: set[Any] = set()
        todo: list[Any] = [ref]
        while todo:
            r = todo.pop()
            if isinstance(r, Ref) and r not in seen:
                todo += _flat(self.trace_.entries[r.entry].operands)
            if isinstance(r, (Ref, LeafRef)):
                seen.add(r)
        for place in node.wrt:
            if isinstance(place, Leaf):
                known: Any = LeafRef(place)
            elif place is not None and place[0].key in self.by_key:
                known = self._output(self.by_key[place[0].key], *place)
            else:
                known = self.layers.get(place) if place is not None else None
            if known is not None and known not in seen:
                self._break(node)
                return

    def _break(self, node: GradNode) -> None:
        self.trace_.breaks.append((f"{node.op.type} computes outside of operators", node.loc))

    def _ref(self, array: Any, place: Any) -> Any:
        if array is None:
            return None
        if isinstance(place, Leaf):
            self.trace_.leaves[place] = self.copies.get(id(array), array)
            self.leaf_arrays[id(array)] = place
            return LeafRef(place)
        if place is not None and place[0].key in self.by_key:
            return self._output(self.by_key[place[0].key], place[0], place[1])
        if place is None and id(array) in self.leaf_arrays:
            return self._ref(array, self.leaf_arrays[id(array)])
        found = self.by_array.get(id(array))
        if found is not None:
            if place is not None:
                self.layers[place] = found
            return found
        if place is not None:
            self._break(place[0])
        return self.copies.get(id(array), array)

    def _output(self, entry: int, node: GradNode, index: int) -> Ref:
        """The output that is number *index* among those with a gradient."""
        rule = node.op.rule
        assert rule is not None
        slots = [r.place for r in rule.reads if r.kind == "dout"]
        sizes = node.out_sizes or [None] * len(slots)
        for slot, size in zip(slots, sizes, strict=False):
            count = 1 if size is None else size
            if index < count:
                return Ref(entry, slot, -1 if size is None else index)
            index -= count
        raise AssertionError("a node has the outputs that its rule takes gradients of")


def _places(node: GradNode) -> list[Any]:
    """The places of the inputs with a gradient in the order of the slots."""
    rule = node.op.rule
    assert rule is not None
    sizes = node.wrt_sizes or [None] * len(rule.wrt)
    at, by_slot = 0, {}
    for slot, size in zip(rule.wrt, sizes, strict=False):
        count = 1 if size is None else size
        by_slot[slot] = node.wrt[at : at + count]
        at += count
    return [p for slot in sorted(by_slot) for p in by_slot[slot]]


class Replay:
    """Computes the results of a trace again, in double precision.

    Attributes:
        reached: the chosen leaves that lead to a result.
    """

    def __init__(self, trace: Trace, chosen: Sequence[Any]) -> None:
        self.trace = trace
        wanted = set(chosen)
        live: list[bool] = []
        touched: set[Any] = set()
        for entry in trace.entries:
            refs = list(_flat(entry.operands))
            depends = (entry.op.type in _MASKED or not entry.op.trait & Trait.RANDOM) and any(
                (isinstance(r, Ref) and live[r.entry]) or (isinstance(r, LeafRef) and r.leaf in wanted) for r in refs
            )
            live.append(depends)
        needed = {r.entry for r in trace.results if isinstance(r, Ref)}
        order = []
        for i in range(len(trace.entries) - 1, -1, -1):
            if i in needed and live[i]:
                order.append(i)
                for r in _flat(trace.entries[i].operands):
                    if isinstance(r, Ref):
                        needed.add(r.entry)
                    elif isinstance(r, LeafRef):
                        touched.add(r.leaf)
        touched.update(r.leaf for r in trace.results if isinstance(r, LeafRef))
        self.reached = [leaf for leaf in chosen if leaf in touched]
        self._code = [(i, trace.entries[i], _kernel(trace.entries[i])) for i in reversed(order)]
        self._constants: dict[tuple[int, int, int], Any] = {}

    def __call__(self, values: Mapping[Any, Any]) -> tuple[list[np.ndarray[Any, Any]], list[Any]]:
        """The results where some leaves have other *values*, and the choices that operators made on the way.

        Two runs between which an operator has a kink differ in its choice.
        """
        found: dict[int, tuple[Any, ...]] = {}
        choices = []
        with watch.unwatched(), np.errstate(all="ignore"):
            for i, entry, kernel in self._code:
                operands = [self._value(o, found, values) for o in entry.operands]
                result = kernel(*operands)
                outputs = tuple(result) if len(entry.op.outputs) != 1 else (result,)
                found[i] = tuple(_wide(o) for o in outputs)
                choice = kinks.choice(entry.op, entry.attrs, operands, outputs)
                if choice is not None:
                    choices.append((i, choice))
            return [np.asarray(self._value(r, found, values)) for r in self.trace.results], choices

    def _value(self, operand: Any, found: dict[int, tuple[Any, ...]], values: Mapping[Any, Any]) -> Any:
        if isinstance(operand, list):
            return [self._value(o, found, values) for o in operand]
        if isinstance(operand, Ref):
            outputs = found.get(operand.entry)
            if outputs is None:
                if operand not in self._constants:
                    self._constants[operand] = _wide(_pick(self.trace.entries[operand.entry].outputs, operand))
                return self._constants[operand]
            return _pick(outputs, operand)
        if isinstance(operand, LeafRef):
            return values[operand.leaf] if operand.leaf in values else _wide(self.trace.leaves[operand.leaf])
        return None if operand is None else _wide(operand)


def _flat(operands: Sequence[Any]) -> list[Any]:
    return [o for v in operands for o in (v if isinstance(v, list) else (v,))]


def _pick(outputs: Sequence[Any], ref: Ref) -> Any:
    value = outputs[ref.slot]
    return value if ref.place < 0 else value[ref.place]


def _wide(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_wide(v) for v in value]
    if value is None:
        return None
    array = magnitudes.plain(value) if not hasattr(value, "dense") else np.asarray(value.dense())
    return array.astype(np.float64) if magnitudes.holds_numbers(array) and array.dtype.kind != "c" else array


_DTYPES = ("dtype", "out_dtype", "in_dtype")


def _kernel(entry: Entry) -> Callable[..., Any]:
    """The kernel for double precision."""
    attrs = dict(entry.attrs)
    for name in _DTYPES:
        code = attrs.get(name, -1)
        if isinstance(code, int) and not isinstance(code, bool) and code >= 0 and dtype_of(code).is_floating:
            attrs[name] = float64.code
    engine = backend("numpy")
    if entry.op.type in _MASKED:
        rule = entry.op.rule
        mask = _wide(entry.outputs[1])
        assert rule is not None

        def masked(x: Any, *rest: Any) -> tuple[Any, Any]:
            # The rule multiplies the gradient by the mask as the operator does its operand.
            args = [mask if r.kind == "out" else x for r in rule.reads]
            return rule(engine.ops, args, [[True]], attrs)[0][0], mask

        return masked
    return engine.bind(entry.op, attrs, entry.wanted)


_MASKED = frozenset({"dropout"})
"""Random operators that say in a second output what they drew."""

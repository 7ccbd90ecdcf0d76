"""Writing a forward pass down, operator by operator, from its step events; ``replay.py`` computes it again.

Neither the user's code nor its parameters are touched. Branches and loops are written down as they ran: the operators
of the branch that was taken, and those of each iteration after those of the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import watch
from ..eager.tape import GradNode
from ..eager.tensor import Leaf, Tensor
from ..executor.plan import Step
from ..ir.program import Program
from ..ir.variable import Variable
from .replay import Entry, LeafRef, Ref, Trace, flat
from .unrolling import OfProgram


class Recorder:
    """Writes down the operators of a run; a watcher for :func:`gradtool.engine.core.watch.watched`."""

    def __init__(self) -> None:
        self.computed: list[tuple[watch.Computed, dict[int, Any]]] = []
        self.steps: list[Step | watch.Entered | watch.Exited] = []
        self._inside: list[Step | watch.Entered | watch.Exited] = []
        self._depth = 0
        self._last = -1
        self._program: Program | None = None
        self._passes = 0
        self._copies: dict[int, Any] = {}
        self._made: set[int] = set()

    def __call__(self, event: Any) -> None:
        if isinstance(event, watch.Computed):
            if not self._passes:
                self._note(event)
        elif isinstance(event, (Step, watch.Entered, watch.Exited)):
            self._step(event)
        elif isinstance(event, (watch.Began, watch.Ended)):
            recorded = isinstance(event, watch.Began) and event.recorded
            self._passes = 1 if isinstance(event, watch.Began) and not recorded else 0

    def _step(self, event: Step | watch.Entered | watch.Exited) -> None:
        """Keep what the last run of a program did; what happens in blocks is told before the operator around."""
        self._depth += isinstance(event, watch.Entered)
        if self._depth:
            self._inside.append(event)
        elif isinstance(event, Step):
            if event.index <= self._last or event.op.block.program is not self._program:
                self.steps = []
            self._last, self._program = event.index, event.op.block.program
            self.steps += [*self._inside, event]
            self._inside = []
        self._depth -= isinstance(event, watch.Exited)

    def _note(self, event: watch.Computed) -> None:
        """Keep the event, with copies of what no operator made: a training step overwrites parameters."""
        for a in flat([list(v) if isinstance(v, (list, tuple)) else v for v in event.inputs]):
            if a is None or id(a) in self._made:
                continue
            before = self._copies.get(id(a))
            if before is None:
                self._copies[id(a)] = a.copy()
            elif not np.array_equal(before, a):
                self._copies = {**self._copies, id(a): a.copy()}  # earlier events go on reading what they read
        if event.op.rule is not None:  # what an optimizer made is overwritten in the next step
            self._made.update(id(a) for a in flat([[*v] if isinstance(v, tuple) else v for v in event.outputs]))
        self.computed.append((event, self._copies))

    def of_tensors(self, results: Sequence[Tensor], nodes: Sequence[GradNode], leaves: Sequence[Tensor]) -> Trace:
        """The trace behind tensors of dynamic mode.

        Args:
            nodes: the recorded calls behind them.
            leaves: the tensors at the leaves, as far as they are known.
        """
        return _OfTensors(self.computed, nodes, leaves).trace(results)

    def of_program(self, results: Sequence[Variable], leaves: Mapping[Variable, Any]) -> Trace:
        """The trace of the last run of a static program.

        Args:
            leaves: the arrays that the run began with: a plan may read them as what was assigned from them.
        """
        return OfProgram(self.steps, leaves).trace(results)


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
                todo += flat(self.trace_.entries[r.entry].operands)
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

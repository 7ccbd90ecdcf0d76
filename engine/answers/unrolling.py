"""From the steps of a static program to a trace, branches and loops as they ran.

Arrays tell which result an operand is: what an operator reads is the very array that another one made, however many
variables it went through, in and out of blocks. What a backward block adds up over its runs has no step of its own and
is written down as a ``sum``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import watch
from ..executor.plan import Step
from ..ir import blocks
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..ops.registry import by_type
from . import magnitudes
from .replay import Entry, LeafRef, Ref, Trace, pick


class OfProgram:
    """The steps of one run, with those in blocks before the operator around them."""

    def __init__(self, events: Iterable[Step | watch.Entered | watch.Exited], leaves: Mapping[Variable, Any]) -> None:
        self.trace_ = Trace()
        self.events = events
        self._leaves = {id(array): (v, array) for v, array in leaves.items()}
        self._current: dict[Variable, Ref] = {}
        self._by_array: dict[int, Ref] = {}
        self._regions: dict[Operator, blocks.Region] = {}
        self._parts: dict[Operator, list[list[Any]]] = {}
        self._running: list[Operator] = []

    def trace(self, results: Sequence[Variable]) -> Trace:
        for event in self.events:
            if isinstance(event, watch.Entered):
                self._running.append(event.op)
                self._guard(event.op)
            elif isinstance(event, watch.Exited):
                self._end_run(self._running.pop())
            elif event.op.sub_blocks:
                self._close(event)
            else:
                self._compute(event)
        self.trace_.results = [self._current.get(v, LeafRef(v)) for v in results]
        return self.trace_

    def _region(self, op: Operator) -> blocks.Region:
        found = self._regions.get(op)
        if found is None:
            found = self._regions[op] = blocks.region(op)
        return found

    def _guard(self, op: Operator) -> None:
        """The condition that is looked at now is part of what the results depend on."""
        condition = self._region(op).condition
        found = None if condition is None else self._current.get(condition)
        if found is not None:
            self.trace_.guards.append(found)

    def _end_run(self, op: Operator) -> None:
        sums = self._region(op).sums
        if sums:
            self._parts.setdefault(op, []).append([self._current.get(inside) for inside, _, _ in sums])

    def _compute(self, step: Step) -> None:
        op = step.op
        outputs = _nested(op, step.outputs)
        entry = Entry(op.op, op.attrs, self._operands(step), outputs, op.loc)
        if op.op.forward is not None:
            entry.wanted = [[e is not None for e in v] if isinstance(v, tuple) else [v is not None] for v in op.outputs]
        self._write(op, outputs, len(self.trace_.entries))
        self.trace_.entries.append(entry)

    def _write(self, op: Operator, outputs: Sequence[Any], entry: int) -> None:
        for slot, v in enumerate(op.outputs):
            for place, e in enumerate(v) if isinstance(v, tuple) else [(-1, v)]:
                if e is not None:
                    ref = Ref(entry, slot, place)
                    self._current[e] = ref
                    self._by_array[id(pick(outputs, ref))] = ref

    def _operands(self, step: Step) -> list[Any]:
        rest = iter(step.inputs)

        def one(v: Variable | None) -> Any:
            return None if v is None else self._operand(v, next(rest))

        operands = [[one(e) for e in v] if isinstance(v, tuple) else one(v) for v in step.op.inputs]
        for slot in step.op.op.inputs[len(operands) :]:
            operands.append([] if slot.many else None)
        return operands

    def _operand(self, v: Variable, array: Any) -> Any:
        if array is None:
            return None  # of a branch that was not taken
        found = self._found(v, array)
        if found is not None:
            return found
        v, array = self._leaves.get(id(array), (v, array))
        if v.persistable or v.is_data:
            self.trace_.leaves.setdefault(v, array)
            return LeafRef(v)
        return array  # what the plan computed beforehand, or begins with

    def _found(self, v: Variable | None, array: Any) -> Ref | None:
        """The result that *array* is."""
        current = self._current.get(v) if v is not None else None
        known = None if current is None else pick(self.trace_.entries[current.entry].outputs, current)
        if known is array:
            return current
        if isinstance(array, np.ndarray) and id(array) in self._by_array:
            return self._by_array[id(array)]
        same = known is not None and _equal(known, array)
        return current if same else None

    def _close(self, step: Step) -> None:
        """All runs of an operator's block are over: say what its results are."""
        op = step.op
        self._guard(op)
        parts = self._parts.pop(op, [])
        sums = {result: k for k, (_, result, _) in enumerate(self._region(op).sums)}
        flat = [v for value in op.outputs for v in (value if isinstance(value, tuple) else (value,))]
        for v, array in zip(flat, step.outputs, strict=False):
            if v is None or not hasattr(array, "dtype"):
                continue
            found = self._found(v, array)
            if found is None and v in sums and parts:
                found = self._sum(op, array, [run[sums[v]] for run in parts])
            if found is not None:
                self._current[v] = found
            else:
                self._current.pop(v, None)

    def _sum(self, op: Operator, array: Any, parts: list[Any]) -> Ref:
        """What is added up over the runs."""
        entries = self.trace_.entries
        total = sum(_dense(pick(entries[p.entry].outputs, p)) for p in parts if p is not None)
        if None not in parts and _equal(total, array, 1e-4):
            entry = Entry(by_type("sum"), {}, [parts], (array,), op.loc)
        else:
            operands = [p for p in parts if p is not None]
            entry = Entry(None, {}, [operands], (array,), op.loc, what=f"{op.type} adds up over its runs")
        entries.append(entry)
        ref = Ref(len(entries) - 1, 0)
        self._by_array[id(array)] = ref
        return ref


def _nested(op: Operator, flat: Sequence[Any]) -> tuple[Any, ...]:
    rest = iter(flat)
    return tuple([next(rest, None) for _ in v] if isinstance(v, tuple) else next(rest, None) for v in op.outputs)


def _dense(value: Any) -> Any:
    return np.asarray(value.dense() if hasattr(value, "dense") else value)


def _equal(a: Any, b: Any, within: float = 0.0) -> bool:
    x, y = magnitudes.plain(a), magnitudes.plain(b)
    if x.shape != y.shape:
        return False
    return np.array_equal(x, y) if not within else bool(np.allclose(x, y, rtol=within, atol=within))

"""From the steps of a static program to a timeline, branches and loops as they ran.

Arrays tell which value an operand is: what an operator reads is the very array that another one made, however many
variables it went through, in and out of blocks. What a backward block adds up over its runs has no step of its own and
is written down as a ``sum``.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ..core.collector import pause_gc
from ..core.identity import identity
from ..core.rows import RowArray
from ..core.summary import Staying
from ..core.tensor_array import TensorArray
from ..executor.plan import Step
from ..ir import blocks
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..ops.opdef import OpDef, Trait
from ..ops.registry import get_by_type
from ..view.graph import op_names
from .bound_kernels import MASKED, NOT_DRAWN_AGAIN, Binding, draws_nothing
from .ledger import Ledger
from .of_program import flatten, make_entry
from .rounds import Round, Rounds
from .timeline import NOBODY, Entry, Timeline, Value

_SUM = get_by_type("sum")


def watch_steps(staying: Staying | None = None) -> Rounds[Step]:
    """A watcher of the steps that a timeline is made of.

    Args:
        staying: which arrays are needed, where a device has them; all if None, as NumPy's.
    """
    return Rounds(lambda step, _: step, staying)


def timeline(run: Round[Step], loss: Variable, leaves: Mapping[Variable, Any]) -> Timeline:
    """The run of a program, written down.

    Args:
        run: what :func:`watch_steps` watched.
        leaves: the arrays that the run began with: a plan may read them as what was assigned from them.

    Returns:
        An entry for every operator each time that it ran; those with blocks have none, but their rounds.
    """
    with pause_gc():
        return _Builder(run, leaves).build(loss)


class _Builder:
    def __init__(self, run: Round[Step], leaves: Mapping[Variable, Any]) -> None:
        self.run = run
        self.entries: list[Entry] = []
        self.values: list[Value] = []
        self.store = Ledger()
        self.leaves: dict[Any, list[int]] = {}
        self.guards: list[int] = []
        self._leaves = {identity(array): (v, array) for v, array in leaves.items()}
        self._current: dict[Variable, int] = {}
        self._regions: dict[Operator, blocks.Region] = {}
        self._names = _names(run)
        self._bindings: dict[Operator, Binding | None] = {}

    def build(self, loss: Variable) -> Timeline:
        unrolled = self._round(self.run)
        begin = next((e.index for e in self.entries if e.backward), len(self.entries))
        written = Timeline("", "static", self.entries, self.values, self.store, {}, begin, self._current.get(loss))
        written.leaves, written.guards, written.unrolled = self.leaves, self.guards, unrolled
        if written.loss is None:
            written.gaps.append((f"{loss.name} is computed outside of operators", loss.made_at))
        return written

    # -- rounds -------------------------------------------------------------------------------------------------------

    def _round(self, run: Round[Step]) -> Round[Entry]:
        """Blocks stand in blocks as deep as the program was written, so this is no recursion over a graph."""
        unrolled: Round[Entry] = Round(run.number)
        for step in run.steps:
            if not step.op.sub_blocks:
                unrolled.steps.append(self._compute(step))
                continue
            parts = []
            for inner in run.inner.get(step.op, ()):
                self._guard(step.op)
                unrolled.inner.setdefault(step.op, []).append(self._round(inner))
                parts.append([self._current.get(inside) for inside, _, _ in self._region(step.op).sums])
            self._close(step, parts)
        return unrolled

    def _region(self, op: Operator) -> blocks.Region:
        if op not in self._regions:
            self._regions[op] = blocks.region(op)
        return self._regions[op]

    def _guard(self, op: Operator) -> None:
        """The condition that is looked at now is part of what the results depend on."""
        condition = self._region(op).condition
        number = None if condition is None else self._current.get(condition)
        if number is not None:
            self.guards.append(number)

    def _close(self, step: Step, parts: Sequence[Sequence[int | None]]) -> None:
        """All runs of an operator's block are over: say what its results are."""
        op = step.op
        self._guard(op)
        sums = {result: k for k, (_, result, _) in enumerate(self._region(op).sums)}
        for v, array in zip(flatten(op.outputs), step.outputs, strict=False):
            if v is None or not hasattr(array, "dtype"):
                continue
            number = self._number(v, array)
            if number is None and v in sums and parts:
                number = self._sum(op, v, array, [run[sums[v]] for run in parts])
            if number is None:
                self._current.pop(v, None)
            else:
                self._current[v] = number

    def _sum(self, op: Operator, v: Variable, array: Any, parts: Sequence[int | None]) -> int:
        """Return the number of the sum over the runs."""
        numbers = [n for n in parts if n is not None]
        parts_of = [self.store.get(n) for n in numbers]
        total = reduce(operator.add, map(_dense, parts_of)) if parts_of else 0
        entry = self._entry(op, "sum")
        entry.operands = [numbers]
        if len(numbers) == len(parts) and _equal(total, array, 1e-4):
            entry.binding = Binding(_SUM, {}, (None,))
        else:
            entry.fixed = f"{op.type} adds up over its runs"
        number = self._make(array, v, entry, "Out")
        entry.outs = [("Out", number)]
        return number

    # -- operators ----------------------------------------------------------------------------------------------------

    def _entry(self, op: Operator, type_: str) -> Entry:
        entry = make_entry(len(self.entries), self._names[op], op)
        entry.type = type_
        self.entries.append(entry)
        return entry

    def _compute(self, step: Step) -> Entry:
        op = step.op
        operands = self._operands(step)
        entry = self._entry(op, op.type)
        entry.operands = operands
        arrays = iter(step.outputs)
        for slot, value in zip(op.op.outputs, op.outputs, strict=False):
            for v in value if isinstance(value, tuple) else (value,):
                array = next(arrays, None)
                number = NOBODY if array is None else self._make(array, v, entry, slot.name)
                entry.outs.append((slot.name, number))
        if op not in self._bindings:
            self._bindings[op] = self._bind(op)
        entry.binding = self._bindings[op]
        if entry.binding is None:
            entry.fixed = NOT_DRAWN_AGAIN
        elif op.type in MASKED:
            entry.binding = replace(entry.binding, mask=entry.outs[1][1])
        return entry

    def _bind(self, op: Operator) -> Binding | None:
        """Return the binding of *op*; None where it draws random numbers that cannot be drawn again."""
        definition: OpDef = op.op
        sizes = tuple([len(v) if isinstance(v, tuple) else None for v in op.outputs])
        if definition.trait & Trait.RANDOM and op.type not in MASKED and not draws_nothing(definition, op.attrs):
            return None
        if definition.forward is None:
            return Binding(definition, op.attrs, sizes)
        wanted = [tuple([e is not None for e in v]) if isinstance(v, tuple) else (v is not None,) for v in op.outputs]
        return Binding(definition.forward, op.attrs, sizes, tuple(wanted))

    def _operands(self, step: Step) -> list[Any]:
        arrays = iter(step.inputs)

        def one(v: Variable | None) -> Any:
            return None if v is None else self._operand(v, next(arrays, None))

        operands = [[one(e) for e in v] if isinstance(v, tuple) else one(v) for v in step.op.inputs]
        for slot in step.op.op.inputs[len(operands) :]:
            operands.append([] if slot.many else None)
        return operands

    # -- values -------------------------------------------------------------------------------------------------------

    def _make(self, array: Any, v: Variable | None, entry: Entry, slot: str) -> int:
        number = self.store.number_result(array)
        self.values.append(Value(v.name if v is not None else "", entry.index, slot))
        if v is not None:
            self._current[v] = number
        return number

    def _operand(self, v: Variable, array: Any) -> int | None:
        if array is None:
            return None  # of a branch that was not taken
        number = self._number(v, array)
        if number is not None:
            return number
        v, array = self._leaves.get(identity(array), (v, array))
        if not (v.persistable or v.is_data):
            return self._number_input("", "constant", array)  # what the plan computed beforehand, or begins with
        if v not in self.leaves:
            self.leaves[v] = [self._number_input(v.name, "parameter" if v.is_parameter else "data", array)]
        return self.leaves[v][0]

    def _number_input(self, name: str, role: str, array: Any) -> int:
        """A number for an array that no operator made."""
        self.values.append(Value(name, role=role))
        return self.store.number_input(array)

    def _number(self, v: Variable, array: Any) -> int | None:
        """The number of an array that has one: of what *v* holds, or of what an operator made or read before."""
        current = self._current.get(v)
        held = None if current is None else self.store.get(current)
        if held is array:
            return current
        number = self.store.find_number(array) if isinstance(array, np.ndarray) or not _is_home(array) else None
        if number is not None:
            return number
        # Of a device each value is told as one object, and NumPy's may be told as a view of another.
        return current if held is not None and _is_home(array) and _equal(held, array) else None


def _names(run: Round[Step]) -> dict[Operator, str]:
    for step in run.steps:
        return op_names(op for block in step.op.block.program.blocks for op in block.ops)
    return {}


def _is_home(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, TensorArray, RowArray))


def _dense(value: Any) -> Any:
    if isinstance(value, TensorArray):
        return value
    return np.asarray(value.dense() if hasattr(value, "dense") else value)


def _equal(one: Any, other: Any, within: float = 0.0) -> bool:
    a, b = _dense(one), _dense(other)
    if isinstance(a, TensorArray) or isinstance(b, TensorArray):
        if not (isinstance(a, TensorArray) and isinstance(b, TensorArray)) or a.entries.keys() != b.entries.keys():
            return False
        return len(a) == len(b) and all(_equal(v, b.entries[place], within) for place, v in a.entries.items())
    if a.shape != b.shape:
        return False
    return np.array_equal(a, b) if not within else bool(np.allclose(a, b, rtol=within, atol=within))

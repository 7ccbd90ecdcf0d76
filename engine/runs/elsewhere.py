"""A recorded run computed again on a backend that compiles: the tape as one program.

Dynamic mode records on the reference, which every question can look into. Where another backend is chosen, the run's
entries become the instructions of a plan, which the backend carries out as it does those of static programs. What is
the user's own Python runs between compiled parts; what drew random numbers keeps what it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core import source
from ..core.errors import GradtoolError, KernelError, describe
from ..executor.plan import Instruction
from ..kernels.backend import Backend, Compiled
from ..ops.opdef import Trait
from . import bound
from .timeline import NOBODY, Entry, FixedOperand, Timeline

OWN = "it is the user's own Python"
_UNKNOWN = (SimpleNamespace(spec=SimpleNamespace(count=-1)),)


@dataclass(frozen=True, slots=True)
class _Called:
    """What a backend asks of an operator of a program, for an entry."""

    op: Any
    entry: Entry | None = None

    def output_variables(self) -> Sequence[Any]:
        """Results whose shapes nobody has declared."""
        return _UNKNOWN


class _Plan:
    """The entries of a run as a plan, whose registers are the numbers of its values."""

    def __init__(self, timeline: Timeline, backend: Backend) -> None:
        self.timeline = timeline
        self.size = len(timeline.values) + 1
        self.loads: dict[str, int] = {}
        self.stores: dict[str, int] = {}
        self.instructions: list[Instruction] = []
        self.entries: list[Entry] = []
        for entry in timeline.entries:
            if entry.kernel is not None:
                self._add(entry, backend)
        self.results = sorted({r for i in self.instructions for r in i.outs if r != self.size - 1})

    def _add(self, entry: Entry, backend: Backend) -> None:
        nobody = self.size - 1
        ins, arrange = _arranged(entry.operands)
        kernel = _separate(entry, backend, arrange)
        outs = tuple(nobody if n == NOBODY else n for _, n in entry.outs)
        self._append(entry, Instruction(None, kernel, ins, outs, spread=True))
        for total in entry.sums:
            parts = self.timeline.values[total].parts
            if parts is not None:
                added = backend.separate(_Called(_SUM, entry), _added, lambda: _added)
                self._append(entry, Instruction(None, added, parts, (total,)))

    def _append(self, entry: Entry, instruction: Instruction) -> None:
        self.instructions.append(instruction)
        self.entries.append(entry)

    def explained(self, error: Exception, instruction: Instruction, inputs: Sequence[Any]) -> GradtoolError:
        """What an instruction raised, told with its entry."""
        at = next(n for n, i in enumerate(self.instructions) if i is instruction)
        entry = self.entries[at]
        told = error if isinstance(error, GradtoolError) else KernelError(f"{entry.type} failed: {error}")
        return describe(told, op=entry.name, made=source.describe(entry.loc))


_SUM = SimpleNamespace(trait=Trait.NONE, type="sum", holds_blocks=False)


def _added(before: Any, part: Any) -> Any:
    return before + part


def _arranged(operands: Sequence[Any]) -> tuple[tuple[int, ...], Callable[[Sequence[Any]], list[Any]]]:
    """The numbers that an entry reads, and what makes its operands of their values."""
    ins: list[int] = []

    def place(operand: Any) -> Callable[[Sequence[Any]], Any]:
        if isinstance(operand, list):
            inner = [place(o) for o in operand]
            return lambda values: [p(values) for p in inner]
        if isinstance(operand, FixedOperand):
            return lambda values: operand.value
        if operand is None:
            return lambda values: None
        at = len(ins)
        ins.append(operand)
        return lambda values: values[at]

    places = [place(o) for o in operands]
    return tuple(ins), lambda values: [p(values) for p in places]


def _draws(binding: bound.Binding) -> bool:
    """Whether a kernel would draw random numbers, or repeats those that were drawn."""
    draws = Trait.RANDOM in binding.op.trait and binding.wanted is None
    return binding.mask != NOBODY or (draws and not bound.draws_nothing(binding.op, binding.attrs))


def _separate(entry: Entry, backend: Backend, arrange: Callable[[Sequence[Any]], list[Any]]) -> Any:
    recorded = entry.kernel
    assert recorded is not None

    def reference(*values: Any) -> Sequence[Any]:
        return recorded(*arrange(values))

    binding = entry.binding
    if binding is None or _draws(binding) or not bound.runs_again(entry):
        kernel: Any = backend.separate(_Called(_SUM, entry), reference, lambda: reference)
        kernel.reason = OWN if binding is None else "it keeps the random numbers that it drew"
        return kernel
    own = bound.kernel(bound.on(binding, backend))

    def traced(*values: Any) -> Sequence[Any]:
        return own(*arrange(values))

    op = binding.op if binding.wanted is None else binding.op.grad_op
    return backend.separate(_Called(op, entry), traced, lambda: reference)


def compute(timeline: Timeline, backend: Backend) -> Compiled:
    """Compute the values of *timeline* again on *backend*, which compiles, and have them in its store.

    Returns:
        The compiled plan.

    Raises:
        GradtoolError: an operator failed there; told with its line.
    """
    plan = _Plan(timeline, backend)
    compiled = backend.compile(plan)
    assert compiled is not None
    regs = [timeline.store.get(number) for number in range(plan.size - 1)] + [None]
    for number in plan.results:
        regs[number] = None
    with np.errstate(all="ignore"):
        compiled(regs)
    for number in plan.results:
        value = regs[number]
        if number in timeline.store and value is not None:
            timeline.store.replace(number, np.array(value))
    return compiled

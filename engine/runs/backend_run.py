"""A recorded run computed again on a backend that compiles: the tape as one program.

Dynamic mode records on the reference, which every question can look into. Where another backend is chosen, the run's
entries become the instructions of a plan, which the backend carries out as it does those of static programs. What is
the user's own Python runs between compiled parts; what drew random numbers keeps what it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core import source
from ..core.errors import GradtoolError, KernelError, describe
from ..core.records import dataclass
from ..core.summary import Timed, Took
from ..executor.plan import Instruction
from ..kernels.backend import Backend, Compiled
from ..ops.opdef import Trait
from . import bound_kernels
from .store import Store
from .timeline import NOBODY, Entry, FixedOperand, Timeline

Parts = Callable[[int], "tuple[int, int] | None"]

OWN = "it is the user's own Python"
_UNKNOWN = (SimpleNamespace(spec=SimpleNamespace(count=-1)),)


@dataclass(frozen=True, slots=True)
class _Called:
    """Operator of a program that a backend queries, for an entry."""

    op: Any
    entry: Entry | None = None

    def output_variables(self) -> Sequence[Any]:
        """Results whose shapes nobody has declared."""
        return _UNKNOWN


class _Plan:
    """Entries as a plan.

    Attributes:
        numbers: by register, the number of the value that it holds; the register behind them is for what nobody reads.
        results: the registers that entries write.
    """

    def __init__(self, entries: Sequence[Entry], parts: Parts, backend: Backend) -> None:
        self.loads: dict[str, int] = {}
        self.stores: dict[str, int] = {}
        self.feeds: dict[str, int] = {}
        self.instructions: list[Instruction] = []
        self.entries: list[Entry] = []
        again = [e for e in entries if e.kernel is not None or e.sums]
        summed = [n for e in again for total in e.sums for n in (total, *(parts(total) or ()))]
        self.numbers = sorted({n for e in again if e.kernel is not None for n in (*e.inputs, *e.made)} | {*summed})
        self.size = len(self.numbers) + 1
        self._register = {n: r for r, n in enumerate(self.numbers)} | {NOBODY: self.size - 1}
        for entry in again:
            self._add(entry, parts, backend)
        self.results = sorted({r for i in self.instructions for r in i.outs if r != self.size - 1})

    def owner(self, index: int) -> Entry:
        """Return the entry of an instruction."""
        return self.entries[index]

    def keep(self, numbers: Collection[int]) -> None:
        """Leave nothing but the values of these *numbers*."""
        self.results = sorted(self._register[n] for n in numbers if n in self._register)

    def registers(self, values: Store) -> list[Any]:
        """The registers before a run."""
        written = {r for i in self.instructions for r in i.outs}
        return [None if r in written else values.get(number) for r, number in enumerate(self.numbers)] + [None]

    def _add(self, entry: Entry, parts: Parts, backend: Backend) -> None:
        register = self._register
        if entry.kernel is not None:
            ins, arrange = _arrange(entry.operands)
            kernel = _separate(entry, backend, arrange)
            outs = tuple(register[n] for _, n in entry.outs)
            self._append(entry, Instruction(None, kernel, tuple(register[n] for n in ins), outs, spread=True))
        for total in entry.sums:
            summands = parts(total)
            if summands is not None:
                added = backend.separate(_Called(_SUM, entry), _add_values, lambda: _add_values)
                first, second = summands
                self._append(entry, Instruction(None, added, (register[first], register[second]), (register[total],)))

    def _append(self, entry: Entry, instruction: Instruction) -> None:
        self.instructions.append(instruction)
        self.entries.append(entry)

    def explain_error(self, error: Exception, instruction: Instruction, inputs: Sequence[Any]) -> GradtoolError:
        """Return the error of an instruction, with its entry."""
        at = next(n for n, i in enumerate(self.instructions) if i is instruction)
        entry = self.entries[at]
        told = error if isinstance(error, GradtoolError) else KernelError(f"{entry.type} failed: {error}")
        return describe(told, op=entry.name, made=source.describe(entry.loc))


_SUM = SimpleNamespace(trait=Trait.NONE, type="sum", holds_blocks=False)


def _add_values(before: Any, part: Any) -> Any:
    return before + part


def _arrange(operands: Sequence[Any]) -> tuple[tuple[int, ...], Callable[[Sequence[Any]], list[Any]]]:
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


def _draws(binding: bound_kernels.Binding) -> bool:
    """Return whether a kernel would draw random numbers, or repeats those that were drawn."""
    draws = Trait.RANDOM in binding.op.trait and binding.wanted is None
    return binding.mask != NOBODY or (draws and not bound_kernels.draws_nothing(binding.op, binding.attrs))


def _separate(entry: Entry, backend: Backend, arrange: Callable[[Sequence[Any]], list[Any]]) -> Any:
    recorded = entry.kernel
    assert recorded is not None

    def reference(*values: Any) -> Sequence[Any]:
        return recorded(*arrange(values))

    binding = entry.binding
    if binding is None or _draws(binding) or not bound_kernels.runs_again(entry):
        kernel: Any = backend.separate(_Called(_SUM, entry), reference, lambda: reference)
        kernel.reason = OWN if binding is None else "it keeps the random numbers that it drew"
        return kernel
    own = bound_kernels.kernel(bound_kernels.bind_on(binding, backend))

    def trace(*values: Any) -> Sequence[Any]:
        return own(*arrange(values))

    op = binding.op if binding.wanted is None else binding.op.grad_op
    return backend.separate(_Called(op, entry), trace, lambda: reference)


def compute(timeline: Timeline, backend: Backend) -> Compiled:
    """Compute the values of *timeline* again on *backend*, which compiles, and have them in its store.

    Returns:
        The compiled plan.

    Raises:
        GradtoolError: an operator failed there; told with its line.
    """
    timeline.compiled = True
    return compute_entries(timeline.entries, lambda n: timeline.values[n].parts, timeline.store, backend)


def compute_entries(
    entries: Sequence[Entry], parts: Parts, values: Store, backend: Backend, wanted: Collection[int] = ()
) -> Compiled:
    """The same for any entries in their order.

    Args:
        parts: of a sum that the engine makes between operators, the sum before and what is added to it.
        values: what the entries read that none of them makes; what they make replaces what is held of it.
        wanted: numbers of which the values are held from now on.
    """
    plan = _Plan(entries, parts, backend)
    compiled = backend.compile(plan, _apart)
    assert compiled is not None
    regs = plan.registers(values)
    with np.errstate(all="ignore"):
        compiled(regs)
    for r in plan.results:
        number, value = plan.numbers[r], regs[r]
        if value is not None and (number in values or number in wanted):
            values.replace(number, np.array(value))
    return compiled


def compute_one(entry: Entry, values: Store, backend: Backend) -> Sequence[Any]:
    """Compute an entry that can run again on *backend*; return its results as NumPy's arrays, which nobody keeps."""
    ins, arrange = _arrange(entry.operands)
    kernel = _separate(entry, backend, arrange)
    with np.errstate(all="ignore"):
        results: Sequence[Any] = kernel(*[values.get(n) for n in ins])
    return results


def time_backend(
    entries: Sequence[Entry], parts: Parts, values: Store, backend: Backend, wanted: Collection[int], runs: int
) -> Iterator[Took]:
    """Yield the times of *backend* for the *wanted* values by entries, as one program, in each of the *runs*."""
    plan = _Plan(entries, parts, backend)
    plan.keep(wanted)
    compiled = backend.compile(plan)
    assert compiled is not None
    start = {str(r): value for r, value in enumerate(plan.registers(values))}
    backend.loaded(start, [r for r, value in start.items() if isinstance(value, np.ndarray)])
    for _ in range(runs):
        with np.errstate(all="ignore"):
            for event in compiled.summarise([*start.values()], Timed()) or ():
                assert isinstance(event, Took)
                yield event


def _apart(instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """Whatever a backend makes of several operators at once, each of them is looked at by itself."""
    return []

"""The same computed again by a backend that compiles: one function, whose values stay where it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ..core import source, watch
from ..core.errors import GradtoolError, KernelError, describe
from ..core.records import dataclass
from ..executor.plan import Instruction
from ..kernels.backend import Backend
from ..kernels.choice import reference
from ..runs.bound_kernels import kernel
from ..runs.timeline import NOBODY, Entry, FixedOperand, Timeline
from . import kinks
from .double_precision import Array, Double, double_binding, wide


class CompiledDouble(Double):
    """As the base, for runs without branches and loops whose values a device holds.

    Args:
        backend: what compiles.
    """

    def __init__(self, timeline: Timeline, chosen: Sequence[Any], backend: Backend) -> None:
        self.backend = backend
        self.xp = backend.xp
        super().__init__(timeline, chosen)

    def _bind(self) -> None:
        self._plan = _Plan(self.code, self.timeline.loss, self.backend, self._one_number)
        # What is looked at, if only in passing, is not simplified together with its neighbours.
        compiled = self.backend.compile(self._plan, lambda *_: [])
        assert compiled is not None
        self._compiled = compiled

    def _one_number(self, number: int) -> int:
        """The number under which a leaf that is read as several values is put in."""
        leaf = self._leaf.get(number)
        return number if leaf is None else self.timeline.leaves[leaf][-1]

    def __call__(self, values: Mapping[Any, Array]) -> tuple[Any, list[tuple[int, Any]]]:
        """As in the base; loss and choices are arrays of the backend's."""
        regs: list[Any] = [None] * self._plan.size
        for number, r in self._plan.inputs.items():
            leaf = self._leaf.get(number)
            regs[r] = values[leaf] if leaf is not None and leaf in values else self._constant(number)
        with watch.pause_watchers():
            self._compiled(regs)
        chosen = [(index, regs[r]) for index, r in self._plan.choices if regs[r] is not None]
        return regs[self._plan.loss], chosen


@dataclass(frozen=True, slots=True)
class _Called:
    """An operator of a program as a backend asks for it, for an entry."""

    op: Any

    def output_variables(self) -> Sequence[Any]:
        """Results whose shapes nobody has declared."""
        return _UNKNOWN


_UNKNOWN = (SimpleNamespace(spec=SimpleNamespace(count=-1)),)


class _Plan:
    """Entries as a plan that leaves the loss, and what operators chose.

    Attributes:
        inputs: by the number of a value that no entry makes, its register.
        loss: the register of the loss.
        choices: the index of an entry and the register of what it chose.
    """

    def __init__(
        self, code: Sequence[Entry], loss: int | None, backend: Backend, one_number: Callable[[int], int]
    ) -> None:
        assert loss is not None
        self.loads: dict[str, int] = {}
        self.stores: dict[str, int] = {}
        self.feeds: dict[str, int] = {}
        self.inputs: dict[int, int] = {}
        self.choices: list[tuple[int, int]] = []
        self.instructions: list[Instruction] = []
        self._entries = [*code]
        self._backend = backend
        self._one_number = one_number
        self._made: dict[int, int] = {}
        self.size = 1  # what nobody reads goes to the first register
        for entry in code:
            self._add(entry)
        self.loss = self._register(loss)
        self.results = [self.loss, *(r for _, r in self.choices)]

    def _next(self) -> int:
        self.size += 1
        return self.size - 1

    def _register(self, number: int) -> int:
        if number in self._made:
            return self._made[number]
        number = self._one_number(number)
        if number not in self.inputs:
            self.inputs[number] = self._next()
        return self.inputs[number]

    def _add(self, entry: Entry) -> None:
        binding = entry.binding
        assert binding is not None
        ins: list[int] = []

        def place(operand: Any) -> Callable[[Sequence[Any]], Any]:
            if isinstance(operand, list):
                inner = [place(o) for o in operand]
                return lambda values: [p(values) for p in inner]
            if operand is None or isinstance(operand, FixedOperand):
                fixed = None if operand is None else wide(operand.value)
                return lambda values: fixed
            ins.append(self._register(operand))
            at = len(ins) - 1
            return lambda values: values[at]

        places = [place(o) for o in entry.operands]
        mask = place(None if binding.mask == NOBODY else binding.mask)

        def compute_by(backend: Backend) -> Callable[..., Sequence[Any]]:
            own = double_binding(binding, backend)

            def run(*values: Any) -> Sequence[Any]:
                operands = [p(values) for p in places]
                results = list(kernel(own, mask(values))(*operands))
                return [*map(wide, results), kinks.choice(backend.xp, entry.type, binding.attrs, operands, results)]

            return run

        outs = []
        for _, number in entry.outs:
            if number != NOBODY:
                self._made[number] = self._next()
            outs.append(self._made.get(number, 0))
        outs.append(0)
        if entry.type in kinks.CHOICES:
            outs[-1] = self._next()
            self.choices.append((entry.index, outs[-1]))
        called = _Called(binding.op if binding.wanted is None else binding.op.grad_op)
        separate = self._backend.separate(called, compute_by(self._backend), lambda: compute_by(reference()))
        self.instructions.append(Instruction(None, separate, tuple(ins), tuple(outs), spread=True))

    def explain_error(self, error: Exception, instruction: Instruction, inputs: Sequence[Any]) -> GradtoolError:
        """Return what an instruction raised, told with its entry."""
        entry = self._entries[next(n for n, i in enumerate(self.instructions) if i is instruction)]
        told = error if isinstance(error, GradtoolError) else KernelError(f"{entry.type} failed: {error}")
        return describe(told, op=entry.name, made=source.describe(entry.loc))

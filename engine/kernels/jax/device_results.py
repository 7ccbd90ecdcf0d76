"""A plan whose watcher gets arrays where they were computed: compiled, with what it requested as more results.

Of blocks the compiled function returns a row for each run (``block_observations.py``), and ``identities.py`` identifies
the runs. Where a block is not compiled, Python hands its values on and runs the plan instruction by instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from ...core import state
from ...core.rows import RowArray
from ...core.summary import ArraySummary, Heard, Staying
from ...ops.opdef import Trait
from .block_observations import set_look, take
from .compilation import Compilation
from .conditional import Conditional, plain
from .identities import GivenResults, IdentifiedResult, chooser, is_moved, steps
from .packing import UnmovedArray
from .part import HostedPart, PlanPart, Seen, TracedPart, tracing
from .pytrees import StaticSummary


class _Stepwise(Exception):
    """A block is not compiled."""


class Holding(Compilation):
    """A plan that gives the results of operators that stay at hand, beside its own.

    Attributes:
        has_blocks: whether there are blocks in it.
    """

    def __init__(self, plan: Any, asked: Staying) -> None:
        super().__init__(plan, lambda i, inputs, outputs: _part_result(i, inputs, outputs, lambda r: False))
        self._question = asked
        self._everyone = [*_operators(plan)]
        self._stay = self._register_needs(plan, ())
        self._read = {r for i in plan.instructions for r in i.ins} - {r for i in plan.instructions for r in i.outs}
        self.has_blocks = any(op.sub_blocks for op in self._everyone)
        # What has an effect must not come twice, so it is not tried out.
        self._is_stepwise = self.has_blocks and any(Trait.EFFECT in op.op.trait for op in self._everyone)

    def trace_parts(self, span: range) -> list[PlanPart]:
        """As in the base."""
        return [_LookingPart(self.plan, span, self.look, self._stay, self._round_reader)]

    def run_watched(self, regs: list[Any]) -> Iterator[Heard]:
        """Carry out the plan, telling the watcher when it has run; without blocks, of each part."""
        if not self.has_blocks:
            yield from self._parts_told(regs)
            return
        if not self._is_stepwise:
            begin, position = {r: regs[r] for r in self._read}, state.random.position
            try:
                yield from [*self._parts_told(regs)]
                return
            except _Stepwise:
                self._is_stepwise = True
                state.random.position = position
                for r, value in begin.items():
                    regs[r] = value
        for step in self.plan.steps(regs):
            yield step.index, step.op, step.inputs, step.outputs

    def _parts_told(self, regs: list[Any]) -> Iterator[Heard]:
        there: dict[int, Any] = {}
        for events in self.each(lambda part: self._run(part, regs, there)):
            yield from events

    def _run(self, part: PlanPart, regs: list[Any], there: dict[int, Any]) -> list[Heard]:
        """Run a part; what to tell of it.

        Args:
            there: what was told of registers.
        """
        is_hosted = isinstance(part, HostedPart)
        if is_hosted and any(getattr(self.plan.instructions[n].op, "sub_blocks", ()) for n in part.span):
            raise _Stepwise
        for r in part.ins:  # held, so that parameters are not written over
            there.setdefault(r, regs[r])
        seen: Seen = part(regs)

        def value_of(r: int) -> Any:
            return regs[r] if r >= 0 and (is_hosted or r in self._stay) else None

        told = [*steps(self.plan, seen, there, value_of)]
        if isinstance(part, HeldPart):
            for r in part.more_outs:
                regs[r] = None
        return told

    def _round_reader(self, body: Any) -> _AtRun:
        frames = () if body.leaving is None else body.leaving.registers
        handed_on = {*frames, *(c.end for c in body.carried)}
        return _AtRun(self._register_needs(body.plan, handed_on))

    def _register_needs(self, plan: Any, handed_on: Collection[int | None]) -> set[int]:
        """The registers whose values are needed.

        Args:
            handed_on: those of a block whose values go to other runs, or to other blocks.
        """
        readers: dict[int, list[Any]] = {}
        leading = {r for r in handed_on if r is not None}
        for i in plan.instructions:
            if i.op is not None and (i.op.sub_blocks or is_moved(i.op) or i.op.op.trait & (Trait.VIEW | Trait.MOVES)):
                leading.update(i.ins)
            for r in i.ins if i.op is not None else ():
                readers.setdefault(r, []).append(i.op)
        return {
            r
            for i in plan.instructions
            for r in i.outs
            if r >= 0
            and i.op is not None
            and self._question.of(i.op, self._everyone if r in leading else readers.get(r, ()))
        }


class HeldPart(TracedPart):
    """A part that gives what stays at hand, too.

    Attributes:
        more_outs: registers that it writes and nobody but the watcher reads.
    """

    def __init__(self, plan: Any, span: range, look: Any, stay: set[int]) -> None:
        super().__init__(plan, span, look)
        written = {r for n in span for r in plan.instructions[n].outs}
        self.more_outs = sorted((written & stay).difference(self.outs))
        self.outs += self.more_outs


class _LookingPart(HeldPart):
    """The same with what is needed of runs of blocks in it."""

    def __init__(self, plan: Any, span: range, look: Any, stay: set[int], at_run: Callable[[Any], _AtRun]) -> None:
        super().__init__(plan, span, look, stay)
        self._at_run = at_run

    def trace(self, regs: list[Any]) -> Any:
        """As in the base."""
        with set_look(self._at_run):
            return super().trace(regs)


class _AtRun:
    """Gives what is needed of a run of a block.

    Args:
        stay: the registers whose values are.
    """

    def __init__(self, stay: set[int]) -> None:
        self._stay = stay

    def __call__(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> GivenResults:
        return _part_result(instruction, inputs, outputs, self._stay.__contains__)

    def collect(self, seen: Seen) -> list[GivenResults]:
        """By instruction."""
        return [given for _, given in seen]


def _part_result(
    instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any], stays: Callable[[int], bool]
) -> GivenResults:
    """Return what a part returns of an instruction.

    Args:
        stays: whether the value of a register is returned, too.
    """
    results = []
    for r, value in zip(instruction.outs, outputs, strict=True):
        there = value.there if isinstance(value, Conditional) else None
        value = plain(value)
        known = ArraySummary.describe(value)
        same = next((n for n, v in enumerate(inputs) if v is value and there is None and known is not None), None)
        here = UnmovedArray(value) if known is not None and stays(r) and not isinstance(value, RowArray) else None
        results.append(IdentifiedResult(StaticSummary(known, same), there, here))
    return GivenResults(results, chooser(instruction, inputs), take() if tracing.get() else None)


def _operators(plan: Any) -> Iterator[Any]:
    """The operators of a plan and of the blocks in it."""
    todo = [i.op for i in plan.instructions if i.op is not None]
    while todo:
        op = todo.pop()
        yield op
        todo += [inner for block in op.sub_blocks for inner in block.ops]


def compile_holding(plan: Any, asked: Staying) -> Holding | None:
    """*plan* compiled for what is *asked*; None where its steps have to be told one by one."""
    holding = Holding(plan, asked)
    return None if holding.has_blocks and not asked.in_blocks else holding

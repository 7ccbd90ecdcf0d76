"""Requests of a watcher, answered part by part: numbers leave the device, and arrays only where nothing less does.

What is not compiled (Python, shapes that depend on values) runs between the parts and is told with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import state
from ...core.errors import GradtoolError
from ...core.summary import ArraySummary, Asked, Heard, InOrder, Measured, Timed
from ...core.watch import Entered, Exited
from .block_observations import set_look, take
from .compilation import Compilation
from .conditional import Conditional, plain, settle
from .device_results import Holding, compile_holding
from .finite_checks import JudgedPart, holds_numbers
from .flags import first
from .measuring import ArrayCounts, Laid, count, lay, measure, numbers
from .part import HostedPart, PlanPart, Seen, TracedPart, tracing
from .pytrees import StaticSummary, home
from .timing import Timing

LONGEST = 256
"""Instructions of a part whose results are measured."""


class CompiledQuestion(Compilation, ABC):
    """A plan compiled for a question."""

    def run_watched(self, regs: list[Any]) -> Iterator[Heard]:
        """Carry out the plan, telling the watcher of each part when it has run."""
        arrays: dict[int, Any] = {}
        for events in self.each(lambda part: self._run(part, regs, arrays)):
            yield from events

    def _run(self, part: PlanPart, regs: list[Any], arrays: dict[int, Any]) -> Iterator[Heard]:
        """Run a part; what to tell of it.

        Args:
            arrays: what was told of registers in arrays, which are told as the same objects again.
        """
        if isinstance(part, HostedPart):
            return iter(self._run_on_host(part, regs, arrays))
        before = {r: regs[r] for r in part.ins}  # held, so that it can run again
        position = state.random.position
        try:
            seen = part(regs)
        except GradtoolError:  # it comes again, where the steps before it are told
            seen = None
        if seen is not None and self.is_answer(part, seen):
            return iter(self.events(part, seen))
        state.random.position = position
        for r, value in before.items():
            regs[r] = value
        return self.run_stepwise(part, seen, regs, arrays)

    @abstractmethod
    def is_answer(self, part: Any, seen: Seen) -> bool:
        """Return whether what a part returned is the answer."""

    @abstractmethod
    def events(self, part: Any, seen: Seen) -> list[Heard]:
        """Yield the events of a part that returned the answer."""

    def array_filter(self, part: Any, seen: Seen | None) -> Callable[[int], bool]:
        """Return which of a part's instructions are reported with arrays, by index."""
        return lambda index: True

    def run_stepwise(
        self, part: PlanPart, seen: Seen | None, regs: list[Any], arrays: dict[int, Any]
    ) -> Iterator[Heard]:
        """Carry out a part instruction by instruction on the device; arrays leave it where they are wanted."""
        instructions = self.plan.instructions
        wanted = self.array_filter(part, seen)
        leaving = {r for n in part.span if wanted(n) for r in (*instructions[n].ins, *instructions[n].outs)}
        shown: dict[int, Any] = {}
        for index in part.span:
            instruction = instructions[index]
            inputs = [settle(regs[r]) for r in instruction.ins]
            with np.errstate(all="ignore"):
                try:
                    result = _there(instruction.kernel)(*inputs)
                    outputs = tuple(result) if instruction.spread else (result,)
                except Exception as error:
                    raise self.plan.explain_error(error, instruction, inputs) from error
            for r, value in zip(instruction.outs, outputs, strict=True):
                regs[r] = value
                if r in leaving:
                    arrays[r] = home(value)
                else:
                    shown[r] = ArraySummary.describe(value)
            if instruction.op is not None:
                read = tuple([arrays.get(r, shown.get(r, regs[r])) for r in instruction.ins])
                gave = tuple([arrays[r] if r in leaving else shown[r] for r in instruction.outs])
                yield index, instruction.op, read, gave
            for r in instruction.dead:
                regs[r] = None
                arrays.pop(r, None)
                shown.pop(r, None)

    def _run_on_host(self, part: HostedPart, regs: list[Any], arrays: dict[int, Any]) -> Iterator[Heard]:
        instruction = self.plan.instructions[part.index]
        for r in part.ins:
            if r not in arrays:
                arrays[r] = home(regs[r])
            regs[r] = arrays[r]
        inputs = tuple([regs[r] for r in instruction.ins])
        part(regs)
        outputs = tuple([regs[r] for r in instruction.outs])
        arrays.update(zip(instruction.outs, outputs, strict=True))
        return iter([] if instruction.op is None else [(part.index, instruction.op, inputs, outputs)])


class CompiledCheck(CompiledQuestion):
    """Asks whether anything is wrong; around what is, arrays are told."""

    def __init__(self, plan: Any, asked: InOrder) -> None:
        super().__init__(plan)
        self.asked = asked

    def trace_parts(self, span: range) -> list[PlanPart]:
        """As in the base."""
        return [JudgedPart(self.plan, span, self.asked.largest)]

    def is_answer(self, part: JudgedPart, seen: Seen) -> bool:
        """As in the base."""
        return first(seen[0][1].wrong) < 0

    def events(self, part: JudgedPart, seen: Seen) -> list[Heard]:
        """As in the base: one event, the same one in each run with these shapes."""
        return [seen[0][1].event()]

    def array_filter(self, part: JudgedPart, seen: Seen | None) -> Callable[[int], bool]:
        """As in the base."""
        if seen is None:
            return lambda index: True
        wrong = [span for span, bad in zip(part.chunks, np.asarray(seen[0][1].wrong), strict=True) if bad]
        return lambda index: any(index in span for span in wrong)


class Measuring(CompiledQuestion):
    """Asks for numbers of results, which are measured where they are computed."""

    def __init__(self, plan: Any, asked: Measured) -> None:
        super().__init__(plan, self._tap)
        self._asks = asked.of

    def _tap(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return what a compiled part returns of an instruction: measures of its results, and of runs of its block."""
        if not tracing.get():
            return [], None  # it is told with arrays
        return _results(instruction, outputs, self._asks, lay), take()

    def trace_parts(self, span: range) -> list[PlanPart]:
        """As in the base; all that a part returns is held until it is measured."""
        starts = range(span.start, span.stop, LONGEST)
        return [_MeasuredPart(self.plan, range(n, min(n + LONGEST, span.stop)), self.look, self._asks) for n in starts]

    def is_answer(self, part: PlanPart, seen: Seen) -> bool:
        """As in the base."""
        return True

    def events(self, part: PlanPart, seen: Seen) -> list[Heard]:
        """As in the base."""
        return [*_steps(self.plan, seen)]

    def array_filter(self, part: PlanPart, seen: Seen | None) -> Callable[[int], bool]:
        """As in the base."""
        ops = {n: self.plan.instructions[n].op for n in part.span}
        return lambda index: ops[index] is not None and self._asks(ops[index])


class _MeasuredPart(TracedPart):
    """A part whose results are measured, and those of runs of blocks in it."""

    def __init__(self, plan: Any, span: range, look: Any, asks: Callable[[Any], bool]) -> None:
        super().__init__(plan, span, look)
        self._asks = asks

    def trace(self, regs: list[Any]) -> Any:
        """As in the base."""
        with set_look(lambda body: _RoundMeasures(body, self._asks)):
            return super().trace(regs)


class _RoundMeasures:
    """Measures results in a run of a block.

    Attributes:
        asks: whether there is any that is asked for.
    """

    def __init__(self, body: Any, asks: Callable[[Any], bool]) -> None:
        self._asks = asks
        self.asks = any(map(asks, operators(body.op)))

    def __call__(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        results = _results(instruction, outputs, self._asks, lambda value: count(lay(value)))
        return results, take()

    def collect(self, seen: Seen) -> list[Any]:
        """Return the measures, and what is known of the rest, by instruction."""
        return [of_instruction for _, of_instruction in seen] if self.asks else []


class _Result(NamedTuple):
    """A result that is told.

    Attributes:
        shown: its shape and type.
        measured: what its numbers follow from; None for one that is not asked for.
        there: whether it is there; None for one that is.
    """

    shown: StaticSummary
    measured: Laid | ArrayCounts | None
    there: Any

    @classmethod
    def describe(cls, value: Any, measure: Callable[[Any], Any]) -> _Result:
        """Describe *value*; numbers are measured by *measure*."""
        there = value.there if isinstance(value, Conditional) else None
        value = plain(value)
        return cls(StaticSummary(ArraySummary.describe(value)), measure(value) if holds_numbers(value) else None, there)

    def summarize(self) -> ArraySummary | None:
        """Return its summary, once the function has run."""
        shown = self.shown.summary
        if shown is None or (self.there is not None and not np.asarray(self.there)):
            return None
        if self.measured is None:
            return shown
        row = self.measured
        return ArraySummary(shown.shape, shown.dtype, numbers(row) if isinstance(row, ArrayCounts) else measure(row))


def _results(
    instruction: Any, outputs: Sequence[Any], asks: Callable[[Any], bool], measure: Callable[[Any], Any]
) -> list[_Result]:
    """The results of an instruction, measured where they are asked for."""
    asked = instruction.op is not None and asks(instruction.op)
    return [_Result.describe(v, lambda value: measure(value) if asked else None) for v in outputs]


def _steps(plan: Any, seen: Iterable[tuple[int, Any]]) -> Iterator[Heard]:
    """Yield the events of instructions whose results were looked at; blocks are nested as the program was written."""
    for index, (results, looked) in seen:
        if looked is not None and looked.look.asks:
            for number, each in looked.runs():
                yield Entered(looked.body.op, number)
                yield from _steps(looked.body.plan, enumerate(each))
                yield Exited()
        instruction = plan.instructions[index]
        if instruction.op is not None:
            gave = tuple([result.summarize() for result in results])
            yield index, instruction.op, (None,) * len(instruction.ins), gave


def compile_request(plan: Any, asked: Asked) -> CompiledQuestion | Holding | Timing | None:
    """*plan* compiled for what is *asked*; None where its steps have to be told one by one."""
    if isinstance(asked, InOrder):
        return CompiledCheck(plan, asked)
    if isinstance(asked, Timed):
        return Timing(plan)
    return Measuring(plan, asked) if isinstance(asked, Measured) else compile_holding(plan, asked)


def operators(op: Any) -> Iterator[Any]:
    """The operators in the blocks of an operator, those of blocks in them, too."""
    todo = list(op.sub_blocks)
    while todo:
        for inner in todo.pop().ops:
            yield inner
            todo += inner.sub_blocks


def _there(kernel: Any) -> Callable[..., Any]:
    """The kernel with results that stay on the device, as far as it has them there."""
    return getattr(kernel, "there", kernel)  # type: ignore[no-any-return]

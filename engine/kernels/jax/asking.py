"""What a watcher asks of a plan, answered part by part: numbers leave the device, and arrays where nothing less does.

What is not compiled (branches, loops, Python) runs between the parts and is told with arrays, as without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core import state
from ...core.errors import GradtoolError
from ...core.summary import Asked, InOrder, Measured, Summary, Timed, Told, Uneventful
from .compilation import Compilation
from .conditional import TAKES_CONDITIONAL
from .holding import Holding, holding
from .hosted import BLOCK
from .judged import JudgedPart, holds_numbers, summary
from .measuring import Laid, laid, measured
from .part import HostedPart, Part, Seen, TracedPart, tracing
from .pytrees import Shown, home
from .timing import Timing

Event = Told | Uneventful

LONGEST = 256
"""Instructions of a part whose results are measured."""


class Asking(Compilation):
    """A plan compiled for a question; blocks are run as values say, since who watches wants to see into them."""

    def reason(self, instruction: Any) -> str:
        """As in the base."""
        op = instruction.op
        as_values_say = op is not None and (op.sub_blocks or op.type in TAKES_CONDITIONAL)
        return BLOCK if as_values_say else super().reason(instruction)

    def told(self, regs: list[Any]) -> Iterator[Event]:
        """Carry out the plan, telling the watcher of each part when it has run."""
        arrays: dict[int, Any] = {}
        for events in self.each(lambda part: self._run(part, regs, arrays)):
            yield from events

    def _run(self, part: Part, regs: list[Any], arrays: dict[int, Any]) -> Iterator[Event]:
        """Run a part; what to tell of it.

        Args:
            arrays: what was told of registers in arrays, which are told as the same objects again.
        """
        if isinstance(part, HostedPart):
            return iter(self._hosted(part, regs, arrays))
        before = {r: regs[r] for r in part.ins}  # held, so that it can run again
        position = state.random.position
        try:
            seen = part(regs)
        except GradtoolError:  # it comes again, where the steps before it are told
            seen = None
        if seen is not None and self.answered(part, seen):
            return iter(self.events(part, seen))
        state.random.position = position
        for r, value in before.items():
            regs[r] = value
        return self.stepped(part, seen, regs, arrays)

    def answered(self, part: Any, seen: Seen) -> bool:
        """Whether what a part returned is the answer."""
        raise NotImplementedError

    def events(self, part: Any, seen: Seen) -> list[Event]:
        """What to tell of a part that returned the answer."""
        raise NotImplementedError

    def wanted(self, part: Any, seen: Seen | None) -> Callable[[int], bool]:
        """Which of a part's instructions are told with arrays, by index."""
        return lambda index: True

    def stepped(self, part: Part, seen: Seen | None, regs: list[Any], arrays: dict[int, Any]) -> Iterator[Event]:
        """Carry out a part instruction by instruction on the device; arrays leave it where they are wanted."""
        instructions = self.plan.instructions
        wanted = self.wanted(part, seen)
        leaving = {r for n in part.span if wanted(n) for r in (*instructions[n].ins, *instructions[n].outs)}
        shown: dict[int, Any] = {}
        for index in part.span:
            instruction = instructions[index]
            inputs = [regs[r] for r in instruction.ins]
            with np.errstate(all="ignore"):
                try:
                    result = _there(instruction.kernel)(*inputs)
                    outputs = tuple(result) if instruction.spread else (result,)
                except Exception as error:
                    raise self.plan.explained(error, instruction, inputs) from error
            for r, value in zip(instruction.outs, outputs, strict=True):
                regs[r] = value
                if r in leaving:
                    arrays[r] = home(value)
                else:
                    shown[r] = summary(value)
            if instruction.op is not None:
                read = tuple([arrays.get(r, shown.get(r, regs[r])) for r in instruction.ins])
                gave = tuple([arrays[r] if r in leaving else shown[r] for r in instruction.outs])
                yield index, instruction.op, read, gave
            for r in instruction.dead:
                regs[r] = None
                arrays.pop(r, None)
                shown.pop(r, None)

    def _hosted(self, part: HostedPart, regs: list[Any], arrays: dict[int, Any]) -> Iterator[Event]:
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


class Judging(Asking):
    """Asks whether anything is wrong; around what is, arrays are told."""

    def __init__(self, plan: Any, asked: InOrder) -> None:
        super().__init__(plan)
        self.asked = asked

    def traced(self, span: range) -> list[Part]:
        """As in the base."""
        return [JudgedPart(self.plan, span, self.asked.largest)]

    def answered(self, part: JudgedPart, seen: Seen) -> bool:
        """As in the base."""
        return not any(wrong for _, wrong in seen[:-1])

    def events(self, part: JudgedPart, seen: Seen) -> list[Event]:
        """As in the base: one event, the same one in each run with these shapes."""
        return [seen[-1][1]]

    def wanted(self, part: JudgedPart, seen: Seen | None) -> Callable[[int], bool]:
        """As in the base."""
        if seen is None:
            return lambda index: True
        wrong = [span for span, (_, bad) in zip(part.chunks, seen[:-1], strict=True) if bad]
        return lambda index: any(index in span for span in wrong)


class Measuring(Asking):
    """Asks for numbers of results, which are measured where they are computed."""

    def __init__(self, plan: Any, asked: Measured) -> None:
        super().__init__(plan, self._tapped)
        self._asks = asked.of

    def _tapped(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """What a compiled part returns of an instruction: shapes and types, and what is measured of its results."""
        if not tracing.get():
            return []  # it is told with arrays
        op = instruction.op
        tapped = op is not None and self._asks(op)
        return [(Shown(summary(v)), laid(v) if tapped and holds_numbers(v) else None) for v in outputs]

    def traced(self, span: range) -> list[Part]:
        """As in the base; all that a part returns is held until it is measured."""
        starts = range(span.start, span.stop, LONGEST)
        return [TracedPart(self.plan, range(n, min(n + LONGEST, span.stop)), self.look) for n in starts]

    def answered(self, part: Part, seen: Seen) -> bool:
        """As in the base."""
        return True

    def events(self, part: Part, seen: Seen) -> list[Event]:
        """As in the base."""
        told: list[Event] = []
        for index, results in seen:
            instruction = self.plan.instructions[index]
            if instruction.op is not None:
                gave = tuple([_told(shown.summary, row) for shown, row in results])
                told.append((index, instruction.op, (None,) * len(instruction.ins), gave))
        return told

    def wanted(self, part: Part, seen: Seen | None) -> Callable[[int], bool]:
        """As in the base."""
        ops = {n: self.plan.instructions[n].op for n in part.span}
        return lambda index: ops[index] is not None and self._asks(ops[index])


def _told(shown: Summary | None, row: Laid | None) -> Summary | None:
    return shown if shown is None or row is None else Summary(shown.shape, shown.dtype, measured(row))


def asking(plan: Any, asked: Asked) -> Asking | Holding | Timing | None:
    """*plan* compiled for what is *asked*; None where its steps have to be told one by one."""
    if isinstance(asked, InOrder):
        return Judging(plan, asked)
    if isinstance(asked, Timed):
        return Timing(plan)
    return Measuring(plan, asked) if isinstance(asked, Measured) else holding(plan, asked)


def _there(kernel: Any) -> Callable[..., Any]:
    """The kernel with results that stay on the device, as far as it has them there."""
    return getattr(kernel, "there", kernel)  # type: ignore[no-any-return]

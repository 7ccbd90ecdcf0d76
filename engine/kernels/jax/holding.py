"""A plan whose watcher is told arrays where they were computed: compiled, with what it asked for as more results.

A run of a block is told by the block's own plan, whose values are handed on in Python: plans with branches and loops
are not told in this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.summary import Staying, Told
from .compilation import Compilation
from .judged import summary
from .part import HostedPart, Part, Seen, TracedPart
from .pytrees import Shown


class Holding(Compilation):
    """A plan that gives the results of operators that stay at hand, beside its own."""

    def __init__(self, plan: Any, asked: Staying) -> None:
        super().__init__(plan, _shown)
        readers: dict[int, list[Any]] = {}
        for i in plan.instructions:
            for r in i.ins if i.op is not None else ():
                readers.setdefault(r, []).append(i.op)
        self._stay = {
            r
            for i in plan.instructions
            for r in i.outs
            if r >= 0 and i.op is not None and asked.of(i.op, readers.get(r, ()))
        }

    def traced(self, span: range) -> list[Part]:
        """As in the base."""
        return [HeldPart(self.plan, span, self.look, self._stay)]

    def told(self, regs: list[Any]) -> Iterator[Told]:
        """Carry out the plan, telling the watcher of each part when it has run."""
        there: dict[int, Any] = {}
        for events in self.each(lambda part: self._run(part, regs, there)):
            yield from events

    def _run(self, part: Part, regs: list[Any], there: dict[int, Any]) -> list[Told]:
        """Run a part; what to tell of it.

        Args:
            there: what was told of registers.
        """
        for r in part.ins:  # held, so that parameters are not written over
            there.setdefault(r, regs[r])
        seen: Seen = part(regs)
        told = []
        for index, shown in seen:
            instruction = self.plan.instructions[index]
            here = isinstance(part, HostedPart)
            results = zip(instruction.outs, shown, strict=True)
            gave = [regs[r] if r >= 0 and (here or r in self._stay) else result.summary for r, result in results]
            there.update(zip(instruction.outs, gave, strict=True))
            if instruction.op is not None:
                read = tuple([there.get(r) for r in instruction.ins])
                told.append((index, instruction.op, read, tuple(gave)))
        if isinstance(part, HeldPart):
            for r in part.more_outs:
                regs[r] = None
        return told


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


def _shown(instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Shown]:
    """What a part returns of each instruction: shapes and types."""
    return [Shown(summary(v)) for v in outputs]


def holding(plan: Any, asked: Staying) -> Holding | None:
    """*plan* compiled for what is *asked*; None where there are blocks."""
    has_blocks = any(i.op is not None and i.op.sub_blocks for i in plan.instructions)
    return None if has_blocks else Holding(plan, asked)

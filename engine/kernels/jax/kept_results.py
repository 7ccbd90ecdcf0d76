"""A run of a plan of which every result stays at hand, where it was computed.

The plan is compiled in parts, each of which gives all that its instructions do. How large these are is known while
a part is traced: one that would give more than a number of bytes ends there, and the rest is a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax

from ...core import state, watch
from ...core.streams import Position
from ..backend import Noted
from .assumptions import Assumed
from .compilation import Compilation
from .device_results import HeldPart
from .part import HostedPart, PlanPart, Seen, ValuesNeeded, may_draw
from .pytrees import LateRefusal
from .streams import current


class _Full(Exception):
    """A part gives as much as it may."""


class NotingCompilation(Compilation):
    """A plan that gives the results of all instructions.

    Args:
        most: how many bytes a part gives, if it is not a single instruction; None for any number.
    """

    def __init__(self, plan: Any, most: int | None) -> None:
        super().__init__(plan)
        self._most = most
        self._all = {r for i in plan.instructions for r in i.outs if r >= 0}

    def trace_parts(self, span: range) -> list[PlanPart]:
        """As in the base."""
        return [_NotedPart(self.plan, span, self._all, self._most)]

    def run_watched(self, regs: list[Any]) -> Iterator[Noted]:
        """Carry out the plan, telling what each instruction gave when its part has run."""
        for events in self.each(lambda part: self._run(part, regs)):
            yield from events

    def _run(self, part: PlanPart, regs: list[Any]) -> list[Noted]:
        begin = state.random.position
        # Held, so that nothing is written over: all of it is somebody's result.
        held = [regs[r] for r in part.ins]
        with watch.pause_watchers():
            seen = part(regs)
        del held
        counters = dict(seen) if isinstance(part, _NotedPart) else {}
        told = []
        for index in part.span:
            instruction = self.plan.instructions[index]
            before: Position | None = None
            if isinstance(part, HostedPart) and may_draw(instruction.op):
                before = begin
            elif counters.get(index) is not None:
                before = Position(begin.seed, int(counters[index]))
            told.append(Noted(index, tuple([None if r < 0 else regs[r] for r in instruction.outs]), before))
        if isinstance(part, _NotedPart):
            for r in part.more_outs:
                regs[r] = None
        return told

    def _divide(self, part: PlanPart, stop: ValuesNeeded) -> list[PlanPart]:
        """As in the base; a part that is full goes on in another one."""
        if not isinstance(stop.error, _Full):
            return super()._divide(part, stop)
        span = part.span
        return self._replace(part, [*self._compile(span.start, stop.index), *self._compile(stop.index, span.stop)])


class _NotedPart(HeldPart):
    """A part that gives all results, and says where the stream of random numbers was before those that were drawn."""

    def __init__(self, plan: Any, span: range, stay: set[int], most: int | None) -> None:
        super().__init__(plan, span, self._look, stay)
        self._most = most
        self._numbers: Iterator[int] = iter(())
        self._bytes = 0
        self._counter: Any = None

    def trace(self, regs: list[Any]) -> tuple[list[LateRefusal], list[Assumed], Seen]:
        """As in the base."""
        stream = current()
        self._numbers, self._bytes = iter(self.span), 0
        self._counter = None if stream is None else stream.counter
        return super().trace(regs)

    def _look(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        index = next(self._numbers)
        self._bytes += sum(int(leaf.nbytes) for leaf in jax.tree_util.tree_leaves(outputs) if hasattr(leaf, "nbytes"))
        if self._most is not None and self._bytes > self._most and index > self.span.start:
            raise ValuesNeeded(index, _Full())
        stream = current()
        if stream is None or not may_draw(instruction.op):
            return None
        before, self._counter = self._counter, stream.counter
        return before

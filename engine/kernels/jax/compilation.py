"""A plan as compiled functions, with what cannot be compiled between them.

Parts are found as the plan runs: tracing stops at an operator that wants values, the part is cut there, and the values
are at hand when its turn comes. So each operator is traced at most twice, and only what really cannot be compiled is
left out. Shapes are JAX's business: a part is traced again for shapes that it has not seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.records import dataclass
from ...core.summary import Asked, Heard
from ..backend import Look, Noted
from .host_operators import BLOCK, stop_reason
from .mesh import Mesh
from .part import HostedPart, PlanPart, TracedPart, ValuesNeeded, trace_span, tracing

if TYPE_CHECKING:
    from .device_results import Holding
    from .timing import Timing
    from .watcher_requests import CompiledQuestion

Run = TypeVar("Run")


@dataclass(frozen=True, slots=True)
class Split:
    """An operator between compiled parts.

    Attributes:
        index: of its instruction.
        op: the operator; None for bookkeeping.
        reason: why it is not compiled.
        inside: the operators in its block that are not compiled either.
    """

    index: int
    op: Any
    reason: str
    inside: tuple[Split, ...] = ()


class Compilation:
    """A compiled plan; calling it with the plan's registers carries it out.

    Args:
        plan: what to compile.
        look: what else to compute.
        mesh: the devices that it is spread over; None for one.
    """

    def __init__(self, plan: Any, look: Look | None = None, mesh: Mesh | None = None) -> None:
        self.plan = plan
        self.look = look
        self.mesh = mesh
        self._parts: list[PlanPart] | None = None
        self._changing = threading.Lock()
        self._asked: dict[Asked, CompiledQuestion | Holding | Timing | None] = {}

    def __call__(self, regs: list[Any]) -> list[tuple[int, Any]]:
        """Carry out the plan.

        Returns:
            By the index of each instruction, what :attr:`look` made of it; empty without one.
        """
        if tracing.get():
            trace_span(self.plan, range(len(self.plan.instructions)), regs)
            return []
        if self.mesh is not None:
            for r in self.plan.feeds.values():
                regs[r] = self.mesh.put(regs[r], self.mesh.feed_sharding(regs[r].shape))
        parts = self._parts
        if parts is not None and len(parts) == 1:
            try:
                return parts[0](regs)
            except ValuesNeeded:
                pass  # for these shapes: it comes once more below
        seen: list[tuple[int, Any]] = []
        for more in self.each(lambda part: part(regs)):
            seen += more
        return seen

    def each(self, run: Callable[[PlanPart], Run]) -> Iterator[Run]:
        """Yield what *run* gives for each part in turn; it runs the part, which is divided where that cannot be
        compiled.
        """
        if self._parts is None:
            with self._changing:
                if self._parts is None:
                    self._parts = self._first_parts()
        todo = self._parts[::-1]
        while todo:
            part = todo.pop()
            try:
                given = run(part)
            except ValuesNeeded as stop:
                todo += self._divide(part, stop)[::-1]
            else:
                yield given

    def summarise(self, regs: list[Any], asked: Asked) -> Iterator[Heard] | None:
        """Carry out the plan and tell a watcher what it asked; see :mod:`.watcher_requests`."""
        if tracing.get() or self.mesh is not None:
            return None
        if asked not in self._asked:
            from .watcher_requests import compile_request

            with self._changing:
                if asked not in self._asked:
                    self._asked[asked] = compile_request(self.plan, asked)
        answering = self._asked[asked]
        return None if answering is None else answering.run_watched(regs)

    def run_noting(self, regs: list[Any], most: int | None) -> Iterator[Noted] | None:
        """Carry out the plan and tell what each instruction gave; see :mod:`.kept_results`."""
        from .kept_results import NotingCompilation

        return None if self.mesh is not None else NotingCompilation(self.plan, most).run_watched(regs)

    def splits(self) -> list[Split]:
        """Return what is not compiled, as far as runs have shown."""
        parts = self._parts if self._parts is not None else self._first_parts()
        hosted = (part for part in parts if isinstance(part, HostedPart))
        return [self._split(p.index, p.reason) for p in hosted]

    def _split(self, index: int, reason: str) -> Split:
        instruction = self.plan.instructions[index]
        block = getattr(instruction.kernel, "plan", None)
        return Split(index, instruction.op, reason, tuple(block.compiled.splits()) if block is not None else ())

    def _first_parts(self) -> list[PlanPart]:
        """The parts as far as definitions tell."""
        parts: list[PlanPart] = []
        start = 0
        for index, instruction in enumerate(self.plan.instructions):
            reason = self.reason(instruction)
            if reason:
                parts += self._compile(start, index)
                parts.append(HostedPart(self.plan, index, reason, self.look))
                start = index + 1
        return [*parts, *self._compile(start, len(self.plan.instructions))]

    def reason(self, instruction: Any) -> str:
        """Why an instruction is not compiled, as far as its operator's definition tells; empty where it is."""
        return str(getattr(instruction.kernel, "reason", BLOCK))

    def trace_parts(self, span: range) -> list[PlanPart]:
        """The instructions of *span* compiled."""
        return [TracedPart(self.plan, span, self.look, self.mesh)]

    def _compile(self, start: int, stop: int) -> list[PlanPart]:
        return self.trace_parts(range(start, stop)) if stop > start else []

    def _divide(self, part: PlanPart, stop: ValuesNeeded) -> list[PlanPart]:
        """*part* without the instruction that wants values, for this run and the later ones."""
        kernel = self.plan.instructions[stop.index].kernel
        kernel.reason = kernel.reason or stop_reason(stop.error)
        hosted = HostedPart(self.plan, stop.index, kernel.reason, self.look)
        span = part.span
        return self._replace(
            part, [*self._compile(span.start, stop.index), hosted, *self._compile(stop.index + 1, span.stop)]
        )

    def _replace(self, part: PlanPart, parts: list[PlanPart]) -> list[PlanPart]:
        """*parts*, which from now on stand for *part*."""
        with self._changing:
            assert self._parts is not None
            if part in self._parts:  # nobody else has divided it
                at = self._parts.index(part)
                self._parts = [*self._parts[:at], *parts, *self._parts[at + 1 :]]
        return parts

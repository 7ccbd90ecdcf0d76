"""Rounds of a static program, run by run of its blocks.

The steps of a block are told before that of the operator around it, so they wait here until it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Generic, TypeVar

from ..core import watch
from ..core.records import dataclass
from ..core.summary import Asked
from ..executor.plan import Step
from ..ir.operator import Operator

T = TypeVar("T")
"""What is noted of an operator."""


@dataclass(slots=True)
class Round(Generic[T]):
    """One run of a block: of a whole program, of a branch, or one iteration of a loop.

    Attributes:
        number: which iteration, from 0. Backward blocks have the number of the forward iteration that they belong to.
        steps: what was noted of its operators, in the order of execution.
        inner: of operators with blocks: the rounds of these, the first one first.
    """

    number: int = 0
    steps: list[T] = field(default_factory=list)
    inner: dict[Operator, list[Round[T]]] = field(default_factory=dict)


class Rounds(Generic[T]):
    """Puts steps into the rounds that they belong to; a watcher for :func:`gradtool.engine.core.watch.watch`.

    Args:
        noted: what is noted of a step, from the step and the rounds of its own block.
        asked: what is needed of steps in place of arrays; see ``engine/core/summary.py``.

    Attributes:
        last: the last run of a program.
    """

    def __init__(self, noted: Callable[[Step, list[Round[T]]], T], asked: Asked | None = None) -> None:
        self.last: Round[T] = Round()
        self._asked = asked
        self._noted = noted
        self._open: list[tuple[Operator, Round[T]]] = []
        self._over: dict[Operator, list[Round[T]]] = {}
        self._before: Step | None = None

    def __call__(self, event: Any) -> None:
        if isinstance(event, Step):
            self._step(event)
        elif isinstance(event, watch.Entered):
            self._open.append((event.op, Round(event.run)))
        elif isinstance(event, watch.Exited):
            op, ended = self._open.pop()
            self._over.setdefault(op, []).append(ended)

    @property
    def summary_needs(self) -> Asked | None:
        """Facts needed in place of arrays; within blocks, whose values go in and out of them, arrays."""
        return None if self._open else self._asked

    def take(self, op: Operator) -> list[Round[T]]:
        """The rounds of the block of *op*, whose own step has not come."""
        return self._over.get(op, [])

    def _step(self, step: Step) -> None:
        into = self._open[-1][1] if self._open else self._outermost(step)
        inner = self._over.pop(step.op, [])
        if inner:
            into.inner[step.op] = inner
        into.steps.append(self._noted(step, inner))

    def _outermost(self, step: Step) -> Round[T]:
        """The round of the program itself; another one where the program begins again, or another program does."""
        before, self._before = self._before, step
        if before is None or step.index <= before.index or step.op.block.program is not before.op.block.program:
            self.last = Round()
        return self.last

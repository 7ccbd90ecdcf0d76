"""``backward``: every parameter or leaf with its gradient, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gradtool.engine.answers.why.answers import Answer

from ..gradients import GradientTable
from ..model import Model
from ..notes import SILENT, Notes
from ..wording import count
from .cuts import Cuts
from .question import Question


@dataclass(frozen=True, kw_only=True)
class Backward(Cuts, Question[GradientTable]):
    """What the backward part is made for.

    Attributes:
        callbacks: functions, or ``MODULE:FUNCTION`` of them, called for each operator that is added to a program.
        checkpoints: selectors of what backward keeps, or ``auto``; it computes other values again.
        memory_budget: bytes; checkpoints are chosen so that values and gradients fit.
        run: run a static program, and add statistics of the gradients.
        feed: a file of arrays to feed, which implies *run*.
        backend: what the kernels run on; what is in use if None.
    """

    callbacks: tuple[str | Callable[..., Any], ...] = ()
    checkpoints: tuple[str, ...] = ()
    memory_budget: int | None = None
    run: bool = False
    feed: str | None = None
    backend: str | None = None

    needs: ClassVar = {"journal": True}

    def with_failure(self, answer: GradientTable, failure: Answer) -> GradientTable:
        """As in the base; the failure is told as ``why`` tells it, and is a finding."""
        return replace(answer, failure=failure)

    def answer(self, model: Model, notes: Notes = SILENT) -> GradientTable:
        """The table of gradients."""
        table = model.differentiate(self, notes)
        if table.left_out:
            notes.note(f"{model.name} made a backward part itself: {count(table.left_out, 'operator')} left out")
        if self.run or self.feed:
            table = model.evaluate(table, self, notes)
        if not table.computed and not any(row.lacking for row in table.rows):
            return table  # every gradient arrives, and nothing is known of what it holds
        from .judging import judged

        return replace(table, answers=judged(model, self, feed=self.feed, no_run=not table.computed))

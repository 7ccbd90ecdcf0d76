"""``backward``: every parameter or leaf with its gradient, or the reason why it has none."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ..answers.why.answers import Answer
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.wording import count
from ..kinds.gradients import GradientTable
from ..kinds.model import Model
from ..kinds.program.model import ProgramModel
from ..request.options import BackwardOptions
from .question import Question


@dataclass(frozen=True, kw_only=True)
class Backward(BackwardOptions, Question[GradientTable]):
    """Every parameter or leaf with its gradient, or the reason why it has none."""

    needs: ClassVar = {"journal": True}

    def add_failure(self, answer: GradientTable, failure: Answer) -> GradientTable:
        """As in the base; the failure is told as ``why`` tells it, and is a finding."""
        return replace(answer, failure=failure)

    def answer(self, model: Model, notes: Notes = SILENT) -> GradientTable:
        """The table of gradients."""
        asked: BackwardOptions = self
        if isinstance(model, ProgramModel) and len(self.functions) < len(self.callbacks):
            from .callbacks import callback

            asked = replace(self, callbacks=tuple(callback(c, model) for c in self.callbacks))
        table = model.differentiate(asked, notes)
        if table.left_out:
            notes.note(f"{model.name} made a backward part itself: {count(table.left_out, 'operator')} skipped")
        if self.run or self.feed:
            table = model.evaluate(table, self, notes)
        if not table.computed and not any(row.lacking for row in table.rows):
            return table  # every gradient arrives, and nothing is known of what it holds
        from .judging import judge

        return replace(table, answers=judge(model, self, feed=self.feed, no_run=not table.computed))

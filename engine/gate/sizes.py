"""Sizes of gradients where ``why`` is asked for itself."""

from __future__ import annotations

from ..answers.stats import Gatherer
from ..core.notes import SILENT, Notes
from ..kinds.model import Model
from ..questions.stats import Sizes, Stats


class BareStats(Stats):
    """``stats`` without what ``why`` says of the model, which takes longer than the sizes do."""

    def answer(self, model: Model, notes: Notes = SILENT) -> Sizes:
        """As in the base."""
        model.must_take({"--feed": self.feed})
        gatherer = Gatherer()
        return self.read_sizes(model, gatherer, model.run(gatherer, self.feed, notes), ())

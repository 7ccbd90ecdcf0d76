"""``stats``: the health of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.engine.answers.stats import Gatherer, Line, StatsStory

from ..answered import Answered
from ..model import About, Model
from ..names import Names
from ..notes import SILENT, Notes
from .question import Question


@dataclass(frozen=True, slots=True)
class Sizes(Answered):
    """Sizes of gradients.

    Attributes:
        by: what a line is: ``parameter``, ``layer`` or ``op``.
        lines: those that are shown.
        total: how many there are.
        histogram: whether orders of magnitude are shown.
    """

    about: About
    story: StatsStory
    names: Names
    by: str
    lines: Sequence[Line]
    total: int
    histogram: bool


@dataclass(frozen=True, kw_only=True)
class Stats(Question[Sizes]):
    """What a line is, and which are shown.

    Attributes:
        by: ``parameter``, ``layer`` or ``op``.
        worst: only so many of the lines to look at first.
        histogram: how many elements are of each order of magnitude.
        feed: a file of arrays to feed.
    """

    by: str = "parameter"
    worst: int | None = None
    histogram: bool = False
    feed: str | None = None

    def answer(self, model: Model, notes: Notes = SILENT) -> Sizes:
        """The sizes of the gradients of one backward pass."""
        model.must_take({"--feed": self.feed})
        gatherer = Gatherer()
        return self.of(model, gatherer, model.run(gatherer, self.feed, notes))

    def of(self, model: Model, gatherer: Gatherer, gradients: Mapping[Any, Any]) -> Sizes:
        """The sizes of the gradients of a pass that *gatherer* listened to."""
        story = model.sizes(gatherer, gradients)
        lines = {"parameter": story.parameters, "layer": story.layers, "op": story.operators}[self.by]
        shown = story.worst(self.worst, lines) if self.worst else lines
        return Sizes(model.about, story, model.names(), self.by, shown, len(lines), self.histogram)

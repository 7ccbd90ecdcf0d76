"""``stats``: the health of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from ..answers import numbers
from ..answers.stats import Gatherer, Line, StatsStory
from ..answers.why.answers import Answer
from ..answers.why.verdicts import BY_STRUCTURE, Aspect, Verdict
from ..core.answer import Answered
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.names import Names
from ..request.options import Cuts
from .judging import judge, question
from .question import Question

ALWAYS_WRONG = numbers.NOT_FINITE
"""What nobody wants, whatever ``why`` says; whether a large or a small gradient is wrong, it knows alone."""


@dataclass(frozen=True)
class Sizes(Answered):
    """Sizes of gradients.

    Attributes:
        by: what a line is: ``parameter``, ``layer`` or ``op``.
        lines: those that are shown.
        total: how many there are.
        histogram: whether orders of magnitude are shown.
        answers: what ``why`` says of the model.
        failure: what it says of the backward pass after this one, which failed, if one did.
    """

    about: About
    story: StatsStory
    names: Names
    by: str
    lines: Sequence[Line]
    total: int
    histogram: bool
    answers: Sequence[Answer] = ()
    failure: Answer | None = None

    @cached_property
    def answers_by_name(self) -> Mapping[str, Answer]:
        """The answers by the names that they are about."""
        return {name: a for a in self.answers for name in (a.name, *a.also)}

    def verdict(self, line: Line) -> str:
        """Return the verdict on a line: that of its size, or what ``why`` knows better."""
        told = self.answers_by_name.get(line.name) or self._member_finding(line)
        if told is None:
            return line.verdict
        known = told.label == BY_STRUCTURE or told.verdict.is_intended
        in_numbers = told.verdict.has(Aspect.IN_NUMBERS)
        if known or (told.finding and line.verdict == numbers.OK and not in_numbers):
            return told.label
        return told.verdict.short if in_numbers else line.verdict

    def _member_finding(self, line: Line) -> Answer | None:
        """Of a layer, the first finding about one of its parameters whose numbers look well."""
        told = (self.answers_by_name.get(name) for name in line.members)
        return next((a for a in told if a is not None and a.finding), None) if line.verdict == numbers.OK else None

    @property
    def with_gradient(self) -> int:
        """Number of parameters with a gradient."""
        return sum([x.gradient is not None for x in self.story.parameters])

    @property
    def findings(self) -> int:
        """As in the base: those of ``why``, and NaN and infinity where it has no word for them."""
        others = {
            x.verdict for x in self.story.parameters if x.verdict in ALWAYS_WRONG and x.name not in self.answers_by_name
        }
        return sum(a.finding for a in self.answers) + len(others) + (self.failure is not None)

    def is_to_look_at(self, line: Line) -> bool:
        """Return whether something may be wrong with a line, and ``why`` does not call it intended."""
        told = [self.answers_by_name.get(name) for name in line.members or [line.name]]
        meant = all(a is not None and not a.finding and a.verdict is not Verdict.LARGE for a in told)
        return self.verdict(line) != numbers.OK and not meant


@dataclass(frozen=True, kw_only=True)
class Stats(Question[Sizes]):
    """Kind of lines, and which are shown.

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

    needs: ClassVar = {"journal": True}

    def add_failure(self, answer: Sizes, failure: Answer) -> Sizes:
        """As in the base; the failure is told as ``why`` tells it, and is a finding."""
        return replace(answer, failure=failure)

    def answer(self, model: Model, notes: Notes = SILENT) -> Sizes:
        """The sizes of the gradients of one backward pass."""
        model.must_take({"--feed": self.feed})
        gatherer = Gatherer()
        listener = gatherer if self.by == "op" else None  # nobody asks what each operator gives
        beside = model.case_beside(question(Cuts(), feed=self.feed)) if model.is_watched else None
        with beside.hear() if beside is not None else nullcontext():
            gradients = model.run(listener, self.feed, notes)
        answers = None if beside is None else model.call(beside.answers)
        return self.read_sizes(model, gatherer, gradients, answers)

    def read_sizes(
        self,
        model: Model,
        gatherer: Gatherer,
        gradients: Mapping[Any, Any],
        verdicts: Sequence[Answer] | None = None,
    ) -> Sizes:
        """The sizes of the gradients of a pass that *gatherer* listened to.

        Args:
            verdicts: what ``why`` says of the model, if it has been asked.
        """
        story = model.sizes(gatherer, gradients)
        lines = {"parameter": story.parameters, "layer": story.layers, "op": story.operators}[self.by]
        shown = story.worst(self.worst, lines) if self.worst else lines
        answers = judge(model, Cuts(), feed=self.feed) if verdicts is None else verdicts
        return Sizes(model.about, story, model.names(), self.by, shown, len(lines), self.histogram, answers)

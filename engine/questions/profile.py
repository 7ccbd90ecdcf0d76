"""``profile``: what forward and backward take."""

from __future__ import annotations

from ..answers.profile import Calls, ProfileStory
from ..core import watch
from ..core.answer import Answered
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.request import Request
from .question import Question


@dataclass(frozen=True, slots=True)
class Costs(Answered):
    """Costs of the operators in a model, under the names that they have there."""

    about: About
    story: ProfileStory


@dataclass(frozen=True, kw_only=True)
class Profile(Question[Costs]):
    """Options of the measurement.

    Attributes:
        repeats: how often.
        feed: a file of arrays to feed.
    """

    repeats: int = 5
    feed: str | None = None

    def ask(self, request: Request, notes: Notes = SILENT) -> Costs:
        """As in the base; the calls of dynamic mode are noted while the file runs."""
        calls = Calls()
        with watch.watch(calls), loader.run_model(request, notes) as left, watch.pause_watchers():
            return self._measure(opening.model_in(left, request), calls, notes)

    def answer(self, model: Model, notes: Notes = SILENT) -> Costs:
        """Measure the costs of one run of a program; a model of dynamic mode has to be watched while it is loaded."""
        if model.computes_while_loading:
            return self.ask(model.must_have_request("profile"), notes)
        return self._measure(model, Calls(), notes)

    def _measure(self, model: Model, calls: Calls, notes: Notes) -> Costs:
        model.must_take({"--feed": self.feed})
        story = model.measure_costs(calls, self.repeats, self.feed, notes)
        names = model.names()
        for cost in story.costs:
            cost.name = names.operators.get(cost.origin, cost.name)
            cost.run = names.describe_place(cost.inside)
        return Costs(model.about, story)

"""``gradcheck``: gradients compared with differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from ..answers import rounding
from ..answers.gradcheck import OK, GradcheckStory, LeafCheck
from ..core import watch
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.options import Debug
from ..request.request import Request
from ..runs.recorder import Recorder
from ..runs.timeline import Timeline
from ..script import effects
from ..script.script_state import Loaded
from .calls import number_of
from .question import Question
from .why import Why


@dataclass(frozen=True, slots=True)
class Comparison(Answered):
    """Gradients of a model beside differences of its loss."""

    about: About
    story: GradcheckStory

    @property
    def findings(self) -> int:
        """As in the base: gradients that are wrong."""
        return len(self.story.wrong)


@dataclass(frozen=True, kw_only=True)
class Gradcheck(Question[Comparison]):
    """Options of the comparison.

    Attributes:
        order: 2 for gradients of gradients, too.
        feed: a file of arrays to feed.
    """

    order: int = 1
    feed: str | None = None

    needs: ClassVar = {"journal": True}

    def ask(self, request: Request, notes: Notes = SILENT) -> Comparison:
        """As in the base; what dynamic mode computes is recorded while the file runs."""
        recorder = Recorder(which=number_of(request))
        request = self.adapt(request)
        with recorder.record(), loader.run_model(request, notes) as left, watch.pause_watchers():
            if request.backward is not None or holds_meant(left):
                return self.compare_recorded(left, request, recorder, notes)
            meant = left.calls.target_pass()
        assert meant is not None
        with effects.run_because("what was recorded is its last pass, of a call of grad, and another one is meant"):
            return self.ask(replace(request, backward=str(meant.number)), notes)

    def compare_recorded(self, left: Loaded, request: Request, recorder: Recorder, notes: Notes = SILENT) -> Comparison:
        """Return the comparison for a file that a recorder listened to.

        Args:
            left: what the file left behind, while its model is open.
            recorder: has recorded the pass that is meant.
        """
        model = opening.model_in(left, request)
        return self._compare(model, recorder, notes, lambda: self._record_pass(model, left, request, recorder))

    def answer(self, model: Model, notes: Notes = SILENT) -> Comparison:
        """The comparison for a program; a model of dynamic mode has to be recorded while it is loaded."""
        if model.computes_while_loading:
            return self.ask(model.must_have_request("gradcheck"), notes)
        return self._compare(model, Recorder(), notes)

    def _record_pass(self, model: Model, left: Loaded, request: Request, recorder: Recorder) -> Timeline | None:
        """The pass with its gradients; None where nothing says how it went."""
        try:
            return type(model).timeline(left, request, recorder, Debug(feed=self.feed), SILENT)[0]
        except (CommandError, GradtoolError):
            return None

    def _compare(
        self, model: Model, recorder: Recorder, notes: Notes, written: Callable[[], Timeline | None] = lambda: None
    ) -> Comparison:
        if model.computes_while_loading:
            model.must_run("gradcheck")
        model.must_take({"--feed": self.feed})
        story = GradcheckStory(model.compare_gradients(recorder, self.order, self.feed, notes))
        _acquit(model, story.wrong)
        _acquit_of_rounding(story.wrong, written)
        _say_what_is_lost(model, [e for e in story.wrong if not e.suspect])
        about = replace(model.about, others=[*model.about.others, *model.about.together], together=())
        return Comparison(about, story)


def holds_meant(left: Loaded) -> bool:
    """Return whether the last pass of a file, which a recorder holds, is the one that is meant."""
    meant = left.calls.target_pass()
    return meant is None or meant is left.calls.swept[-1]


def _acquit(model: Model, wrong: Sequence[LeafCheck]) -> None:
    """Call right what is zero up to rounding, by backward and by differences: a bias before batch norm."""
    first = [entry for entry in wrong if entry.order == 1 and entry.element is not None]
    if not first or not model.is_watched:
        return
    case = model.case(Why())
    slopes = case.slopes()
    if slopes is None:
        return
    subjects = {name: s for s in case.subjects() for name in (s.tensor, s.name)}
    for entry in first:
        subject = subjects.get(entry.name)
        if subject is None or subject.value not in slopes.sums or entry.element is None:
            continue
        level = slopes.level(subject.value)
        if level.dead and level.largest and max(map(abs, entry.element)) <= level.noise:
            entry.status, entry.index, entry.element, entry.cause = OK, None, None, ""


def _acquit_of_rounding(wrong: Sequence[LeafCheck], written: Callable[[], Timeline | None]) -> None:
    """Call right what is as far from the difference as the steps of the pass were rounded."""
    first = [entry for entry in wrong if entry.order == 1 and entry.element is not None and not entry.own]
    run = written() if first else None
    if run is None:
        return
    roundings = rounding.roundings(run, [entry.name for entry in first])
    for entry in first:
        assert entry.element is not None
        analytic, numeric = entry.element
        if abs(analytic - numeric) <= _AT_MOST * roundings.get(entry.name, 0.0):
            entry.status, entry.index, entry.element, entry.cause = OK, None, None, ""


_AT_MOST = 1.5
"""So many times the rounding of a gradient it may be from the difference, which is rounded, too."""


def _say_what_is_lost(model: Model, wrong: Sequence[LeafCheck]) -> None:
    """Of gradients that are wrong, name the uses that give none as the cause."""
    if not wrong or not model.is_watched:
        return
    case = model.case(Why(no_run=True))
    subjects = {name: s for s in case.subjects() for name in (s.tensor, s.name)}
    for entry in wrong:
        subject = subjects.get(entry.name)
        lost = None if subject is None else case.lost.brief(subject.value)
        if lost is not None:
            entry.cause, entry.loc = lost

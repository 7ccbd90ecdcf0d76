"""Answers of several commands about one model: loaded once, run once, queried several times."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.answers.stats import Gatherer
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.core import watch
from gradtool.engine.core.answer import Answered
from gradtool.engine.core.command_errors import CommandError, describe_failure
from gradtool.engine.core.errors import GradientError
from gradtool.engine.core.notes import SILENT, Notes
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.source import Location, short
from gradtool.engine.core.state import progress
from gradtool.engine.core.wording import count, finite
from gradtool.engine.gate.check_result import CheckedModel, Job
from gradtool.engine.gate.checking import weigh
from gradtool.engine.gate.evidence import Evidence
from gradtool.engine.gate.judging import report_models
from gradtool.engine.gate.policy import Policy
from gradtool.engine.gate.report import UNCHECKED, Report
from gradtool.engine.gate.selection import Selection
from gradtool.engine.gate.subject import Subject
from gradtool.engine.kinds import run_notes
from gradtool.engine.kinds.about import About
from gradtool.engine.kinds.gradients import GradientTable
from gradtool.engine.kinds.model import Model
from gradtool.engine.kinds.names import Names
from gradtool.engine.kinds.operator_places import OperatorSpot
from gradtool.engine.kinds.other_losses import Other
from gradtool.engine.kinds.passes import CallList, calls_of
from gradtool.engine.kinds.watched_extent import WatchedPart
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.nan import FORWARD_OVER, Births, end
from gradtool.engine.questions.one_pass import listen, number_of
from gradtool.engine.questions.over_time import OverTime
from gradtool.engine.questions.stats import Stats
from gradtool.engine.questions.why import Opened, Verdicts, Why, open_case
from gradtool.engine.request.options import Cuts
from gradtool.engine.request.request import Request
from gradtool.engine.script.script_state import Loaded
from gradtool.engine.view.graph import GraphView

from .. import views
from ..views.view import View

NOT_RUN = "The program was not run."


@dataclass(frozen=True, kw_only=True)
class Inquiry(Cuts):
    """Request of a report.

    Attributes:
        feed: a file of arrays to feed.
        no_run: look at the graph of a static program alone.
    """

    feed: str | None = None
    no_run: bool = False

    @property
    def why(self) -> Why:
        """The same as a question."""
        return Why(params=self.params, no_grad=self.no_grad, feed=self.feed, no_run=self.no_run)


@dataclass
class Findings:
    """The answers, and what pictures and excerpts are made of.

    Attributes:
        mode: ``static`` or ``eager``.
        loss: its name.
        value: what the loss is; None where it was not computed, is no single number, or is not finite.
        answers: kind -> the answer of that command.
        refused: kind -> why that command has no answer.
        verdicts: those of ``why``.
        failed: whether the model raised an error that explains itself, which is then the only answer.
        raised: the first line of another error, which ended the file.
        raised_at: the user's line that raised it, in a few lines of text.
        calls: the backward passes that the file asked for; None for a model that was there before.
        others: those of other losses, which nobody asked about.
        report: findings of the rules of the gate; None where they were not applied.
        exclusions: sentences about rules and findings that settings keep out of it.
        places: the user's lines that the findings are about, the most important first.
        notes: what else has to be said, such as what was fed.
        compiled: what the backend compiles, and what it does not; empty where it compiles nothing.
        scope: how much of the file was seen.
        failed_rules: rules that gradtool itself failed in, and that say nothing for it.
    """

    name: str
    mode: str
    loss: str = ""
    value: float | None = None
    answers: dict[str, Answered] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    view: GraphView | None = None
    spots: Sequence[OperatorSpot] = ()
    verdicts: list[Answer] = field(default_factory=list)
    calls: CallList | None = None
    others: Sequence[Other] = ()
    failed: bool = False
    raised: str = ""
    raised_at: Sequence[str] = ()
    report: Report | None = None
    exclusions: list[str] = field(default_factory=list)
    places: list[Location] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    scope: WatchedPart = field(default_factory=WatchedPart)
    failed_rules: int = 0

    @property
    def unchecked(self) -> list[str]:
        """Sentences about what the rules could not look at."""
        return [] if self.report is None else [f.message for f in self.report.results if f.code == UNCHECKED]

    @property
    def stop(self) -> list[str]:
        """Sentence about where the file was stopped; empty where a rule says it."""
        if self.report is not None or self.calls is None or self.calls.stopped is None:
            return []
        return [f"what comes after {short(self.calls.stopped)}, where the file was stopped: {self.calls.more}"]

    @cached_property
    def reports(self) -> dict[str, View]:
        """Kind -> what is shown of the answer of that command."""
        return {kind: views.view_of(answer) for kind, answer in self.answers.items()}

    def ask(self, kind: str, answer: Callable[[], Answered]) -> None:
        """Keep the answer, or why the engine has none."""
        progress.note(f"asking {kind}", 0, None)
        try:
            self.answers[kind] = answer()
        except GradientError as error:
            self.refused[kind] = error.text()
        except Exception as error:
            self.refused[kind] = describe_failure(error)


class Noting:
    """Keeps notes, each once, and passes them on.

    Args:
        further: takes them as well.
    """

    def __init__(self, further: Notes = SILENT) -> None:
        self.notes: list[str] = []
        self.verbose = further.verbose
        self._further = further

    def note(self, text: str) -> None:
        """As in :class:`~gradtool.engine.core.notes.Notes`."""
        if text not in self.notes:
            self.notes.append(text)
            self._further.note(text)

    def note_stop(self, text: str) -> None:
        """As in :class:`~gradtool.engine.core.notes.Notes`."""
        if text not in self.notes:
            self.notes.append(text)
            self._further.note_stop(text)

    def note_error(self, error: Exception, what: str) -> None:
        """As in :class:`~gradtool.engine.core.notes.Notes`; the report has its own sentence about it."""
        self._further.note_error(error, what)

    def alone(self) -> Noting:
        """The same notes, passed on to nobody."""
        noting = Noting()
        noting.notes = self.notes
        return noting


class Search:
    """A search for NaN and infinity that watches a model while it is loaded.

    Attributes:
        hunt: finds where they are born.
        coverage: notes what it does not see.

    Args:
        number: of the one backward pass to search; None for all.
    """

    def __init__(self, number: int | None = None) -> None:
        self.number = number
        self.hunt = Hunt()
        self.coverage = Coverage(self.hunt)

    @property
    def is_over(self) -> bool:
        """True if the model ran backward itself, so that there is nothing more to look for."""
        return self.hunt.steps > 0

    def listener(self, gatherer: Gatherer) -> Callable[[Any], None]:
        """Return the listener of the report's own pass: *gatherer*, and the search unless it is over."""
        over = self.is_over

        def listen(event: Any) -> None:
            gatherer(event)
            if not over:
                self.coverage(event)

        return listen


def apply_rules(request: Request, feed: str | None, notes: Noting, policy: Policy | None = None) -> Findings:
    """Load a model file, ask about it, and apply the rules of the gate to the same run.

    Args:
        feed: a file of arrays to feed.
        policy: which rules are applied, and what their findings matter; the rules that are on, as they are, if None.

    Raises:
        CommandError: there is no such model, or no loss.
        GradtoolError: the engine refused.
        ModelError: the file raised before it had computed a loss.
    """
    request = request.change(full_stacks=True)
    policy, subject = policy or Policy(), Subject(name=request.model, target=request.model, feed=feed)
    job = Job(subject=subject, selection=policy.selection_for(subject))
    pages: list[Findings] = []

    def read(evidence: Evidence) -> None:
        pages.append(evidence.run.read("page", lambda left: _page(evidence, left, Inquiry(feed=feed), notes)))

    evidence = Noticed(request, subject.name, notes, feed)
    result = weigh(evidence, job, read)
    told = pages[0]
    told.failed_rules = len({code for codes in evidence.failures.values() for code in codes})
    told.report = report_models([job], [result], policy, os.getcwd())
    told.exclusions = [*_list_exclusions(job, result, policy)]
    return told


def _list_exclusions(job: Job, result: CheckedModel, policy: Policy) -> Iterator[str]:
    """Yield what a policy keeps out of a report: rules, and findings of the others."""
    usual, chosen = ({rule.code for rule in s.rules()} for s in (Selection(), job.selection))
    if usual - chosen:
        yield f"{count(len(usual - chosen), 'rule')} that settings skip: {', '.join(sorted(usual - chosen))}"
    hidden = Counter(f.code for f in result.findings if policy.filter_finding(f, job.subject) is None)
    if hidden:
        yield f"{count(hidden.total(), 'finding')} that settings skip: {', '.join(sorted(hidden))}"


class Noticed(Evidence):
    """Evidence whose notes reach the user.

    Args:
        notes: receives them.
    """

    def __init__(self, request: Request, name: str, notes: Noting, feed: str | None) -> None:
        super().__init__(request, name, feed)
        self._notes = notes

    def note(self, text: str) -> None:
        """As in :class:`~gradtool.engine.core.notes.Notes`."""
        self._notes.note(text)

    def note_stop(self, text: str) -> None:
        """As in the base; the user sees it as well."""
        super().note_stop(text)
        self._notes.note_stop(text)


def _page(evidence: Evidence, left: Loaded, inquiry: Inquiry, notes: Noting) -> Findings:
    """Return the answers of a run, with what pictures are made of."""
    answers, run = evidence.early_answers, evidence.run
    if answers.failure is None:
        run_notes.error(left, notes)
    model = None if answers.failure is not None else run.model()
    case = Opened(answers.about, answers.loss, None, False, answers.failure, model, run.error, left, run.history)
    told = find_in_case(case, None, inquiry, notes, evidence)
    _add_passes(told, case, run.request)
    return told


def find_in_file(request: Request, inquiry: Inquiry, notes: Noting) -> Findings:
    """Load a model file and ask about it; errors as for ``questions.why.open_case``."""
    request = request.change(full_stacks=True)
    search = Search(number_of(request))
    with (
        listen(search.coverage, search.number) as adapter,
        open_case(request, inquiry.why, notes) as case,
        watch.pause_watchers(),
    ):
        adapter.finish()
        assert case.left is not None
        end(search.hunt, case.left)
        told = find_in_case(case, search, inquiry, notes)
        _add_passes(told, case, request)
        return told


def _add_passes(told: Findings, case: Opened, request: Request) -> None:
    """Add the passes of the file, its other losses and its steps."""
    assert case.left is not None
    told.scope = run_notes.scope_of(case.left)
    calls = None if case.left.live else calls_of(case.left, request)
    told.calls = calls if calls is None or _is_asked(case) else replace(calls, asked=None)
    if case.model is not None:
        told.others = case.model.left_out
    if case.history is not None and len(case.history.steps) > 1:
        told.answers["over-time"] = OverTime().training(replace(case.about, words=request.words()), case.history)


def _is_asked(case: Opened) -> bool:
    """Return whether a pass of the file is answered about, and not a loss that it never went back from."""
    left, loss = case.left, getattr(case.model, "loss", None)
    if left is None or left.calls.appended or not left.calls.swept or loss is None:
        return True
    meant = left.calls.target_pass()
    return meant is None or meant.loss is loss


def find_in_case(
    case: Opened, search: Search | None, inquiry: Inquiry, notes: Noting, known: Evidence | None = None
) -> Findings:
    """Ask about a model that is loaded.

    Args:
        search: watched while that was done; None where *known* did.
        known: answers of the same run.
    """
    told = Findings(case.about.name, case.about.mode, case.loss)
    if case.failure is not None:
        told.notes.append(f"{told.name} raised an error, which is explained; nothing else could be asked.")
        told.places += _lines(case.failure)
        told.verdicts, told.failed = [case.failure], True
        told.answers["why"] = Verdicts.create(case.about, case.loss, told.verdicts, failure=case.failure)
        return told
    if case.error is not None:
        told.raised = str(case.error).splitlines()[0]
        told.raised_at = _innermost(getattr(case.error, "frames", ()))
        told.notes.append(f"{told.name} raised: {told.raised}; reported is what it had computed until then.")
    model = case.model
    assert model is not None
    if model.computes_while_loading and model.has_graph:
        # Before anything is asked: the journal goes on, and the passes that answers take are not the user's.
        graph = model.as_it_stands()
        told.view, told.spots = graph.view, model.spots_in(graph).spots
    answers = told.verdicts

    def verdicts() -> Verdicts:
        if known is not None:
            answers.extend(known.early_answers)
            return known.early_answers
        assert case.case is not None
        assert case.model is not None
        answers.extend(case.judge(case.model.call(case.case.answers)))
        return Verdicts.create(case.about, case.loss, answers, len(case.case.subjects()))

    told.ask("why", verdicts)
    told.places += [line for a in answers if a.finding for line in _lines(a)]
    table = _gradients(told, model, inquiry, notes.alone())
    if known is not None:
        told.places[:0] = _add_known(told, model, table, known, inquiry)
    else:
        assert search is not None
        ask = _find_after_run if model.computes_while_loading else _run
        told.places[:0] = ask(told, model, table, search, inquiry, notes)
    if table is not None:
        told.answers["backward"] = replace(table, answers=answers)
        told.compiled = model.describe_compilation(table, inquiry.feed)
    told.places += [line for a in answers if not a.finding for line in _lines(a)]
    told.notes += notes.notes
    return told


def _innermost(frames: Sequence[str]) -> Sequence[str]:
    """Return the innermost of the user's frames of an error, which stand outermost first, with its line of text."""
    starts = [i for i, line in enumerate(frames) if line.lstrip().startswith('File "')]
    return [line.strip() for line in frames[starts[-1] : starts[-1] + 2]] if starts else []


def _lines(answer: Answer) -> list[Location]:
    """The lines that an answer is about."""
    return [answer.location, *(line for _, line in answer.places)]


def _gradients(told: Findings, model: Model, inquiry: Inquiry, notes: Noting) -> GradientTable | None:
    """The table of gradients; None where the engine refuses."""

    def gradients() -> GradientTable:
        table = model.differentiate(Backward(params=inquiry.params, no_grad=inquiry.no_grad), notes)
        # Its further commands cut the graph as the report does.
        return replace(table, words=[*table.about.words, *inquiry.words])

    told.ask("backward", gradients)
    table = told.answers.get("backward")
    return table if isinstance(table, GradientTable) else None


def _add_known(
    told: Findings, model: Model, table: GradientTable | None, known: Evidence, inquiry: Inquiry
) -> list[Location]:
    """Add the sizes and births of a run that was watched, and return where numbers that are not finite are born."""
    about = _about(model, inquiry)
    told.value = _value(model, table)
    if table is None:
        told.refused["stats"] = told.refused["backward"]
    else:
        told.ask("stats", lambda: replace(known.sizes_so_far, about=about, histogram=True, answers=told.verdicts))
    told.ask("nan", lambda: replace(known.births_so_far, about=about))
    births = told.answers.get("nan")
    return [b.loc for b in births.story.births] if isinstance(births, Births) else []


def _value(model: Model, table: GradientTable | None) -> float | None:
    """Return what the loss is; None where it is not known, or not finite."""
    value = model.loss_value() if model.computes_while_loading else None if table is None else table.loss.value
    return None if value is None else finite(value)


def _run(
    told: Findings, model: Model, table: GradientTable | None, search: Search, inquiry: Inquiry, notes: Noting
) -> list[Location]:
    """The answers of one run of a program."""
    graph = table.graph() if table is not None else model.as_it_stands()
    told.view, told.spots = graph.view, model.spots_in(graph).spots
    if table is None or inquiry.no_run:
        told.refused |= dict.fromkeys(("stats", "nan"), NOT_RUN if table else told.refused.get("backward", ""))
        return []
    search = search if search.is_over else Search(search.number)
    gatherer = Gatherer()
    arrived = model.run(search.listener(gatherer), inquiry.feed, notes, table=table)
    told.value = _value(model, table)
    _sizes(told, model, gatherer, arrived, inquiry)
    return _births(told, model, search, inquiry)


def _find_after_run(
    told: Findings, model: Model, table: GradientTable | None, search: Search, inquiry: Inquiry, notes: Noting
) -> list[Location]:
    """The answers about a model that has computed its loss."""
    told.value = _value(model, table)
    if table is None:
        told.refused["stats"] = told.refused["backward"]
        return _births(told, model, search, inquiry, ["backward: there is nothing to go back through"])
    gatherer = Gatherer()
    unchecked: list[str] = []
    if model.live and not search.is_over:
        unchecked.append(FORWARD_OVER)
        try:
            model.must_be_finite()
        except CommandError as error:
            told.refused["nan"] = error.message

    _sizes(told, model, gatherer, model.run(search.listener(gatherer)), inquiry)
    return _births(told, model, search, inquiry, unchecked) if "nan" not in told.refused else []


def _sizes(told: Findings, model: Model, gatherer: Gatherer, arrived: Any, inquiry: Inquiry) -> None:
    sizes = Stats(histogram=True).read_sizes(model, gatherer, arrived, told.verdicts)
    told.answers["stats"] = replace(sizes, about=_about(model, inquiry))


def _births(
    told: Findings, model: Model, search: Search, inquiry: Inquiry, unchecked: Sequence[str] = ()
) -> list[Location]:
    story = search.hunt.story([*search.coverage.find_missing(), *unchecked])
    names = model.names() if model.has_graph else Names()
    told.answers["nan"] = Births(_about(model, inquiry), story, names, search.number)
    return [b.loc for b in story.births]


def _about(model: Model, inquiry: Inquiry) -> About:
    return replace(model.about, words=[*model.words, *inquiry.words])

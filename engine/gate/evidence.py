"""Evidence for rules: the answers about a model, each of them asked for once and only if a rule wants it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from ..answers.diff.structure import GraphDifference
from ..answers.flow.fact import FactKind
from ..answers.stats import Line, StatsStory
from ..answers.training.one_batch import OneBatch
from ..answers.why.answers import Answer
from ..core.command_errors import CommandError, ModelError, describe_failure
from ..core.deviations import sentence
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..data import row_syntax
from ..kinds.model import Model
from ..kinds.other_losses import Other
from ..kinds.watched_extent import WatchedPart
from ..questions.first_steps import FirstSteps, one_batch
from ..questions.gradcheck import Comparison, Gradcheck, holds_meant
from ..questions.growing import Growing
from ..questions.influence import Influences
from ..questions.nan import Births
from ..questions.over_time import OverTime, Training
from ..questions.saved import Kept
from ..questions.stats import Sizes
from ..questions.why import Opened, Verdicts, Why, case_in, open_case
from ..request.request import Request
from ..script import effects
from ..script.script_state import Loaded
from .drift import drift
from .finding import Finding
from .listings import FrozenList, lists_of
from .run import Run
from .sizes import BareStats

A = TypeVar("A")


class OtherLoss:
    """Another loss of the same file: of its last backward pass, what is asked of each of them.

    Attributes:
        loss: what the user's code calls it, or the line of the call.
    """

    def __init__(self, loss: str, request: Request, evidence: Evidence) -> None:
        self.loss = loss
        self._request, self._evidence = request, evidence

    @cached_property
    def verdicts(self) -> Verdicts:
        """Verdicts of ``why`` about it."""
        return self._evidence.verdicts_of(self._request)

    @cached_property
    def sizes(self) -> Sizes:
        """Norms of gradients, by parameter."""
        return self._evidence.sizes_of(self._request)

    @cached_property
    def comparison(self) -> Comparison:
        """Gradients beside differences of the loss."""
        return self._evidence.comparison_of(self._request)


class Evidence:
    """A model, and what is known of it.

    Args:
        request: how it is loaded.
        name: what findings call it.
        feed: a file of arrays to feed to a program, or rows of one.
        golden: the file that keeps its graph, if one does.

    Raises:
        CommandError: there is no such file, or it has no such rows.
    """

    def __init__(self, request: Request, name: str, feed: str | None = None, golden: str | None = None) -> None:
        if feed is not None and row_syntax.is_of_rows(feed):  # a function of dynamic mode is called with them
            request, feed = request.change(fed=feed, arrays=row_syntax.take(feed)), None
        self.request, self.name, self.feed, self.golden = request, name, feed, golden
        self._stops: dict[str, None] = {}
        self._untried: list[str] = []
        self._run: Run | None = None
        self._unrunnable: CommandError | GradtoolError | None = None
        self._sized: dict[str | None, Sizes] = {}  # by the pass that is asked about
        self.unasked: dict[str, set[str]] = {}
        """By code of a rule that could not look at all of the model, why."""
        self.failures: dict[str, list[str]] = {}
        """By what was raised, the codes of the rules that raised it."""
        self.incomplete = False
        """Whether the file was stopped before its end."""
        self.partial = False
        """Whether what ran before an error is looked at."""
        self.verbose = 0

    def note(self, text: str) -> None:
        """Ignore a note from loading the model: it is nothing to a gate."""

    def note_stop(self, text: str) -> None:
        """Record what was not looked at: it is a finding of its own."""
        self.incomplete = True
        self._stops[text] = None

    def note_error(self, error: Exception, what: str) -> None:
        """A gate does not go on with half a model, unless it looks for the reason in it."""
        if not self.partial:
            raise error from error.__cause__

    def not_asked(self, code: str, why: str) -> None:
        """The rule of that code could not look at all of the model."""
        self.unasked.setdefault(code, set()).add(why)

    def note_failure(self, code: str, error: Exception) -> None:
        """Note that the rule of that code raised: it costs itself alone."""
        self.failures.setdefault(describe_failure(error), []).append(code)
        self.not_asked(code, "")

    def note_untried(self, what: str) -> None:
        """Something was not looked at: what, and why."""
        self._untried.append(what)

    def collect(self, code: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings of the rule of that code; queries run on the way."""
        yield from findings

    @property
    def run(self) -> Run:
        """The one run of the file, begun with the first reader that needs it; what cannot run is not tried again.

        Raises:
            CommandError, ModelError: as for :class:`Run`.
        """
        if self._unrunnable is not None:
            raise self._unrunnable
        if self._run is None:
            try:
                self._run = Run(self.request, self.feed, self)
            except (CommandError, GradtoolError) as error:
                self._unrunnable = error
                raise
        return self._run

    def close(self) -> None:
        """Close the model."""
        if self._run is not None:
            self._run.close()

    def _close_before_another_run(self) -> None:
        """Have every reader answer, and close the model: two runs at a time would hear each other."""
        if self._run is None or self._run.closed:
            return
        for name in ("births", "sizes", "kept", "influences", "frozen_and_listed", "_first", "growing"):
            with contextlib.suppress(CommandError, GradtoolError):  # asked again, it is raised again
                getattr(self, name)
        with contextlib.suppress(CommandError, GradtoolError):
            for other in self.verdicts.about.others:
                request = self._request_of(other)
                if self._run.reads_loss("verdicts", request):
                    with contextlib.suppress(CommandError, GradtoolError):
                        _ = self.verdicts_of(request), self.sizes_of(request)
        self._run.close()

    def _read(self, name: str, answer: Callable[[Loaded], A]) -> A:
        """Return what a reader of the run answers; after an error of the file only what explains it counts."""
        run = self.run
        result = run.read(name, answer)
        self._must_have_ended(run)
        return result

    def _must_have_ended(self, run: Run) -> None:
        if run.error is not None:
            self.note_error(run.error, "")

    @property
    def verdicts(self) -> Verdicts:
        """Answers of ``why`` about every parameter, of a file that ended well."""
        answers = self.early_answers
        if answers.failure is None:
            self._must_have_ended(self.run)
        return answers

    @cached_property
    def early_answers(self) -> Verdicts:
        """Answers of ``why`` about what ran, also before an error."""
        asked = Why(feed=self.feed)
        run = self.run

        def answer(left: Loaded) -> Verdicts:
            case = case_in(left, run.request, asked, self)
            case.history = run.history
            if case.model is not None:
                run.keep(case.model)
            answers = self._judge(case, asked)
            case.case = case.model = None
            return answers

        return run.read("verdicts", answer)

    def verdicts_of(self, request: Request) -> Verdicts:
        """The same of one loss of the file.

        Args:
            request: says which loss is meant.
        """
        asked = Why(feed=self.feed)

        def judge(left: Loaded) -> Verdicts:
            return self._judge(case_in(left, asked.adapt(request), asked, self), asked)

        if self.run.reads_loss("verdicts", request):
            return self.run.read_loss("verdicts", request, judge)
        self._close_before_another_run()
        with _run_for(request), open_case(request, asked, self) as case:
            answers = self._judge(case, asked)
            if case.model is not None and case.model.computes_while_loading:
                self._size(request, case.model)
            case.case = case.model = None
        return answers

    def _judge(self, case: Opened, asked: Why) -> Verdicts:
        """Return the answers about a case, with the terms of its loss that give no gradient, and dropped results."""
        answers = case.verdicts(asked, self)
        if case.case is not None:
            answers.terms, answers.uses = case.case.find_lost_terms(), case.case.find_lost_uses()
            answers.dropped, answers.flat = case.case.find_dropped(), case.case.find_flat_values()
        return answers

    def _size(self, request: Request, model: Model) -> None:
        """Measure gradients in a run that something else was asked of, if that can be done."""
        with contextlib.suppress(CommandError, GradtoolError):  # whoever wants them asks again, and is told
            self._sized[request.backward] = BareStats(feed=self.feed).answer(model, self)

    def sizes_of(self, request: Request) -> Sizes:
        """Norms of gradients of one loss of the file, by parameter."""
        run = self.run
        if run.reads_loss("sizes", request):
            asked = BareStats(feed=self.feed)
            return run.read_loss("sizes", request, lambda left: asked.answer(run.model_of(request), self))
        return self._sized.get(request.backward) or self._sizes(request)

    def comparison_of(self, request: Request) -> Comparison:
        """Gradients of one loss of the file beside differences of it."""
        asked = Gradcheck(feed=self.feed)
        run = self.run
        if run.reads_loss("comparison", request):
            return run.read_loss("comparison", request, lambda left: asked.answer(run.model_of(request), self))
        with _run_for(request):
            return asked.ask(request, self)

    @cached_property
    def others(self) -> list[OtherLoss]:
        """The other losses that the file backpropagates, if nobody says which one is meant."""
        told = []
        for other in self.verdicts.about.others:
            loss = self._loss_of(other)
            try:
                other.findings = loss.verdicts.findings
                _ = loss.sizes
            except (CommandError, GradtoolError) as error:
                other.refused = error
                self._untried.append(f"the gradients of {other.loss}: {error.message}")
                continue
            told.append(loss)
        return told

    def _request_of(self, other: Other) -> Request:
        return replace(self.request, backward=str(other.number))

    def _loss_of(self, other: Other) -> OtherLoss:
        return OtherLoss(other.loss, self._request_of(other), self)

    @property
    def together(self) -> list[OtherLoss]:
        """The other losses of the step that is asked about, for what is asked of each pass alone."""
        return [self._loss_of(other) for other in self.verdicts.about.together]

    @property
    def losses(self) -> Iterator[tuple[str, Verdicts]]:
        """Verdicts of ``why`` about every loss of the file; before answers about another than the last
        stands its name.
        """
        yield "", self.verdicts
        yield from ((other.loss, other.verdicts) for other in self.others)

    @property
    def answers(self) -> Iterator[tuple[str, Answer]]:
        """The single answers of them, likewise."""
        yield from ((loss, answer) for loss, verdicts in self.losses for answer in verdicts)

    @property
    def parameters(self) -> Iterator[tuple[str, Line]]:
        """The sizes of the gradients of every loss of the file, likewise."""
        for loss, story in self.stories:
            yield from ((loss, line) for line in story.parameters)

    @property
    def stories(self) -> Iterator[tuple[str, StatsStory]]:
        """The same by loss: how sizes change with depth is said of all parameters together."""
        yield "", self.sizes.story
        for other in self.others:
            yield other.loss, other.sizes.story

    @property
    def births(self) -> Births:
        """Births of NaN and infinity."""
        births = self.births_so_far
        self._must_have_ended(self.run)
        return births

    @cached_property
    def births_so_far(self) -> Births:
        """The same, also of a file that raised."""
        run = self.run
        return run.read("births", lambda left: run.readers.births(left, SILENT))

    @property
    def sizes(self) -> Sizes:
        """Norms of gradients, by parameter."""
        sizes = self.sizes_so_far
        self._must_have_ended(self.run)
        return sizes

    @cached_property
    def sizes_so_far(self) -> Sizes:
        """The same, also of a file that raised."""
        run = self.run
        return run.read("sizes", lambda left: BareStats(feed=self.feed).answer(run.model(), self))

    @cached_property
    def sizes_again(self) -> Sizes:
        """The same, of another run."""
        with effects.run_because("the gradients of two runs are compared"):
            return self._sizes(self.request)

    def _sizes(self, request: Request) -> Sizes:
        self._close_before_another_run()
        return BareStats(feed=self.feed).ask(request, self)

    @cached_property
    def comparison(self) -> Comparison:
        """Gradients beside differences of the loss, of the pass that the run has recorded."""
        run, asked = self.run, Gradcheck(feed=self.feed)
        # The influences were recorded already, with all that a comparison needs: the file need not run for it again.
        if not run.closed and (self.request.backward is None and holds_meant(run.left)):
            return self._read("comparison", lambda left: asked.compare_recorded(left, run.request, run.recorder, self))
        self._close_before_another_run()
        return asked.ask(self.request, self)

    @cached_property
    def frozen_and_listed(self) -> list[FrozenList]:
        """Frozen parameters that optimizers hold."""
        run = self.run
        return self._read("frozen_and_listed", lambda left: list(lists_of(run.model())))

    @cached_property
    def influences(self) -> Influences:
        """Flow of information through the layers that are called, and from labels."""
        run = self.run
        return self._read("influences", lambda left: run.readers.influences(left, self))

    @cached_property
    def _first(self) -> FirstSteps:
        run = self.run
        first = run.first_steps()
        self._must_have_ended(run)
        return first

    @property
    def first_steps(self) -> FirstSteps:
        """The first loss of a classifier, and what updates change."""
        return self._first

    @cached_property
    def growing(self) -> tuple[Growing, ...]:
        """Objects that keep the graphs of earlier steps."""
        run = self.run
        return self._read("growing", lambda left: run.growing)

    def one_batch(self, steps: int, part: float) -> OneBatch | str | None:
        """Try to learn the first batch; a text gives the reason why that was impossible, which is reported."""
        self._close_before_another_run()
        answer = one_batch(self.request, steps, part, self.feed, self)
        if not isinstance(answer, str) and answer is not None and not answer.learned:
            from .other_seeds import SEEDS, shift_seeds

            for by in SEEDS:
                with shift_seeds(by, self.request) as other:
                    again = one_batch(other, steps, part, self.feed, self)
                if not isinstance(again, str) and again is not None and again.learned:
                    return again
        if isinstance(answer, str):
            self._untried.append(f"whether one batch can be learned: {answer}")
        return answer

    @property
    def own_training(self) -> Training | None:
        """Gradients over the steps that the file itself made; None where it made fewer than two."""
        return self.run.training(self.name) if len(self.run.history.steps) > 1 else None

    @cached_property
    def rescalings(self) -> dict[str, float]:
        """By parameter what the script multiplied its gradient by between backward and the last update."""
        points = {t.name: p for step in self.run.history.steps for t, p in step.points.items()}
        return {name: p.changed for name, p in points.items() if p.changed is not None and p.changed < 1.0}

    def training(self, steps: int | None = None) -> Training | None:
        """Gradients over the steps of the file's own training; None where there is none, which is told.

        Args:
            steps: so many of them; as many as the file is watched for if None.
        """
        run = self.run
        if steps is None and run.history.steps:
            self._must_have_ended(run)
            return run.training(self.name)
        self._close_before_another_run()
        notes: Notes = self if steps is None else _UpToAStep(self)
        try:
            return OverTime(steps=steps).ask(self.request, notes)
        except ModelError:
            raise
        except CommandError as error:
            self._untried.append(f"gradients over the steps of a training: {error.message.removeprefix('--steps: ')}")
            return None

    @cached_property
    def kept(self) -> Kept:
        """Buffers that backward keeps alive."""
        run = self.run
        return self._read("kept", lambda left: run.readers.kept(left, self))

    @cached_property
    def drift(self) -> GraphDifference | None:
        """Differences to the graph that is kept; None where none is."""
        if self.golden is None:
            return None
        self._close_before_another_run()
        return drift(self.request, self.golden, self)

    @cached_property
    def unchecked(self) -> list[str]:
        """Names that no answer accounts for."""
        parts: tuple[Callable[[], Iterable[str]], ...] = (
            *(self._otherwise, self._others_unchecked, self._births_unchecked, self._flow_unchecked, self._silent),
        )
        told: list[str] = []
        for part in parts:
            try:
                told += part()
            except Exception as error:
                self.note_failure("GT901", error)
        return [*self._untried, *told]

    @property
    def scope(self) -> WatchedPart | None:
        """Return how much of the file was seen; None where it could not be run."""
        return None if self._run is None else self._run.scope

    @property
    def has_passed(self) -> bool:
        """Return whether there is a pass to judge: of a file that raised before its first, no loss is guessed."""
        return not self.partial or self.run.scope.passes > 0

    @property
    def stops(self) -> list[str]:
        """Lines at which the file was stopped, and what lets it go on."""
        return [*self._stops]

    def _otherwise(self) -> Iterable[str]:
        return [] if self._run is None else map(sentence, self._run.left.otherwise.values())

    def _others_unchecked(self) -> Iterable[str]:
        _ = self.others  # those that cannot be looked at say so
        return ()

    def _births_unchecked(self) -> Iterable[str]:
        return self.births.story.unchecked

    def _flow_unchecked(self) -> Iterable[str]:
        flow = self.influences.story
        return [
            *flow.unchecked,
            *(f"{f.message}: not known is {f.doubt}" for f in flow.select(FactKind.MIXED) if f.doubt),
        ]

    def _silent(self) -> Iterator[str]:
        """Of rules whose silence says nothing: one sentence for all that have one reason."""
        rules: dict[str, list[str]] = {}
        for code, reasons in self.unasked.items():
            for why in sorted(reasons):
                rules.setdefault(why, []).append(code)
        for why, codes in rules.items():
            if why:
                yield (
                    f"the flow of information ({', '.join(codes)}) to what is predicted: {why}; "
                    "gradtool flow asks which value depends on which"
                )


def _run_for(request: Request) -> contextlib.AbstractContextManager[object]:
    """Inside, a file runs for one of its passes alone."""
    return effects.run_because(f"the graph of backward pass {request.backward} is gone when the file ends")


class _UpToAStep:
    """Notes about a run that is meant to end at a step: that it was stopped there is nothing to tell."""

    def __init__(self, evidence: Evidence) -> None:
        self.verbose = evidence.verbose
        self.note, self.note_error = evidence.note, evidence.note_error

    def note_stop(self, text: str) -> None:
        """As in :class:`~gradtool.engine.core.notes.Notes`."""

"""``why``: why gradients are None or zero."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..answers.over_time.history import History
from ..answers.over_time.record import Record
from ..answers.why.answers import Answer, Answers
from ..answers.why.case import WHOLE, Case
from ..answers.why.dropped_results import DroppedResult
from ..answers.why.failures import explain_failure
from ..answers.why.flat_values import FlatValue
from ..answers.why.lost_uses import LostUse
from ..answers.why.terms import LostTerm
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..eager.tape import FreedGraphError, InplaceError
from ..kinds.about import About
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.options import WhyOptions
from ..request.request import Request
from ..script import users_code
from ..script.script_state import Loaded
from .over_time import Listening
from .question import Question


class Verdicts(Answered, Answers):
    """Answers about tensors of a model.

    Attributes:
        about: the model.
        loss: the name of its loss.
        subjects: how many tensors were asked about.
        chosen: whether they were asked for by name.
        failure: the answer about the error that the model raised, where it explains itself; it is the only one then.
        terms: of the loss, computed from trained parameters and without a gradient; empty but for the gate.
        uses: that give no gradient back, of values that get one from other uses; empty but for the gate.
        dropped: results that nobody keeps, of values that the loss is computed from; empty but for the gate.
        flat: values that get zeros alone, though parameters behind them learn by other ways; empty but for the gate.
    """

    about: About
    loss: str
    subjects: int
    chosen: bool
    failure: Answer | None
    terms: Sequence[LostTerm] = ()
    uses: Sequence[LostUse] = ()
    dropped: Sequence[DroppedResult] = ()
    flat: Sequence[FlatValue] = ()

    @property
    def findings(self) -> int:
        """As in the base; an error that explains itself is one."""
        return sum(a.finding for a in self)

    @classmethod
    def create(
        cls,
        about: About,
        loss: str,
        answers: Sequence[Answer],
        subjects: int = 0,
        chosen: bool = False,
        failure: Answer | None = None,
    ) -> Verdicts:
        """The answers with what they are about."""
        verdicts = cls(answers)
        verdicts.about, verdicts.loss, verdicts.subjects = about, loss, subjects
        verdicts.chosen, verdicts.failure = chosen, failure
        return verdicts


@dataclass(frozen=True, kw_only=True)
class Why(WhyOptions, Question[Verdicts]):
    """The reasons why gradients are None or zero."""

    needs: ClassVar = {"journal": True, "unfinished": True, "full_stacks": True}

    def ask(self, request: Request, notes: Notes = SILENT) -> Verdicts:
        """As in the base."""
        with open_case(request, self, notes) as case:
            if self.error and case.failure is None:
                raise case.error or CommandError(
                    f"{case.about.name} raised no error", f"for its gradients: gradtool why {request.model}"
                )
            verdicts = case.verdicts(self, notes)
            case.case = case.model = None
        if not self.prove or verdicts.failure is not None:
            return verdicts
        from .proving import leave_unproved, prove

        proofs = [prove(a, request, self) if i < WHOLE else leave_unproved(a) for i, a in enumerate(verdicts)]
        return Verdicts.create(verdicts.about, verdicts.loss, proofs, verdicts.subjects, verdicts.chosen)

    def answer(self, model: Model, notes: Notes = SILENT) -> Verdicts:
        """The answers about a model that is loaded."""
        about = replace(model.about, words=[*model.words, *self.words])
        case = model.case(self, notes)
        return Opened(about, model.target_name(), case, bool(self.variables), model=model).verdicts(self, notes)


@dataclass
class Opened:
    """A model with its case.

    Attributes:
        chosen: whether tensors were asked for by name.
        failure: the answer about the error that the model raised, where it explains itself.
        model: what the case is about; None where the error is all there is.
        error: what the file raised, if it did.
        left: what the file left behind.
        history: the steps of its training; None where nobody listened.
        alone: whether one pass is asked about, whatever happened in the others.
    """

    about: About
    loss: str
    case: Case[Any, Any] | None
    chosen: bool
    failure: Answer | None = None
    model: Model | None = None
    error: CommandError | GradtoolError | None = None
    left: Loaded | None = None
    history: History | None = None
    alone: bool = False

    def _answers(self, case: Case[Any, Any], asked: Why) -> list[Answer]:
        if self.chosen:
            return [case.answer(s, contributions=asked.contributions) for s in case.subjects()]
        return case.answers()

    def judge(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return answers about the last step with the steps of the training that they hold for."""
        return [*answers] if self.history is None or self.alone else Record(self.history).judge(answers)

    def verdicts(self, asked: Why, notes: Notes) -> Verdicts:
        """The answers of the case."""
        if self.failure is not None:
            return Verdicts.create(self.about, self.loss, [self.failure], chosen=self.chosen, failure=self.failure)
        assert self.case is not None
        assert self.model is not None
        subjects = self.case.subjects()
        answers = self.judge(self.model.call(self._answers, self.case, asked))
        return Verdicts.create(self.about, self.loss, answers, len(subjects), self.chosen)


@contextlib.contextmanager
def open_case(
    request: Request, asked: Why, notes: Notes, amend: Callable[[Model], None] = lambda model: None
) -> Iterator[Opened]:
    """Load a model, also one that raises on the way, and set up its case.

    Args:
        amend: changes the model before it is looked at.

    Raises:
        CommandError: no loss, or a selector selects nothing.
        GradtoolError: the engine refused.
        ModelError: the file raised before it had computed a loss.
    """
    request = asked.adapt(request)
    with Listening() as listening, loader.run_model(request, notes) as left:
        yield case_in(left, request, asked, notes, amend, listening)


def case_in(
    left: Loaded,
    request: Request,
    asked: Why,
    notes: Notes,
    amend: Callable[[Model], None] = lambda model: None,
    listening: Listening | None = None,
) -> Opened:
    """Set up the case of a model that is open; as for :func:`open_case`.

    Args:
        request: as *asked* needs it.
        listening: listened to the steps of the file, if anybody did.
    """
    history = None if listening is None or left.live else listening.history(left)
    words = [*request.words(), *asked.words]
    error = left.error
    failure = failure_in(left)
    if failure is not None:
        left.error = None  # it is the answer
        return Opened(About(left.name, "eager", words), "", None, False, failure, error=error, left=left)
    model = opening.model_in(left, request)
    amend(model)
    case = model.case(asked, notes)
    about = replace(model.about, words=words)
    return Opened(
        about,
        case.target_name(),
        case,
        bool(asked.variables),
        model=model,
        error=error,
        left=left,
        history=history,
        alone=request.backward is not None,
    )


def failure_in(left: Loaded) -> Answer | None:
    """The answer about the error that a file raised, where it explains itself."""
    error = left.error
    if not isinstance(error, (FreedGraphError, InplaceError)):
        return None
    last = next(reversed(left.calls.swept), None)
    raised = users_code.error_line(error)
    if last is not None and last.location[:1] == raised:
        raised = last.location
    return explain_failure(error, raised, left.journal, None if last is None else last.loss)

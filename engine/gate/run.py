"""One run of a model's file for all rules: every reader listens to it, and each answers while its model is open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from ..core import watch
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.run_notes import scope_of
from ..loading import loader, opening, snapshots
from ..questions.first_steps import FirstSteps, watch_first_steps
from ..questions.growing import Growing, watch_growth
from ..questions.influence import Influence, Influences
from ..questions.nan import Births, Nan
from ..questions.over_time import Listening, OverTime, Training
from ..questions.saved import Kept, Saved
from ..questions.why import Why
from ..request.request import Request
from ..runs.recorder import Recorder
from ..script import model_output
from ..script.script_state import Loaded

A = TypeVar("A")

Reader = Callable[[Loaded, Notes], A]
"""Answers from the run that it listened to."""


@dataclass
class Readers:
    """The readers of a run.

    Attributes:
        births: where NaN and infinity are born.
        first: the first steps of training.
        kept: what backward keeps alive.
        influences: how information flows through layers.
        steps: listened to the steps of training.
    """

    births: Reader[Births]
    first: Callable[[Loaded, Request], FirstSteps]
    kept: Reader[Kept]
    influences: Reader[Influences]
    steps: Listening


class Run:
    """A run whose file is over and whose model is open until :meth:`close`.

    Args:
        request: how the model is loaded.
        feed: a file of arrays to feed to a program.
        notes: receives what the loader reports.

    Attributes:
        request: with what the readers need.
        left: what the file left behind.
        recorder: holds its last pass.
        error: what the file raised.
        closed: whether nothing can be read any more.
        scope: how much of it was seen.
        history: the steps of its training.
        growing: what keeps the graphs of earlier ones.

    Raises:
        CommandError: there is no such model.
        ModelError: the file cannot be run at all.
    """

    def __init__(self, request: Request, feed: str | None, notes: Notes) -> None:
        self.request = Why(feed=feed).adapt(request)
        with ExitStack() as stack:
            self.recorder = Recorder(holds_gradients=False)
            self.readers = Readers(
                stack.enter_context(Nan(feed=feed).listen(self.request)),
                stack.enter_context(watch_first_steps()),
                stack.enter_context(Saved(feed=feed).listen(self.request)),
                stack.enter_context(Influence(feed=feed).record(self.request, self.recorder)),
                stack.enter_context(Listening()),
            )
            growing = stack.enter_context(watch_growth())
            self.left = stack.enter_context(loader.run_model(self.request, _Loading(notes)))
            stack.enter_context(watch.pause_watchers())
            self.error = self.left.error
            self.closed = False
            self._model: Model | None = None
            self._answers: dict[str, Any] = {}
            self.scope = scope_of(self.left)
            self.history = self.readers.steps.history(self.left)
            self.growing: tuple[Growing, ...] = growing(self.left)
            self._stack = stack.pop_all()
        with suppress(CommandError, GradtoolError):  # raised again for whoever reads it
            self.first_steps()  # its watchers hold what the file has dropped: others must not find it

    def close(self) -> None:
        """Close the model."""
        self.closed = True
        self._stack.close()

    def read(self, name: str, answer: Callable[[Loaded], A]) -> A:
        """Return what the reader of that name answers, once; programs and values stay as the file left them.

        Raises:
            CommandError, GradtoolError: the reader's own, or what the file raised, which is the reason then.
        """
        if name not in self._answers:
            try:
                self._answers[name] = self._read(answer)
            except (CommandError, GradtoolError) as error:
                self._answers[name] = error
        known = self._answers[name]
        if isinstance(known, (CommandError, GradtoolError)):
            raise known
        return known  # type: ignore[no-any-return]

    def reads_loss(self, name: str, request: Request) -> bool:
        """Return whether :meth:`read_loss` has an answer about another loss: of a program there is all that it needs.

        A pass of dynamic mode that is over has freed its graph.
        """
        is_there = not self.closed or _loss_title(name, request) in self._answers
        return is_there and opening.is_of_program(self.left, request)

    def read_loss(self, name: str, request: Request, answer: Callable[[Loaded], A]) -> A:
        """Return what the reader of that name answers about another loss of the file, as :meth:`read` does.

        Args:
            request: says which loss is meant.
        """

        def read(left: Loaded) -> A:
            with opening.mean(left, request):
                return answer(left)

        return self.read(_loss_title(name, request), read)

    def model_of(self, request: Request) -> Model:
        """Return the model of another loss, for a reader of :meth:`read_loss`."""
        return opening.model_in(self.left, request)

    def _read(self, answer: Callable[[Loaded], A]) -> A:
        assert not self.closed
        try:
            with snapshots.restore_programs(self.left), model_output.mute():
                return answer(self.left)
        except (CommandError, GradtoolError):
            if self.left.calls.interrupted:
                raise KeyboardInterrupt from None
            if self.error is None:
                raise
            raise self.error from self.error.__cause__

    def first_steps(self) -> FirstSteps:
        """Return the first steps of training."""
        return self.read("first steps", lambda left: self.readers.first(left, self.request))

    def training(self, name: str) -> Training:
        """Return gradients over the steps that the file made.

        Args:
            name: of the model.
        """
        return OverTime().training(About(name, "", (), scope=self.scope), self.history)

    def keep(self, model: Model) -> None:
        """Keep the model that a reader has found."""
        self._model = model

    def model(self) -> Model:
        """Return the model, found once."""
        if self._model is None:
            self._model = opening.model_in(self.left, self.request)
        return self._model


def _loss_title(name: str, request: Request) -> str:
    return f"{name} of {request.backward}"


class _Loading:
    """Notes of the loader: the error that a file raised is reported by whoever reads the run."""

    def __init__(self, notes: Notes) -> None:
        self.verbose = notes.verbose
        self.note, self.note_stop = notes.note, notes.note_stop

    def note_error(self, error: Exception, what: str) -> None:
        """Skip it."""

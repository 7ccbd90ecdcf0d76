"""From a model to a session of the debugger: what is recorded, under which names, and where it begins."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradtool.engine.core import watch
from gradtool.engine.runs.recorder import Recorder
from gradtool.models import loader, opening, sessions, users_code
from gradtool.models.errors import CommandError
from gradtool.models.loader import Request
from gradtool.models.notes import SILENT, Notes
from gradtool.models.questions.debug import Debug
from gradtool.models.questions.why import Why
from gradtool.viz.document.session import line_of

from . import firing, show, verbs
from .errors import VerbError
from .from_python import shown_on
from .notebook import Notebook
from .session import Session


@contextlib.contextmanager
def opened(request: Request, asked: Debug, notes: Notes) -> Iterator[Notebook]:
    """Load a model, record its backward pass, and set the stops.

    Raises:
        CommandError: no loss, a selector that selects nothing, an option that fits no such model.
        ModelError: the user's code raised; not for a post-mortem.
        GradtoolError: the engine refused; not for a post-mortem.
    """
    try:
        until = firing.first_with(asked.catch) if asked.step is None else None
    except VerbError as error:
        raise _refused("--catch", error) from None
    request = dataclasses.replace(request, full_stacks=True)
    # Ahead of anything that is imported while the file runs: what was computed is told to the recorder alone.
    recorder = Recorder(asked.history, asked.step, until)
    with shown_on(sys.stdout), recorder.recording(), loader.executed(request, notes) as left, watch.unwatched():
        kind = opening.kind_of(left, request, recorder)
        timeline = kind.timeline(left, request, recorder, asked, notes)
        session = Session(timeline, {"why": _why(request, asked)})
        if timeline.failed is not None:
            session.locals = _locals(timeline.failed[1])
            for line in users_code.stack_of(timeline.failed[1]):
                timeline.failed[1].add_note(line)
        elif request.post_mortem:
            notes.note(f"{left.name} raised no error")
        words = [*request.words(), *asked.session_words, *(["--on-error"] if request.post_mortem else [])]
        book = Notebook(session, line_of(words))
        for verb, texts in (("catch", asked.catch), ("break", asked.break_), ("watch", asked.watch)):
            for text in texts:
                _set(book, verb, text)
        halt = session.begin()
        book.opening = show.opening(session, halt)
        yield book


# -- what a session knows beside the run ------------------------------------------------------------------------------


def _why(request: Request, asked: Debug) -> Callable[[str], Sequence[Any]]:
    """Answers of ``gradtool why``; the file runs once more for them, with a journal. A loss in a notebook does not."""
    there = _there(request)
    answers: dict[str, Sequence[Any]] = {}

    def ask(name: str) -> Sequence[Any]:
        if request.model.partition(":")[0] == "-":
            raise VerbError("the model came from stdin, which cannot be read a second time.")
        if _there(request) is not there:
            raise VerbError(f"{request.model} is another one by now.", hint=f"%gdebug {request.model} begins anew")
        if name not in answers:
            answers[name] = answered(name)
        return answers[name]

    def answered(name: str) -> Sequence[Any]:
        why = Why(
            variables=(name,) if name else (),
            params=asked.params,
            no_grad=asked.no_grad,
            feed=asked.feed,
            contributions=bool(name),
        )
        try:
            return why.ask(request, SILENT)
        except CommandError as error:
            raise VerbError(error.message, hint=error.hint) from None

    return ask


def _there(request: Request) -> Any:
    session = sessions.current()
    return None if session is None else session.value(request.model)


def _locals(error: BaseException) -> Mapping[str, Any]:
    """The user's variables where *error* was raised."""
    frame = users_code.raised_in(error)
    return dict(frame.f_locals) if frame is not None else {}


def _set(book: Notebook, verb: str, text: str) -> None:
    named = verbs.named(verb)
    assert named is not None
    try:
        named.act(book, text)
    except VerbError as error:
        raise _refused(f"--{verb}", error) from None


def _refused(option: str, error: VerbError) -> CommandError:
    return CommandError(f"{option}: {error.message}", error.hint)

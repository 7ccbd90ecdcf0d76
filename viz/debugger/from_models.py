"""From a model to a session of the debugger: what is recorded, under which names, and where it begins."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.command_errors import CommandError, ModelError
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.notes import SILENT, Notes
from gradtool.engine.core.wording import command_line
from gradtool.engine.executor.scope import global_scope, scope_guard
from gradtool.engine.kinds.about import About
from gradtool.engine.kinds.model import Model
from gradtool.engine.loading import opening, recording
from gradtool.engine.questions.calls import number_of
from gradtool.engine.questions.why import Verdicts, Why, failure_in
from gradtool.engine.request.limits import ENOUGH
from gradtool.engine.request.options import Debug
from gradtool.engine.request.request import Request
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.script import sessions, users_code
from gradtool.engine.script.script_state import Loaded
from gradtool.viz.document.session import line_of

from . import firing, show, verbs
from .errors import VerbError
from .notebook import Notebook
from .screen import show_on
from .session import Session


@contextlib.contextmanager
def open_notebook(request: Request, asked: Debug, notes: Notes) -> Iterator[Notebook]:
    """Load a model, record its backward pass, and set the stops.

    Raises:
        CommandError: no loss, a selector that selects nothing, an option that fits no such model.
        ModelError: the user's code raised; not for a post-mortem.
        GradtoolError: the engine refused; not for a post-mortem.
    """
    counter = Counter()
    until = _pass_selector(request, asked, counter)
    # With a journal, so that why is answered from this very run; and as far as the pass that is asked for.
    steps = request.run.steps if asked.step is None else max(request.run.steps or ENOUGH, asked.step)
    request = request.change(full_stacks=True, journal=True, steps=steps, feed=asked.feed or request.inputs.feed)
    recorder = Recorder(asked.history, asked.step, until)
    with contextlib.ExitStack() as stack:
        stack.enter_context(show_on(sys.stdout))
        stack.enter_context(state.passes.listen(counter))
        try:
            left = stack.enter_context(recording.record_model(recorder, request, notes))
        except (ModelError, GradtoolError):
            if not request.record.post_mortem and (recorder.calls or recorder.failure is not None):
                words = [*request.words(), *asked.session_words, "--on-error"]
                notes.note(f"{command_line('gradtool', 'debug', *words)} begins where it failed")
            raise
        timeline, model = recording.timeline(left, request, recorder, asked, notes)
        session = Session(timeline, {"why": _why(left, model, request, asked)})
        if timeline.failed is not None:
            session.locals = _locals(timeline.failed[1])
            for line in users_code.stack_of(timeline.failed[1]):
                timeline.failed[1].add_note(line)
        elif request.record.post_mortem:
            notes.note(f"{left.name} raised no error")
        words = [*request.words(), *asked.session_words, *(["--on-error"] if request.record.post_mortem else [])]
        book = Notebook(session, line_of(words))
        for verb, texts in (("catch", asked.catch), ("break", asked.break_), ("watch", asked.watch)):
            for text in texts:
                _set(book, verb, text)
        halt = session.begin()
        book.opening = show.show_opening(session, halt)
        book.caught = halt is not None and halt.why == "catch"
        yield book


class Counter:
    """Number of backward passes of dynamic mode that have begun: by that number ``--backward`` knows them."""

    def __init__(self) -> None:
        self.passes = 0

    def __call__(self, roots: Sequence[Any], how: str, recorded: bool, *_: Any) -> None:
        self.passes += bool(roots)


def _pass_selector(request: Request, asked: Debug, counter: Counter) -> Callable[[Recorder], bool] | None:
    """Return a test for the recorded pass to go through; None for the last one.

    Raises:
        CommandError: there is no such catch, or no such backward pass.
    """
    if asked.step is not None:
        return None
    number = number_of(request)
    if number is not None:
        return lambda recorder: counter.passes >= number
    try:
        return firing.first_with(asked.catch)
    except VerbError as error:
        raise _as_command_error("--catch", error) from None


# -- what a session knows beside the run ------------------------------------------------------------------------------


def _why(left: Loaded, model: Model | None, request: Request, asked: Debug) -> Callable[[str], Sequence[Any]]:
    """Answers of ``gradtool why`` about the run that is gone through: the file does not run again."""
    there = _there(request)
    scope = global_scope()
    answers: dict[str, Sequence[Any]] = {}

    def ask(name: str) -> Sequence[Any]:
        if _there(request) is not there:
            raise VerbError(f"{request.model} is another one by now.", hint=f"%gdebug {request.model} begins anew")
        if name not in answers:
            answers[name] = answer(name)
        return answers[name]

    def answer(name: str) -> Sequence[Any]:
        why = Why(
            variables=(name,) if name else (),
            params=asked.params,
            no_grad=asked.no_grad,
            feed=asked.feed,
            contributions=bool(name),
        )
        try:
            if left.live:
                return why.ask(request, SILENT)  # of a loss in a notebook, which is there and runs no file
            if (failure := failure_in(left)) is not None:
                return Verdicts.create(About(left.name, "eager", request.words()), "", [failure], failure=failure)
            # A session in a notebook outlives what was set up for the file.
            with state.keep_state(), scope_guard(scope):
                # Of a file that raised on its way to a loss, the pass before.
                there = opening.model_in(left, request) if model is None else model
                (state.enable_static if there.mode == "static" else state.disable_static)()
                return why.answer(there, SILENT)
        except CommandError as error:
            raise VerbError(error.message, hint=error.hint) from None

    return ask


def _there(request: Request) -> Any:
    session = sessions.current()
    return None if session is None else session.value(request.model)


def _locals(error: BaseException) -> Mapping[str, Any]:
    """The user's variables where *error* was raised."""
    frame = users_code.error_frame(error)
    return dict(frame.f_locals) if frame is not None else {}


def _set(book: Notebook, verb: str, text: str) -> None:
    named = verbs.find_verb(verb)
    assert named is not None
    try:
        named.act(book, text)
    except VerbError as error:
        raise _as_command_error(f"--{verb}", error) from None


def _as_command_error(option: str, error: VerbError) -> CommandError:
    return CommandError(f"{option}: {error.message}", error.hint)

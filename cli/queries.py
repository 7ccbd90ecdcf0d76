"""Asking a question, showing the answer, and the exit code that it stands for; of one backward pass or of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from gradtool.engine.core.answer import Answered
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import GradtoolError, LossError
from gradtool.engine.kinds.other_losses import Other
from gradtool.engine.questions.question import Question
from gradtool.engine.request.limits import EACH
from gradtool.engine.request.request import Request
from gradtool.viz.views.view import View

from . import boundary
from .context import Output
from .errors import CLEAN, FAILED

A = TypeVar("A", bound=Answered)


def find_exit_code(answer: Answered, exit_code: bool) -> int:
    """The exit code of an answer, where findings are asked for in it: also those about losses that were left out."""
    return find_exit_code_of_loss(answer.findings, _others(answer)) if exit_code else CLEAN


def find_exit_code_of_loss(findings: int, passes: Sequence[Other]) -> int:
    """The exit code of findings about a loss, and of what came of the losses that were left out."""
    if findings or any(other.findings for other in passes):
        return FAILED
    return _worst([_code(other.refused) for other in passes if other.refused is not None])


@contextmanager
def prepare_others(request: Request, feed: str | None, wanted: bool) -> Iterator[Callable[[Answered], None]]:
    """Inside, the question is asked; what is given asks ``why`` about the losses that its answer says nothing of.

    So no exit code passes over them.

    Args:
        wanted: whether it is to do so.
    """
    if not wanted:
        yield lambda answer: None
        return
    from gradtool.engine.questions.other_losses import OtherLosses

    losses = OtherLosses(request, feed)
    with losses.listen():
        yield lambda answer: losses.look_at(_others(answer))


def _others(answer: Answered) -> Sequence[Other]:
    about = getattr(answer, "about", None)
    return () if about is None else about.others


def _code(error: Exception) -> int:
    return boundary.describe_error(error, ())[1]


def ask(
    question: Question[A],
    request: Request,
    out: Output,
    shown: Callable[[A], View],
    code: Callable[[A], int] = lambda answer: CLEAN,
    others: bool = False,
    explained: bool = False,
) -> int:
    """Ask *question* and show the answer; with ``--backward each`` one of every distinct backward pass.

    Args:
        shown: the view of an answer.
        code: its exit code.
        others: ask ``why`` about the losses that the answer leaves out.
        explained: where the loss has no graph, so that there is no answer, show what ``why`` finds beside the error.

    Returns:
        The exit code; of several, 1 if one of them is, else the largest.
    """
    if request.backward != EACH:
        feed = getattr(question, "feed", None)
        try:
            with prepare_others(request, feed, others) as look:
                answer = question.ask(request, out)
        except Exception as error:
            if not explained or not _is_about_a_graph(error):
                raise
            return _explain(error, request, feed, out)
        look(answer)
        out.emit(shown(answer))
        return code(answer)
    from gradtool.engine.questions import each
    from gradtool.viz.views import each as together

    entries: list[together.Shown | together.PassRefusal] = []
    codes = []
    for line, answer_or_error in each.answers(question, request, out):
        if isinstance(answer_or_error, Exception):
            said, number = boundary.describe_error(answer_or_error, ())
            entries.append(together.PassRefusal(line, said))
            codes.append(number)
        else:
            entries.append(together.Shown(line, shown(answer_or_error), answer_or_error.findings))
            codes.append(code(answer_or_error))
    out.emit(together.view(entries, request))
    return _worst(codes)


def _is_about_a_graph(error: Exception) -> bool:
    """Return whether there is no graph to go back through; the file may have raised something else afterwards."""
    return isinstance(error, LossError) or isinstance(error.__context__, LossError)


def _explain(error: Exception, request: Request, feed: str | None, out: Output) -> int:
    """Show what ``why`` finds in a model whose loss has no graph, and the error that is all there was to say else."""
    from gradtool.engine.questions.why import Why
    from gradtool.viz.views import why

    try:
        answer = Why(feed=feed).ask(request)
    except (CommandError, GradtoolError):
        raise error from error.__cause__
    if not answer.findings:
        raise error from error.__cause__
    out.note_error(error, "below is what gradtool why finds")
    out.emit(why.view(answer))
    return _code(error)


def must_be_one(request: Request, what: str) -> None:
    """Raise :class:`CommandError` where several passes are asked about and *what* takes one."""
    if request.backward == EACH:
        raise CommandError(f"{what}: about one backward pass, and --backward {EACH} names several")


def _worst(codes: Sequence[int]) -> int:
    return FAILED if FAILED in codes else max(codes, default=CLEAN)

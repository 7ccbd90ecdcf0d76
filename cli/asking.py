"""Asking a question, showing the answer, and the exit code that it stands for; of one backward pass or of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gradtool.models.limits import EACH

from .errors import CLEAN, FAILED

if TYPE_CHECKING:
    from gradtool.models.answered import Answered
    from gradtool.models.loader import Request
    from gradtool.models.questions.question import Question
    from gradtool.viz.views.view import View

    from .context import Output

A = TypeVar("A", bound="Answered")
F = TypeVar("F", bound=Callable[..., Any])


def exit_option(*, always: bool = False) -> Callable[[F], F]:
    """``--exit-code``.

    Args:
        always: the command is a gate: it needs no option for that.
    """
    what = "Exit with 1 if there is a finding" + (": the default of this command." if always else ".")
    return click.option("--exit-code", is_flag=True, default=always, help=what)


def judged(answer: Answered, exit_code: bool) -> int:
    """The exit code of an answer, where findings are asked for in it."""
    return FAILED if exit_code and answer.findings else CLEAN


def ask(
    question: Question[A],
    request: Request,
    out: Output,
    shown: Callable[[A], View],
    code: Callable[[A], int] = lambda answer: CLEAN,
) -> int:
    """Ask *question* and show the answer; with ``--backward each`` one of every distinct backward pass.

    Args:
        shown: the view of an answer.
        code: its exit code.

    Returns:
        The exit code; of several, 1 if one of them is, else the largest.
    """
    if request.backward != EACH:
        answer = question.ask(request, out)
        out.emit(shown(answer))
        return code(answer)
    from gradtool.models.questions import each
    from gradtool.viz.views import each as together

    entries: list[together.Shown | together.Refused] = []
    codes = []
    for line, answer_or_error in each.answers(question, request, out):
        if isinstance(answer_or_error, Exception):
            from . import boundary

            said, number = boundary.told(answer_or_error, ())
            entries.append(together.Refused(line, said))
            codes.append(number)
        else:
            entries.append(together.Shown(line, shown(answer_or_error), answer_or_error.findings))
            codes.append(code(answer_or_error))
    out.emit(together.view(entries, request))
    return _worst(codes)


def must_be_one(request: Request, what: str) -> None:
    """Raise :class:`CommandError` where several passes are asked about and *what* takes one."""
    from gradtool.models.errors import CommandError

    if request.backward == EACH:
        raise CommandError(f"{what}: about one backward pass, and --backward {EACH} asks about several")


def _worst(codes: Sequence[int]) -> int:
    return FAILED if FAILED in codes else max(codes, default=CLEAN)

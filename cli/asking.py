"""Asking one question, showing the answer, and the exit code that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .errors import CLEAN, FAILED

if TYPE_CHECKING:
    from gradtool.models.answered import Answered

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

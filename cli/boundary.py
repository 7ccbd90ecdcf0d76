"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, TextIO

import click

from gradtool.engine.core.command_errors import CommandError, ModelError, Terminated
from gradtool.engine.script.effects import command_scope
from gradtool.engine.script.forced_end import SECONDS
from gradtool.viz.text import legible

from . import errors


def run(command: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Carry out *command*; every outcome is an exit code, every error one message on stderr.

    Args:
        arguments: those of the command line; ``-v`` among them shows where a bug of gradtool happened.
    """
    global _code
    _code = None
    _code = _run(command, arguments)
    return _code


_code: int | None = None
"""The exit code of the command that has said all that it had to say."""


def overdue() -> int:
    """Say that the command does not end by itself after Ctrl-C, if it has said nothing yet; return the exit code."""
    if _code is not None:
        return _code
    hint = f"  hint  it had not ended {SECONDS:g} s later; --limit SECONDS ends a file and answers"
    with suppress(OSError, ValueError):
        if select.select([], [2], [], 0.1)[1]:  # nobody may read there
            os.write(2, (_error(["interrupted", hint], os.isatty(2)) + "\n").encode())
    return errors.INTERRUPTED


def _run(command: Callable[[], Any], arguments: Sequence[str]) -> int:
    try:
        _forget_differences()
        with _raise_on_sigterm(), _warnings(), _scope(arguments):
            result = command()
        return result if isinstance(result, int) else errors.CLEAN
    except click.UsageError as error:
        if error.ctx is None or type(error).__name__ == "NoArgsIsHelpError":
            _write(error.format_message())
            return error.exit_code
        said, code = describe_error(error, arguments, explained=True)
    except (errors.StdoutError, errors.ReaderGone) as error:
        _forget(sys.stdout)
        if isinstance(error, errors.ReaderGone):
            return errors.PIPE_CLOSED  # whoever read the output has seen enough
        said, code = describe_error(error, arguments, explained=True)
    except (Exception, KeyboardInterrupt, Terminated) as error:
        said, code = describe_error(error, arguments, explained=True)
    say(said)
    return code


def _forget_differences() -> None:
    """Let the command tell what its own run meets; of an engine that is not loaded there is nothing to forget."""
    for name in ("differences", "deviations"):
        table = sys.modules.get(f"gradtool.engine.core.{name}")
        if table is not None:
            table.forget()


_ASKING_OFTEN = ("diff", "report", "sweep")
"""Commands that run a file as often as their users say."""


def _scope(arguments: Sequence[str]) -> AbstractContextManager[None]:
    """Return the context of one command, which says on stderr that a file runs again."""
    if arguments and arguments[0] in _ASKING_OFTEN:
        return nullcontext()
    return command_scope() if {"-q", "--quiet"} & {*arguments} else command_scope(_write)


@contextmanager
def _raise_on_sigterm() -> Iterator[None]:
    """Have SIGTERM raise :class:`Terminated` inside, unless whoever runs the command has other plans for it."""
    if (
        signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def end(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would come in the middle of tidying up
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def describe_error(error: BaseException, arguments: Sequence[str], explained: bool = False) -> tuple[list[str], int]:
    """Return the message for *error*, line by line as a terminal gets it, and its exit code.

    Args:
        explained: end with the code of the error, and the command that explains it.
    """
    lines, code = _describe_error(error, arguments)
    page = code_of(error) if explained else ""
    return [*map(legible, lines), *([f"  code  {page}: gradtool explain {page}"] if page else [])], code


def code_of(error: BaseException) -> str:
    """Return the code by which ``gradtool explain`` knows the kind of *error*; empty where somebody ended
    the command.
    """
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, (click.Abort, KeyboardInterrupt, Terminated)):
        return ""
    if isinstance(error, click.ClickException):
        return errors.COMMAND_LINE
    from gradtool.engine.core.errors import GradtoolError

    return error.code if isinstance(error, GradtoolError) else errors.BUG_CODE


def _describe_error(error: BaseException, arguments: Sequence[str]) -> tuple[list[str], int]:
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx is not None else "gradtool"
        return [error.format_message(), f"  hint  {path} --help"], error.exit_code
    if isinstance(error, click.ClickException):
        return [error.format_message()], error.exit_code
    if isinstance(error, CommandError):
        return error.lines(), errors.MODEL if isinstance(error, ModelError) else errors.USAGE
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return ["interrupted"], errors.INTERRUPTED
    if isinstance(error, Terminated):
        return ["terminated"], errors.TERMINATED
    from gradtool.engine.core.errors import GradtoolError

    if isinstance(error, GradtoolError):
        return error.text().split("\n"), errors.ENGINE
    lines = [f"gradtool itself failed: {type(error).__name__}: {error}"]
    if _wants_details(arguments):
        import traceback

        lines += "".join(traceback.format_exception(error)).rstrip().split("\n")
    else:
        lines.append("  hint  this is a bug of gradtool, not of your model; -v shows where it happened")
    return lines, errors.BUG


def _forget(stream: TextIO) -> None:
    """Keep Python from complaining once more when it closes a stream at the end, by exit code 120."""
    with suppress(io.UnsupportedOperation):  # closed: there is nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _wants_details(arguments: Sequence[str]) -> bool:
    """Return whether ``-v`` was given; click's context is gone by the time an error arrives here."""
    return any(a == "--verbose" or (a.startswith("-v") and set(a[1:]) == {"v"}) for a in arguments)


def say(lines: list[str]) -> None:
    """Tell an error on stderr."""
    _write(_error(lines, sys.stderr.isatty()))


def _error(lines: list[str], is_terminal: bool) -> str:
    colours = is_terminal and "NO_COLOR" not in os.environ
    head = click.style("error:", fg="red", bold=True) if colours else "error:"
    return "\n".join([f"{head} {lines[0]}", *lines[1:]])


def _write(text: str) -> None:
    """Write lines to stderr; nowhere, if it takes nothing."""
    stream = sys.stderr
    encoding = stream.encoding or "utf-8"
    try:
        stream.write((text + "\n").encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        _forget(stream)


@contextmanager
def _warnings() -> Iterator[None]:
    """Show warnings as errors are shown."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        _write(legible(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n")))

    before, warnings.showwarning = warnings.showwarning, show
    try:
        yield
    finally:
        warnings.showwarning = before

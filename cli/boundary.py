"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from . import errors


def run(command: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Carry out *command*; every outcome is an exit code, every error one message on stderr.

    Args:
        arguments: those of the command line; ``-v`` among them shows where a bug of gradtool happened.
    """
    try:
        result = command()
        return result if isinstance(result, int) else errors.CLEAN
    except click.UsageError as error:
        if error.ctx is None or type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            _say([error.format_message(), f"  hint  {error.ctx.command_path} --help"])
        return error.exit_code
    except click.ClickException as error:
        _say([error.format_message()])
        return error.exit_code
    except errors.StdoutError as error:
        _forget_stdout()
        _say(error.lines())
        return error.code
    except errors.CommandError as error:
        _say(error.lines())
        return error.code
    except (click.Abort, KeyboardInterrupt):
        _say(["interrupted"])
        return errors.INTERRUPTED
    except errors.ReaderGone:
        _forget_stdout()  # whoever read the output has seen enough
        return errors.PIPE_CLOSED
    except Exception as error:
        return _other(error, arguments)


def _other(error: Exception, arguments: Sequence[str]) -> int:
    from gradtool.engine.errors import GradtoolError

    if isinstance(error, GradtoolError):
        _say(str(error).split("\n"))
        return errors.ENGINE
    lines = [f"gradtool itself failed: {type(error).__name__}: {error}"]
    if _wants_details(arguments):
        import traceback

        lines += traceback.format_exc().rstrip().split("\n")
    else:
        lines.append("  hint  this is a bug of gradtool, not of your model; -v shows where it happened")
    _say(lines)
    return errors.BUG


def _forget_stdout() -> None:
    """Keep Python from complaining once more when it closes stdout at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_details(arguments: Sequence[str]) -> bool:
    """Whether ``-v`` was given; click's context is gone by the time an error arrives here."""
    return any(a == "--verbose" or (a.startswith("-v") and set(a[1:]) == {"v"}) for a in arguments)


def _say(lines: list[str]) -> None:
    stream = sys.stderr
    head = click.style("error:", fg="red", bold=True) if stream.isatty() and "NO_COLOR" not in os.environ else "error:"
    text = "\n".join([f"{head} {lines[0]}", *lines[1:]]) + "\n"
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

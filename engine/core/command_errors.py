"""Errors while a model is loaded and queried: the request is impossible, or the user's code raised."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .near_names import find_near, shorten


class CommandError(Exception):
    """Error of an impossible request: an option, a selector, a file.

    Args:
        message: one sentence.
        hint: what to do about it.

    Attributes:
        code: what ``gradtool explain`` knows the kind of error by.
    """

    code = "GT-E010"

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def lines(self) -> list[str]:
        """The message, and below it what helps."""
        return [self.message, *([f"  hint  {self.hint}"] if self.hint else [])]


class UnknownName(CommandError):
    """A command, parameter, operator, rule, … that does not exist; the hint names the closest ones."""

    code = "GT-E011"


class MissingModel(CommandError):
    """The file or module that is to be the model is not there, or cannot be read."""

    code = "GT-E012"


class NoLoss(CommandError):
    """The model leaves nothing that could be differentiated."""

    code = "GT-E013"


class SeveralLosses(CommandError):
    """The model leaves several things that could be the loss."""

    code = "GT-E014"


class RefusedByModel(CommandError):
    """A kind of model cannot be asked this: a program, a tape, a recorded run."""

    code = "GT-E015"


class PackageNeeded(CommandError):
    """Error of a request that needs a package or a program that is not installed."""

    code = "GT-E016"


class ConfigurationError(CommandError):
    """A file of settings cannot be read, or says what no option takes."""

    code = "GT-E017"


class Unreadable(CommandError):
    """A file beside the model cannot be read: of arrays, selectors, verbs, a saved session."""

    code = "GT-E018"


class Terminated(BaseException):
    """SIGTERM came: everything is left in order on the way out. No error: nobody's ``except Exception`` ends it."""


class ModelError(CommandError):
    """The user's model raised; carries the user's frames as text.

    Args:
        frames: the user's part of the traceback, outermost first.
    """

    code = "GT-E020"

    def __init__(self, message: str, frames: Iterable[str] = (), hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.frames = list(frames)

    def lines(self) -> list[str]:
        return [self.message, *(f"  {line}" for line in self.frames), *super().lines()[1:]]


class NotPython(ModelError):
    """The model's file is no Python."""

    code = "GT-E021"


class ScriptExit(ModelError):
    """The user's code called ``sys.exit``.

    Args:
        succeeded: whether it says that all went well.
    """

    code = "GT-E022"

    def __init__(
        self, message: str, frames: Iterable[str] = (), hint: str | None = None, *, succeeded: bool = False
    ) -> None:
        super().__init__(message, frames, hint)
        self.succeeded = succeeded


def unknown(what: str, name: str, known: Iterable[str]) -> CommandError:
    """The error for a name that does not exist, with the three closest ones that do."""
    close = ", ".join(map(shorten, find_near(name, known, likeness=0.0)))
    return UnknownName(f"unknown {what} {shorten(name)!r}", f"closest: {close}" if close else None)


@contextmanager
def raise_for_python(who: str) -> Iterator[None]:
    """Raise what Python's users expect: a UsageError for what was asked for, and the user's own error as it is.

    Args:
        who: the public function, for messages.
    """
    from .errors import UsageError

    try:
        yield
    except ModelError as error:
        raise (error.__cause__ or UsageError(error.message)) from None
    except CommandError as error:
        raise UsageError(f"{who}: {error.message}.", hint=error.hint) from None


def describe_failure(error: Exception) -> str:
    """Return what an error says; of one of gradtool's own mistakes its type, too, and the line that raised it.

    The lines of the gate itself ask, and are no cause.
    """
    from .errors import GradtoolError

    if isinstance(error, (CommandError, GradtoolError)):
        return error.message
    first = next(iter(str(error).splitlines()), "no message")
    lines = [
        f" ({frame.filename.replace(os.sep, '/').rpartition('/engine/')[2]}:{frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}engine{os.sep}" in frame.filename and f"{os.sep}gate{os.sep}" not in frame.filename
    ]
    return f"gradtool itself failed there: {type(error).__name__}: {first}" + "".join(lines[-1:])

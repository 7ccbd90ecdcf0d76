"""What can go wrong on the command line, and the exit codes (product, section 2).

====  ===========================================================
code  meaning
====  ===========================================================
0     clean
1     a rule, a gate or a comparison failed
2     usage: an option, a selector, a file
3     the user's model raised
4     the engine refused: no gradient, shapes that do not fit, …
70    a bug of gradtool
130   interrupted
143   ended by SIGTERM
====  ===========================================================
"""

from __future__ import annotations

from collections.abc import Iterable

CLEAN = 0
FAILED = 1
USAGE = 2
MODEL = 3
ENGINE = 4
BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141
TERMINATED = 143


class CommandError(Exception):
    """The command was not used right.

    Args:
        message: one sentence.
        hint: what to do about it.
    """

    code = USAGE

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def lines(self) -> list[str]:
        """The message, and below it what helps."""
        return [self.message, *([f"  hint  {self.hint}"] if self.hint else [])]


class Terminated(BaseException):
    """SIGTERM came: everything is left in order on the way out. No error: nobody's ``except Exception`` ends it."""


class ReaderGone(Exception):
    """Whoever read stdout has closed it (``| head``)."""


class StdoutError(CommandError):
    """The result cannot be written to stdout."""


class ModelError(CommandError):
    """The user's model raised; carries the user's frames as text.

    Args:
        frames: the user's part of the traceback, outermost first.
    """

    code = MODEL

    def __init__(self, message: str, frames: Iterable[str] = (), hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.frames = list(frames)

    def lines(self) -> list[str]:
        return [self.message, *(f"  {line}" for line in self.frames), *super().lines()[1:]]


def unknown(what: str, name: str, known: Iterable[str]) -> CommandError:
    """The error for a name that does not exist, with the three closest ones that do."""
    from gradtool.engine.core.near_names import near, shortened

    close = ", ".join(map(shortened, near(name, known, likeness=0.0)))
    return CommandError(f"unknown {what} {shortened(name)!r}", f"closest: {close}" if close else None)

"""Errors of verbs."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.near_names import find_near, shorten


class VerbError(GradtoolError):
    """A verb cannot do what was asked; the session is as it was."""

    code = "GT-E601"


class NotTrusted(BaseException):
    """Error of a part of a saved session that was not evaluated, because nobody has said that the file is trusted.

    No ``Exception``: whoever asks whether an expression raises one must not take this for its answer.

    Attributes:
        hint: what to do about it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"not evaluated: {shorten(text)} stands in the saved session, which is not trusted.")
        self.hint = "--trust evaluates what stands in the file, which can do what any Python can; what is typed runs"

    def __str__(self) -> str:
        return f"{self.args[0]}\n  hint  {self.hint}"


def unknown(what: str, asked: str, choices: Iterable[str], otherwise: str | None = None) -> VerbError:
    """There is nothing of that name; with the names that come closest.

    Args:
        otherwise: what to do where no name comes close.
    """
    close = ", ".join(map(shorten, find_near(asked, choices)))
    return VerbError(f"there is no {what} {shorten(asked)!r}.", hint=f"there is {close}" if close else otherwise)

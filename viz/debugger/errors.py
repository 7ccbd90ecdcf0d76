"""What a verb refuses."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine.errors import GradtoolError, near


class VerbError(GradtoolError):
    """A verb cannot do what was asked; the session is as it was."""


class FixedError(GradtoolError):
    """A value depends on an edit, but the operator that makes it cannot run again."""


def unknown(what: str, asked: str, known: Iterable[str]) -> VerbError:
    """There is nothing of that name; with the names that come closest."""
    close = near(asked, list(known))
    return VerbError(f"there is no {what} {asked!r}.", hint=f"there is {', '.join(close)}" if close else None)

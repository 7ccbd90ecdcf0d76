"""What a verb refuses."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine.core.errors import GradtoolError, near


class VerbError(GradtoolError):
    """A verb cannot do what was asked; the session is as it was."""


def unknown(what: str, asked: str, known: Iterable[str]) -> VerbError:
    """There is nothing of that name; with the names that come closest."""
    close = near(asked, list(known))
    return VerbError(f"there is no {what} {asked!r}.", hint=f"there is {', '.join(close)}" if close else None)

"""What a verb refuses."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.near_names import near, shortened


class VerbError(GradtoolError):
    """A verb cannot do what was asked; the session is as it was."""


def unknown(what: str, asked: str, known: Iterable[str]) -> VerbError:
    """There is nothing of that name; with the names that come closest."""
    close = ", ".join(map(shortened, near(asked, known)))
    return VerbError(f"there is no {what} {shortened(asked)!r}.", hint=f"there is {close}" if close else None)

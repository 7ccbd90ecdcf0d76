"""Models without a file: a MODEL argument may name those of a notebook."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from ..core.scoped_variables import set_inside

if TYPE_CHECKING:  # it is loaded before NumPy is
    from ..request.request import Request
    from .script_state import Loaded


class LiveSession(Protocol):
    """Models of a session that the loader queries before it looks for a file."""

    def source(self, name: str) -> str | None:
        """The source text that is run as a model file would be, or None."""
        ...

    def has(self, name: str) -> bool:
        """Return whether *name* is that of a model."""
        ...

    def live(self, request: Request) -> AbstractContextManager[Loaded] | None:
        """The model that is there under the name that *request* gives, or None."""
        ...

    def value(self, name: str) -> Any:
        """Return the value of a name, or None."""
        ...

    def start_debugging(self, book: Any) -> None:
        """Take the notebook of a session of the debugger, which has no prompt here."""
        ...


_session: ContextVar[LiveSession | None] = ContextVar("gradtool_session", default=None)

current = _session.get
"""The session that commands run in, or None."""


def enter_session(session: LiveSession) -> AbstractContextManager[LiveSession]:
    """Let MODEL arguments name the models of *session* inside; what models print goes to stdout there."""
    return set_inside(_session, session)

"""Models without a file: a MODEL argument may name those of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .loader import Loaded, Request


class Session(Protocol):
    """What the loader asks before it looks for a file."""

    def source(self, name: str) -> str | None:
        """The source text that is run as a model file would be, or None."""
        ...

    def has(self, name: str) -> bool:
        """Whether *name* is that of a model."""
        ...

    def live(self, request: Request) -> AbstractContextManager[Loaded] | None:
        """The model that is there under the name that *request* gives, or None."""
        ...

    def value(self, name: str) -> Any:
        """What is there under a name, or None."""
        ...

    def debugging(self, book: Any) -> None:
        """Take the notebook of a session of the debugger, which has no prompt here."""
        ...


_session: ContextVar[Session | None] = ContextVar("gradtool_session", default=None)

current = _session.get
"""The session that commands run in, or None."""


@contextmanager
def within(session: Session) -> Iterator[None]:
    """Let MODEL arguments name the models of *session* inside; what models print goes to stdout there."""
    token = _session.set(session)
    try:
        yield
    finally:
        _session.reset(token)

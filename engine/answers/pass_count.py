"""Count of the backward passes of a run."""

from __future__ import annotations

from typing import Any

from ..core.summary import Asked
from .events import Begin, Listener, Quiet


class PassCount:
    """Counts the backward passes that a listener is told of, but for those that compute for another one."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.count = 0

    @property
    def summary_needs(self) -> Asked | None:
        """Return what the listener needs in place of arrays."""
        return getattr(self.listener, "summary_needs", None)

    def uneventful(self, quiet: Quiet) -> None:
        """Operators with whose results nothing is wrong."""
        self.count += len([p for p in quiet.passes if not p.recorded])
        quiet.tell(self.listener)

    def __call__(self, event: Any) -> None:
        self.count += isinstance(event, Begin) and not event.recorded
        self.listener(event)

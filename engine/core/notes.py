"""Notes that accompany an answer."""

from __future__ import annotations

from typing import Protocol


class Notes(Protocol):
    """Takes notes.

    Attributes:
        verbose: how much detail is asked for; 0 as a rule.
    """

    verbose: int

    def note(self, text: str) -> None:
        """Something worth knowing that is not the answer."""
        ...

    def note_stop(self, text: str) -> None:
        """The file was stopped before its end, so that the answer is about a part of it: where, and what goes on."""
        ...

    def note_error(self, error: Exception, what: str) -> None:
        """The user's code raised, and an answer follows all the same.

        Args:
            what: what it is about.
        """
        ...


class _Silence:
    verbose = 0

    def note(self, text: str) -> None:
        pass

    def note_stop(self, text: str) -> None:
        pass

    def note_error(self, error: Exception, what: str) -> None:
        pass


SILENT: Notes = _Silence()
"""Takes notes and tells nobody."""

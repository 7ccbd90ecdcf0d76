"""A run from a saved session of the debugger."""

from __future__ import annotations

from ..core import upward
from .timeline import Timeline


def read(data: bytes, file: str) -> tuple[Timeline, str]:
    """The run as it was recorded, without the edits of branches, and the words that opened the session.

    Nothing in the file is evaluated, and the model that it names is not loaded.

    Args:
        file: what the file is called in errors.

    Raises:
        FileFormatError: it is no saved session, or a damaged one.
    """
    book = upward.part("sessions").load(data, file).book
    return book.session.timeline, book.model

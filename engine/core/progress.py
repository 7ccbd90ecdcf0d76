"""Progress of long work, for whoever shows it; nothing is noted while nobody listens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from .state import progress

T = TypeVar("T")


def count(what: str, entries: Sequence[T]) -> Iterator[T]:
    """*entries*, telling before each of them how many are done."""
    total = len(entries)
    for done, entry in enumerate(entries):
        progress.note(what, done, total)
        yield entry
    progress.note(what, total, total)

"""Things that run otherwise than without gradtool: one table, and the entries that a run has met.

Whoever has something run otherwise calls :func:`note`. Commands say each entry once, on stderr and in their JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from . import source

OTHERWISE: Final[dict[str, str]] = {
    "uncompiled": (
        "what torch.compile was given ran uncompiled, so that its operators are seen; compiled code may give other "
        "last digits, and draws other random numbers"
    ),
}
"""What is said of each entry."""


def note(name: str) -> None:
    """Note that the run has met an entry, at the line that runs now; the first line counts.

    Args:
        name: a key of :data:`OTHERWISE`.
    """
    place = str(source.short(source.here()))
    entry = {"name": name, "text": OTHERWISE[name]}
    for table in (_met, _runs[-1] if _runs else _met):
        table.setdefault(name, {**entry, "line": place} if place else entry)


@contextmanager
def watch_run() -> Iterator[dict[str, dict[str, str]]]:
    """Return the entries that one run inside meets, by name, as JSON holds them.

    >>> with watch_run() as met:
    ...     note("uncompiled")
    >>> [*met]
    ['uncompiled']
    >>> forget()
    """
    _runs.append({})
    try:
        yield _runs[-1]
    finally:
        _runs.pop()


def sentence(entry: Mapping[str, str]) -> str:
    """Return an entry as a sentence behind its line."""
    return f"{entry['line']}: {entry['text']}" if "line" in entry else entry["text"]


def entries() -> list[dict[str, str]]:
    """Return what all runs have met since :func:`forget`, in order, as JSON holds it."""
    return [*_met.values()]


def forget() -> None:
    """Begin anew: a command says what its own runs have met."""
    _met.clear()


_met: dict[str, dict[str, str]] = {}
"""The entries that were met since the command began, with the line of the first time."""

_runs: list[dict[str, dict[str, str]]] = []
"""Those that each run has met which goes on; the last one is the innermost."""

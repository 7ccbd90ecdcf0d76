"""Audit events of Python, heard by one hook for the whole process.

A hook stays until the process ends, and every call of ``id`` and ``sys._getframe`` is an event: a listener is called
for the events that it wants, and all others cost one look into a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

Listener = Callable[[str, tuple[Any, ...]], None]


class _Listeners(dict[str, tuple[Listener, ...]]):
    """By event, who wants it; found when an event is heard for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[Callable[[str], bool], Listener]] = []

    def __missing__(self, event: str) -> tuple[Listener, ...]:
        found = self[event] = tuple(by for wants, by in self.all if wants(event))
        return found


_listeners = _Listeners()


def listen(by: Listener, wants: Callable[[str], bool]) -> None:
    """Have *by* called with the name and the arguments of each audit event from now on.

    Args:
        wants: whether events of a name are meant; asked once for each name.
    """
    _listeners.all.append((wants, by))
    _listeners.clear()
    _add_hook()


@cache
def _add_hook() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for by in _listeners[event]:
        by(event, arguments)

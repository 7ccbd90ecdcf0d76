"""Listeners, joined to one that calls only those that an event concerns.

A command of many rules has a dozen watchers, and most events concern one or two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Listener = Callable[[Any], object]


def handles(*kinds: type) -> Callable[[F], F]:
    """Mark a listener, or the ``__call__`` of its class, that acts on events of these classes only.

    It is called for no others.

    >>> @handles(KeyError)
    ... def print_key(event):
    ...     print("key", event)
    >>> join(print_key, print)(ValueError("a value"))
    a value
    """

    def mark(function: F) -> F:
        function.handles = kinds  # type: ignore[attr-defined]
        return function

    return mark


def join(first: Listener | None, second: Listener | None) -> Listener | None:
    """Return a listener that calls both in this order; its answer is true if that of one of them is."""
    every = (*_split(first), *_split(second))
    if len(every) == 1 and _kinds(every[0]) == (object,):
        return every[0]
    return _Several(every) if every else None


class _Several:
    __slots__ = ("_by_kind", "every")

    def __init__(self, every: tuple[Listener, ...]) -> None:
        self.every = every
        self._by_kind: dict[type, tuple[Listener, ...]] = {}

    def __call__(self, event: Any) -> object:
        kind = type(event)
        concerned = self._by_kind.get(kind)
        if concerned is None:
            concerned = self._by_kind[kind] = tuple([by for by in self.every if issubclass(kind, _kinds(by))])
        answer: object = None
        for by in concerned:
            answer = by(event) or answer
        return answer


def _split(by: Listener | None) -> tuple[Listener, ...]:
    if by is None:
        return ()
    return by.every if isinstance(by, _Several) else (by,)


def _kinds(by: Listener) -> tuple[type, ...]:
    """Return the classes of events that a listener acts on."""
    marked: Any = by if hasattr(by, "handles") else type(by).__call__
    kinds: tuple[type, ...] = getattr(marked, "handles", (object,))
    return kinds

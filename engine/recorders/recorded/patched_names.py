"""Names of a framework that something else stands in for while a program runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Row = tuple[Any, str, Any]
"""Whose name is stood in for, the name, and what stands there."""

_MISSING = object()


class PatchedNames:
    """Names that something else stands in for.

    Args:
        rows: whose name it is, the name, and what stands there.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self._put: list[tuple[Any, str, Any, Any]] = []

    def __enter__(self) -> PatchedNames:
        for owner, name, made in self._rows:
            self.put(owner, name, made)
        return self

    def __exit__(self, *error: object) -> None:
        while self._put:
            owner, name, _, before = self._put.pop()
            _give_back(owner, name, before)

    def put(self, owner: Any, name: str, made: Any) -> None:
        """Have *made* stand there until the end."""
        self._put.append((owner, name, made, vars(owner).get(name, _MISSING)))
        setattr(owner, name, made)

    @contextmanager
    def lift(self) -> Iterator[None]:
        """Inside, nothing stands in for anything."""
        put = list(self._put)
        for owner, name, _, before in reversed(put):
            _give_back(owner, name, before)
        try:
            yield
        finally:
            for owner, name, made, _ in put:
                setattr(owner, name, made)


def _give_back(owner: Any, name: str, before: Any) -> None:
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)

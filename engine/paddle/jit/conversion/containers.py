"""Lists, dicts and sets that a branch or a loop may change: what they held before, and what a way has made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....engine.core.identity import identity

_KINDS = (list, dict, set)


class Containers:
    """The contents of containers, of those inside them too, at one time.

    Args:
        values: the containers among them are looked at.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.contents: dict[int, tuple[Any, Any]] = {}
        todo = [v for v in values if isinstance(v, _KINDS)]
        while todo:
            container = todo.pop()
            if identity(container) in self.contents:
                continue
            self.contents[identity(container)] = container, container.copy()
            inner = container.values() if isinstance(container, dict) else container
            todo.extend(v for v in inner if isinstance(v, _KINDS))

    def restore(self) -> None:
        """Give every container what it held."""
        for container, held in self.contents.values():
            put(container, held)

    def changed(self) -> list[tuple[Any, Any]]:
        """The containers that hold something else by now, with what they held."""
        return [(c, held) for c, held in self.contents.values() if not same(c, held)]


def put(container: Any, held: Any) -> None:
    """Let *container* hold what *held* does."""
    if isinstance(container, list):
        container[:] = held
    else:
        container.clear()
        container.update(held)


def same(a: Any, b: Any) -> bool:
    """Return whether two containers hold the same objects under the same keys."""
    if type(a) is set:
        return {identity(v) for v in a} == {identity(v) for v in b}
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k in b and a[k] is b[k] for k in a)
    return all(x is y for x, y in zip(a, b, strict=True))

"""Context variables that are something inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

V = TypeVar("V")


@contextmanager
def set_inside(variable: ContextVar[Any], value: V) -> Iterator[V]:
    """Let *variable* be *value* inside, in this thread or task, and afterwards what it was before.

    >>> depth = ContextVar("depth", default=0)
    >>> with set_inside(depth, 1):
    ...     depth.get()
    1
    >>> depth.get()
    0
    """
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)

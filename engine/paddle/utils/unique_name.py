"""The process's generator of unique names (static layers count per program instead)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.engine.core.names import UniqueNames

_generator = UniqueNames()


def generate(key: str) -> str:
    """``key_0``, ``key_1``, …"""
    return _generator(key)


def switch(new_generator: UniqueNames | None = None) -> UniqueNames:
    """Count from the beginning (or with *new_generator*); returns the generator used before."""
    global _generator
    before, _generator = _generator, new_generator or UniqueNames()
    return before


@contextmanager
def guard(new_generator: str | UniqueNames | None = None) -> Iterator[None]:
    """Count from the beginning inside; a string is a prefix of the names."""
    prefix = new_generator if isinstance(new_generator, str) else ""
    before = switch(new_generator if isinstance(new_generator, UniqueNames) else UniqueNames(prefix))
    try:
        yield
    finally:
        switch(before)

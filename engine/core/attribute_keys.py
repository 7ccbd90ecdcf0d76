"""Attributes as keys of what is remembered for them."""

from __future__ import annotations

import marshal
from collections.abc import Hashable
from typing import Any, TypeVar

T = TypeVar("T")

REMEMBERED = 1 << 10
"""How many sets of attributes an operator or a function remembers; numbers that change with every step must not pile
up."""


_own_keys: set[type] = set()


def own_key(kind: type[T]) -> type[T]:
    """A class of values that are keys themselves: those that are equal mean the same, and they never change."""
    _own_keys.add(kind)
    return kind


def key_of(attrs: Any) -> Hashable | None:
    """Attributes as a key in which 1, 1.0 and True differ, and 0.0 and -0.0; None where there is no such."""
    if type(attrs) is dict and len(attrs) == 1:  # internal operators have one such attribute
        ((name, value),) = attrs.items()
        if type(value) in _own_keys:
            return name, value
    try:
        return marshal.dumps(attrs, 2)
    except ValueError:
        return None


def simple(value: Any) -> bool:
    """Return whether nothing else has the key of *value*: arrays, whose key is their bytes, are no simple values."""
    if type(value) in (list, tuple):
        return all(map(simple, value))
    return value is None or type(value) in (bool, float, int, str) or type(value) in _own_keys

"""Attributes as keys of what is remembered for them."""

from __future__ import annotations

import marshal
from typing import Any

REMEMBERED = 1 << 10
"""How many sets of attributes an operator or a function remembers; numbers that change with every step must not pile
up."""


def key_of(attrs: Any) -> bytes | None:
    """Attributes as a key in which 1, 1.0 and True differ, and 0.0 and -0.0; None where there is no such."""
    try:
        return marshal.dumps(attrs, 2)
    except ValueError:
        return None


def simple(value: Any) -> bool:
    """Whether nothing else has the key of *value*: arrays, whose key is their bytes, are no simple values."""
    if type(value) in (list, tuple):
        return all(map(simple, value))
    return value is None or type(value) in (bool, float, int, str)

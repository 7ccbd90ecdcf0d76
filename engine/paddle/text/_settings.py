"""Arguments that data sets share."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gradtool.engine.core.errors import UsageError


class SettingError(UsageError, AssertionError):
    """An argument that is none of those that there are (Paddle raises AssertionError)."""


def part(mode: str, *modes: str) -> str:
    """*mode* in small letters.

    Raises:
        SettingError: it is none of *modes* (an AssertionError).
    """
    name = mode.lower()
    if name not in modes:
        raise SettingError(f"mode should be {' or '.join(map(repr, modes))}, but got {mode}")
    return name


def by_frequency(counts: Counter[Any], least: int) -> list[Any]:
    """The words that occur more often than *least*, the most frequent ones first, equal ones in order.

    Words are bytes, marks among them texts.
    """
    kept = [(-n, w if isinstance(w, bytes) else w.encode(), w) for w, n in counts.items() if n > least]
    return [w for _, _, w in sorted(kept, key=lambda entry: entry[:2])]

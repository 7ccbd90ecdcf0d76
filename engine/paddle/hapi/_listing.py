"""One thing or several, as a list."""

from __future__ import annotations

from typing import Any


def listed(value: Any) -> list[Any]:
    """*value* in a list, unless it is a list or a tuple; nothing, for None."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]

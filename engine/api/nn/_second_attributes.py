"""Second names of attributes of layers."""

from __future__ import annotations

from typing import Any


def second_name(first: str) -> Any:
    """A property that is another attribute, to read and to set."""
    return property(lambda layer: getattr(layer, first), lambda layer, value: setattr(layer, first, value))

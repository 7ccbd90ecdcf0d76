"""``paddle.tensor``: where the functions on tensors live as well, with a few that are only here."""

from __future__ import annotations

import importlib
from typing import Any

from gradtool.paddle import _lazy

from ._creation import fill_constant as fill_constant

ARRAYS = ("array_length", "array_read", "array_write", "create_array")


__path__: list[str] = []  # there are modules below it, in the table of old paths


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ARRAYS:
        return getattr(importlib.import_module("gradtool.paddle._arrays"), name)
    package = importlib.import_module("gradtool.paddle")
    own = _lazy.own_names(package)
    return getattr(package, name) if name in own else _lazy.fallback(__name__, name, lambda: own)

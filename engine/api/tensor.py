"""``paddle.tensor``: where the functions on tensors live as well, with a few that are only here."""

from __future__ import annotations

import importlib
from typing import Any

from ._creation import fill_constant as fill_constant

ARRAYS = ("array_length", "array_read", "array_write", "create_array")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module("gradtool._arrays" if name in ARRAYS else "gradtool"), name)

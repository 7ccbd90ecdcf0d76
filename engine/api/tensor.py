"""``paddle.tensor``: where the functions on tensors live as well, with ``fill_constant``, which is only here."""

from __future__ import annotations

import importlib
from typing import Any

from ._creation import fill_constant as fill_constant


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module("gradtool"), name)

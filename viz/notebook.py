"""The notebook that runs this process, if one does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def notebook_display() -> Callable[[Any], Any] | None:
    """IPython's ``display`` inside a notebook; IPython is never imported for it."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    return importlib.import_module("IPython.display").display  # type: ignore[no-any-return]

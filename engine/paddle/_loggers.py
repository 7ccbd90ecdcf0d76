"""``get_logger`` of ``paddle.base.log_helper``, and the logger of ``paddle.distributed``."""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("paddle.distributed")


def get_logger(name: str = "root", level: Any = "INFO", fmt: str | None = None) -> logging.Logger:
    """A logger of that level that writes to the terminal in the form *fmt*; the arguments come in either order."""
    if isinstance(name, int) or str(name).upper() in logging.getLevelNamesMapping():
        name, level = (level if isinstance(level, str) and level != "INFO" else "root"), name
    found = logging.getLogger(name)
    found.setLevel(level)
    found.propagate = False
    if not found.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(fmt))
        found.addHandler(handler)
    return found

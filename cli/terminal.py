"""Standard output: its width, and whether it takes colours."""

from __future__ import annotations

import os
import shutil
import sys


def room() -> int | None:
    """The columns of the terminal that standard output is; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def use_colours(choice: str) -> bool:
    """Return whether to use colours.

    Args:
        choice: ``always``, ``never``, or ``auto``: what ``NO_COLOR`` and ``FORCE_COLOR`` say, else whether standard
            output is a terminal that knows them.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

"""Where the extra has put the library. Not by ``importlib.metadata``, which takes longer to import than the library."""

from __future__ import annotations

import os
import sys

PREFIX, ENDING = "onednn_cpu_gomp-", ".dist-info"
"""What the name of the folder begins and ends with that an installer leaves beside packages."""


def folder() -> str | None:
    """That folder; None where the extra is not installed."""
    for path in dict.fromkeys(sys.path):
        try:
            names = os.listdir(path or os.curdir)
        except OSError:
            continue  # an archive, or nothing
        for name in sorted(names):
            if name.startswith(PREFIX) and name.endswith(ENDING):
                return os.path.join(path, name)
    return None


def file(name: str) -> str | None:
    """The installed file of that name, by the installer's own record; None where there is none."""
    place = folder()
    if place is None:
        return None
    try:
        with open(os.path.join(place, "RECORD"), encoding="utf-8") as record:
            files = [line.split(",", 1)[0] for line in record]
    except OSError:
        return None
    return next((os.path.join(os.path.dirname(place), f) for f in files if os.path.basename(f) == name), None)

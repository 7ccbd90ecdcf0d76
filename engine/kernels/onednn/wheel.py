"""Folder of the wheel in which the extra has put the library."""

from __future__ import annotations

import os

from ...files import wheels

PREFIX = "onednn_cpu_gomp-"
"""What the name of the folder begins with that an installer leaves beside packages."""


def folder() -> str | None:
    """Return that folder; None where the extra is not installed."""
    return next(wheels.folders(PREFIX), None)


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

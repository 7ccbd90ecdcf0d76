"""A run of a program of another framework that was recorded where that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core import upward
from ..script.endings import ENDINGS
from . import importer


@importer(*ENDINGS)
def read(path: Path, data: bytes) -> Any:
    """The run, to be played; its backward passes are those that the program ran."""
    return upward.part("recorded runs").RecordedRun(path, data)

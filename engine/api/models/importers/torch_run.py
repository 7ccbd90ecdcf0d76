"""A run of a PyTorch program that was recorded where torch is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..pytorch import ENDING
from . import importer


@importer(ENDING)
def read(path: Path, data: bytes) -> Any:
    """The run, to be played; its backward passes are those that the program ran."""
    from ..pytorch.archive import Recording

    return Recording(path, data)

"""A PyTorch module as an archive of ``torch.export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import importer
from .pt2 import ENDING


@importer(ENDING)
def read(path: Path, data: bytes) -> Any:
    """The program; its parameters have their names in the module, and their values lie in the current scope."""
    from .pt2.reading import read as program_in

    return program_in(data, path.name)

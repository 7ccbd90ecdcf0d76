"""A model as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import UnknownSizes, importer
from .onnx import ENDING


@importer(ENDING, sized=True)
def read(path: Path, data: bytes, sizes: UnknownSizes) -> Any:
    """The program; its initializers are parameters, and their values lie in the current scope."""
    from .onnx.reading import read as program_in

    return program_in(data, path.name, path.parent, sizes)

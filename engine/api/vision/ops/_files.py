"""Files of images as tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import gradtool


def read_file(filename: str, name: str | None = None) -> Any:
    """The bytes of a file as a tensor of type uint8.

    Raises:
        OSError: the file cannot be read.
    """
    return gradtool.to_tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8))

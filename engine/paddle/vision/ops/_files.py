"""Files of images as tensors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError, UsageError

from .._packages import pillow

MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str, name: str | None = None) -> Any:
    """The bytes of a file as a tensor of type uint8.

    Raises:
        OSError: the file cannot be read.
    """
    return paddle.to_tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8))


def decode_jpeg(x: Any, mode: str = "unchanged", name: str | None = None) -> Any:
    """The image in the bytes of a JPEG file, decoded by Pillow; Paddle decodes on graphics cards alone.

    Args:
        x: the bytes, of type uint8, as :func:`read_file` gives them.
        mode: ``unchanged`` for the channels of the file, ``gray`` for one, ``rgb`` for three.

    Returns:
        ``[channels, height, width]`` of type uint8.

    Raises:
        UsageError: another mode (a ValueError).
        PackageMissing: Pillow is not installed (an ImportError).
        FileFormatError: the bytes are no JPEG file (a ValueError).
    """
    if mode not in MODES:
        raise UsageError(f"decode_jpeg: mode must be one of {', '.join(MODES)}, but got {mode!r}")
    images = pillow()
    try:
        image = images.open(io.BytesIO(x.numpy().tobytes()), formats=("JPEG",))
        pixels = np.array(image if MODES[mode] is None else image.convert(MODES[mode]))
    except (OSError, SyntaxError) as error:
        raise FileFormatError("decode_jpeg", "the bytes of a JPEG file", f"{error}") from None
    return paddle.to_tensor(np.ascontiguousarray(np.atleast_3d(pixels).transpose(2, 0, 1)))

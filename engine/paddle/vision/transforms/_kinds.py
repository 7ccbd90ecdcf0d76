"""The three kinds of images."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable

PIL, ARRAY, TENSOR = "PIL", "array", "tensor"


def is_pil(img: Any) -> bool:
    """Return whether *img* is an image of PIL, which has been imported then."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(img, module.Image)


def kind(img: Any, where: str) -> str:
    """Return the kind of image that *img* is.

    Raises:
        ArgumentTypeError: none of the three (a TypeError).
    """
    if isinstance(img, np.ndarray) and img.ndim in (2, 3):
        return ARRAY
    if isinstance(img, (Tensor, Variable)):
        return TENSOR
    if is_pil(img):
        return PIL
    got = f"an array of {img.ndim} dimensions" if isinstance(img, np.ndarray) else f"{type(img)}"
    raise ArgumentTypeError(f"{where}: img should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]. Got {got}")

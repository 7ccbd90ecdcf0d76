"""Memory of arrays, by which tensors that share it are known to."""

from __future__ import annotations

from typing import Any

import numpy as np


def address(array: Any) -> int:
    """Return where the memory of an array begins; the identity of what is no array of NumPy's.

    A tensor of another framework has an array of its own on the memory that it shares.
    """
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else id(array)

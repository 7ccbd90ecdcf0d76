"""Numbers in bfloat16 as the numbers that their bits are."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def convert_float_to_uint16(data: Array, data_format: str = "NCHW") -> Array:
    """Return the upper half of the bits of each float32, which is a bfloat16 that is rounded towards zero.

    >>> convert_float_to_uint16(np.array([1.0, -2.5], "float32"))
    array([16256, 49184], dtype=uint16)
    """
    return (np.ascontiguousarray(data, "float32").view(np.uint32) >> 16).astype(np.uint16)


def convert_uint16_to_float(data: Array) -> Array:
    """Return the float32 whose upper half of bits each number is.

    >>> convert_uint16_to_float(np.array([16256, 49184], "uint16"))
    array([ 1. , -2.5], dtype=float32)
    """
    return (np.asarray(data).astype(np.uint32) << 16).view(np.float32)

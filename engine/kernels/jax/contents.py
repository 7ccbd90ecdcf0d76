"""Fingerprints of arrays: 128 bits of the contents of each, computed where it lies."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.rows import RowArray
from .packing import UnmovedArray
from .pytrees import dense

_LANES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)
"""An odd number for each 32 bits: the place of a word times it goes into what the word is mixed with."""


def contents(value: Any) -> bytes:
    """Equal for arrays of one shape and type that have the same bits."""
    if isinstance(value, UnmovedArray):
        return _row_bytes(value)
    array = jnp.asarray(dense(value) if isinstance(value, RowArray) else value)
    return np.asarray(_contents(array)).tobytes()


def _row_bytes(value: UnmovedArray) -> bytes:
    """The same of a row of a buffer; those of all rows leave the device at once."""
    if "contents" not in value.rest:
        rows = value.buffer.reshape((-1, *value.shape))
        told = np.asarray(_contents_of_rows(rows))
        value.rest["contents"] = told.reshape((*value.buffer.shape[: len(value.at)], -1))
    of_row: np.ndarray[Any, Any] = value.rest["contents"][value.at]
    return of_row.tobytes()


@jax.jit
def _contents_of_rows(rows: Any) -> Any:
    return lax.map(_contents, rows)


@jax.jit
def _contents(array: Any) -> Any:
    words = _words(array)
    places = lax.iota("uint32", words.size)
    # Sums modulo 2**32 are the same in any order.
    return jnp.stack([_mix(words ^ (places * np.uint32(k) + np.uint32(n))).sum() for n, k in enumerate(_LANES, 1)])


def _words(array: Any) -> Any:
    """The bits of *array* as 32-bit words in a row, those of smaller numbers one by one."""
    if array.dtype.kind == "c":
        array = jnp.stack([array.real, array.imag])
    if array.dtype == bool:
        return array.reshape(-1).astype("uint32")
    width = array.dtype.itemsize
    words = lax.bitcast_convert_type(array, "uint32" if width >= 4 else f"uint{8 * width}")
    return words.reshape(-1).astype("uint32")


def _mix(words: Any) -> Any:
    """Every bit of a word spread over all of them (the end of MurmurHash3)."""
    words = (words ^ (words >> 16)) * np.uint32(0x85EBCA6B)
    words = (words ^ (words >> 13)) * np.uint32(0xC2B2AE35)
    return words ^ (words >> 16)

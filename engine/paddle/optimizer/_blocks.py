"""Updates of large parameters, a block of elements after the other.

An update reads and writes several tables of the parameter's size, in a dozen operations of NumPy's. Over a whole table
each of them goes through memory, and fetches new pages for what is in between; over a block all of that stays in the
processor's cache, and results go to where they belong. No element depends on another, so the values are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.engine.core import watch
from gradtool.engine.eager.tensor import Tensor, are_writes_watched

BLOCK = 1 << 16
"""Elements in a block."""
LARGE = 4 * BLOCK
"""Elements from which a parameter is updated by blocks."""


def is_large(param: Tensor) -> bool:
    """Return whether *param* is updated by blocks."""
    return bool(param.array.size >= LARGE)


def blocks(param: Tensor, operands: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The operands of an update, block after block: parts of what has the shape of *param*, the others as they are.

    The parts share their elements with the whole. *operands* alone where the parameter is small, the elements of
    something lie otherwise, or somebody looks at the tensors that are written.
    """
    array = param.array
    if not is_large(param) or watch.noting or are_writes_watched():
        yield operands
        return
    tables = {
        slot: value.array
        for slot, value in operands.items()
        if isinstance(value, Tensor) and value.array.shape == array.shape
    }
    if not all(map(_plain, tables.values())):
        yield operands
        return
    flat = {slot: table.reshape(-1) for slot, table in tables.items()}
    for start in range(0, array.size, BLOCK):
        yield {**operands, **{slot: Tensor(table[start : start + BLOCK]) for slot, table in flat.items()}}


def _plain(array: Any) -> bool:
    return type(array) is np.ndarray and array.flags.c_contiguous and array.flags.writeable

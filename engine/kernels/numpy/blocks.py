"""Some rows at a time, which stay in the processor's cache from pass to pass; and how NumPy goes through them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

BLOCK = 1 << 17
"""Elements that are worked on at a time."""

_ROW = 1 << 9
"""Elements of a row from which on it is not worth copying."""


def many(x: Any) -> bool:
    """Whether the elements of *x*, an array and nothing that stands for one, are too many to be worked on at once."""
    return type(x) is np.ndarray and x.size > BLOCK


def blocks(x: Any) -> Iterator[slice]:
    """Slices of the first dimension of *x*, the first of them a longest one."""
    step = max(1, BLOCK // max(1, x.size // x.shape[0]))
    for start in range(0, x.shape[0], step):
        yield slice(start, min(start + step, x.shape[0]))


@contextmanager
def long_rows() -> Iterator[None]:
    """Numbers of rows are combined with rows as they are.

    NumPy copies both into a buffer where a row is shorter than it, so as to call its loops less often; of rows from
    some hundred elements on that takes as long again as computing. Results do not depend on it: nothing is converted
    here.
    """
    before = np.setbufsize(_ROW)
    try:
        yield
    finally:
        np.setbufsize(before)

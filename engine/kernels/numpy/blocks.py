"""Some rows at a time, which stay in the processor's cache from pass to pass; and how NumPy goes through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

BLOCK = 1 << 17
"""Elements that are worked on at a time."""

PIECE = 1 << 16
"""Elements of an array that are worked on at a time where a dozen arrays are made on the way."""

_ROW = 1 << 9
"""Elements of a row from which on it is not worth copying."""


def many(x: Any) -> bool:
    """Return whether the elements of *x*, an array and nothing that stands for one, are too many to be worked on at
    once.
    """
    return type(x) is np.ndarray and x.size > BLOCK


def blocks(x: Any) -> Iterator[slice]:
    """Slices of the first dimension of *x*, the first of them a longest one."""
    step = max(1, BLOCK // max(1, x.size // x.shape[0]))
    for start in range(0, x.shape[0], step):
        yield slice(start, min(start + step, x.shape[0]))


@contextmanager
def long_rows(width: int) -> Iterator[None]:
    """Numbers of rows of *width* elements are combined with rows as they are, if these are long.

    NumPy copies both into a buffer where a row is shorter than it, so as to call its loops less often; of rows from
    some hundred elements on that takes as long again as computing. Results do not depend on it: nothing is converted
    here.
    """
    before = np.getbufsize()
    if width >= _ROW:
        np.setbufsize(_ROW)
    try:
        yield
    finally:
        np.setbufsize(before)


def compute_in_pieces(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """*kernel*, which computes every element from the elements in its place, over one piece after the other.

    Arrays that are small, not of one shape or not laid out alike go to it as they are, and so does what stands for one.
    An operand may be None.
    """

    def compute(x: Any, *others: Any) -> Any:
        operands = (x, *others)
        if type(x) is not np.ndarray or x.size <= 2 * PIECE or not all(v is None or _lies_as(x, v) for v in operands):
            return kernel(*operands)
        flat = [v if v is None else v.reshape(-1) for v in operands]
        out = None
        for start in range(0, x.size, PIECE):
            piece = slice(start, start + PIECE)
            part = kernel(*[v if v is None else v[piece] for v in flat])
            if out is None:
                out = np.empty(x.size, part.dtype)
            out[piece] = part
        return out.reshape(x.shape)  # type: ignore[union-attr]  # there is a first piece

    return compute


def _lies_as(x: Any, other: Any) -> bool:
    return type(other) is np.ndarray and other.shape == x.shape and bool(other.flags.c_contiguous)


def combine_rows(kernel: Callable[..., Any], axis: int) -> Callable[..., Any]:
    """``kernel(*operands, axis)``, where numbers of rows along *axis* are combined with rows: see :func:`long_rows`."""

    def compute(x: Any, *others: Any) -> Any:
        if many(x) and axis in (-1, x.ndim - 1) and x.shape[-1] > _ROW:
            with long_rows(x.shape[-1]):
                return kernel(x, *others, axis)
        return kernel(x, *others, axis)

    return compute

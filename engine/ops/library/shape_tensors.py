"""Shapes that come as tensors of whole numbers."""

from __future__ import annotations

import numpy as np

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import product


def known(tensor):
    """Return whether the values of a tensor can be read: a backend that compiles does not have them yet."""
    return isinstance(tensor, np.ndarray)


def whole(tensor):
    """The whole numbers that a shape tensor holds."""
    return tuple(int(d) for d in tensor.reshape(-1))


def wholes(tensors):
    """The whole numbers that tensors of one element hold."""
    return tuple(int(t.reshape(())) for t in tensors)


def length(tensor, name):
    """Return how many numbers a shape tensor holds: the number of dimensions of the result.

    Raises:
        ShapeError: it is not known.
    """
    count = product(tensor.shape)
    if count == UNKNOWN:
        raise ShapeError(f"{name}: the length of a shape tensor must be known, but its shape is {list(tensor.shape)}")
    return count

"""Tests whether something holds somewhere: bools of many shapes as few numbers, and how these are read."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def any_of(bools: Sequence[Any]) -> Any:
    """Return whether an element of one of the arrays holds, while they are traced.

    What the arrays are computed by is fused with the disjunction of those that have the same shape, and each reduction
    is two or three calls of XLA's own. (Arrays of the same size and other shapes do not go together: what is fused
    would be computed in the order of one of them.) The largest of small numbers takes a CPU half the time of a
    disjunction of bools or less.
    """
    by_shape: dict[tuple[int, ...], Any] = {}
    for array in map(jnp.asarray, bools):
        before = by_shape.get(array.shape)
        by_shape[array.shape] = array if before is None else before | array
    most = [jnp.ravel(row).astype("uint8").max() for row in by_shape.values() if row.size]
    return (jnp.stack(most).max() if len(most) > 1 else [*most, jnp.uint8(0)][0]) != 0


def one_of(bools: Sequence[Any]) -> Any:
    """The same of what is looked at in every step, a few small arrays beside all that is computed.

    Each is a disjunction of its own here: with the largest of small numbers in its place XLA takes a quarter longer for
    the whole of an LSTM of 32 steps, whose labels alone are looked at.
    """
    return functools.reduce(jnp.logical_or, [jnp.asarray(array).any() for array in bools], jnp.asarray(False))


def first(flags: jax.Array) -> int:
    """Return the index of the first true one of *flags*, -1 for none: read where they lie on a CPU, a tenth of a
    transfer.
    """
    try:
        data = memoryview(flags).tobytes()
    except (BufferError, TypeError):  # on another device, or on several
        data = np.asarray(flags).tobytes()
    return data.find(1)

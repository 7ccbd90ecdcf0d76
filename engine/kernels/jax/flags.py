"""Whether something holds somewhere: bools of many shapes as few numbers, and how these are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TOGETHER = 1 << 14
"""Elements below which arrays of different sizes are put together."""


def any_of(bools: Sequence[Any]) -> Any:
    """Whether an element of one of the arrays holds, while they are traced.

    What the arrays are computed by is fused with the disjunction of those that have the same size. Each reduction is
    two or three calls of XLA's own, so small arrays of different sizes are put together. The largest of small numbers
    takes a CPU half the time of a disjunction of bools or less.
    """
    by_size: dict[int, Any] = {}
    for array in bools:
        flat = jnp.ravel(array)
        before = by_size.get(flat.size)
        by_size[flat.size] = flat if before is None else before | flat
    rows = [row.astype("uint8") for size, row in by_size.items() if size]
    small = [row for row in rows if row.size < TOGETHER]
    rows = [row for row in rows if row.size >= TOGETHER] + ([jnp.concatenate(small)] if small else [])
    most = [row.max() for row in rows] or [jnp.uint8(0)]
    return (most[0] if len(most) == 1 else jnp.stack(most).max()) != 0


def first(flags: jax.Array) -> int:
    """Which of *flags* is the first that is true, -1 for none: read where they lie on a CPU, a tenth of a transfer."""
    try:
        data = memoryview(flags).tobytes()
    except (BufferError, TypeError):  # on another device, or on several
        data = np.asarray(flags).tobytes()
    return data.find(1)

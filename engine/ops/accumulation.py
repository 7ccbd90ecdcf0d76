"""Running sums and products along any axis."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDE = 1 << 8
"""Elements beside each other from which on it is quicker to go from one step along the axis to the next."""


def accumulate(xp: Any, name: str, x: Any, axis: int, dtype: Any) -> Any:
    """``xp.cumsum`` or ``xp.cumprod``, by its *name*.

    NumPy goes along the axis for one element beside it after the other, far apart in memory. Where there are many, all
    of them take a step together: the same sums in the same order.
    """
    steps = x.shape[axis]
    if type(x) is not np.ndarray or x.dtype != dtype or x.dtype.kind not in "fc" or x.size < WIDE * max(steps, 2):
        return getattr(xp, name)(x, axis=axis, dtype=dtype)
    if axis in (-1, x.ndim - 1) or x.shape[-1] < WIDE // 4:
        return getattr(xp, name)(x, axis=axis, dtype=dtype)
    combine = np.add if name == "cumsum" else np.multiply
    out = np.empty(x.shape, dtype)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    target[0] = source[0]
    for step in range(1, steps):
        combine(target[step - 1], source[step], out=target[step])
    return out

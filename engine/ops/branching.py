"""One of two results, by a condition that may have no value yet."""

from __future__ import annotations

from typing import Any

import numpy as np


def pick(xp: Any, condition: Any, yes: tuple[Any, ...], no: tuple[Any, ...]) -> tuple[Any, ...]:
    """*yes* where the *condition*, of one element, holds, else *no*: arrays of the same specs, one by one.

    Where a backend compiles, both are there and it is chosen between them.
    """
    if isinstance(condition, (bool, np.bool_, np.ndarray)):
        return yes if condition else no
    return tuple([xp.where(condition, a, b) for a, b in zip(yes, no, strict=True)])

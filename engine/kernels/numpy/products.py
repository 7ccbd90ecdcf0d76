"""Products of many matrices with one, which NumPy would multiply one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override

LARGE = 1 << 14
"""From how many elements on rows are worth laying under each other: below, what that costs is more than it gains."""


def register() -> None:
    """Offer the product."""
    override("matmul_v2", "numpy")(_matmul)


def product(x: Any, y: Any) -> Any:
    """``x @ y``; where *y* is one matrix for all of *x*, one product of tall matrices: two to four times as fast."""
    if y.ndim != 2 or x.ndim < 3 or x.size < LARGE or type(x) is not np.ndarray:
        return np.matmul(x, y)
    return np.matmul(x.reshape(-1, x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[1])


def _matmul(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    if attrs["trans_x"]:
        return None
    return _multiply_transposed if attrs["trans_y"] else product


def _multiply_transposed(x: Any, y: Any) -> Any:
    return product(x, y.swapaxes(-1, -2) if y.ndim > 1 else y)

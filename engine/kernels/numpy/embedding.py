"""Gradients of look-ups: rows added where ids repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override

Array = np.ndarray[Any, Any]


def register() -> None:
    """Offer the kernel."""
    override("lookup_table_v2_grad", "numpy")(_bind)


def _bind(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel:
    padding = attrs["padding_idx"]

    def kernel(ids: Array, w: Array, dout: Array) -> Array:
        """Rows of one id are added in the order in which they occur; sorting first is quicker than ``np.add.at``."""
        out = np.zeros(w.shape, dout.dtype)
        flat, rows = ids.reshape(-1), dout.reshape((-1, *w.shape[1:]))
        if padding != -1:
            keep = flat != padding
            flat, rows = flat[keep], rows[keep]
        if not flat.size:
            return out
        order = np.argsort(flat, kind="stable")
        sorted_ids = flat[order]
        starts = np.flatnonzero(np.r_[True, sorted_ids[1:] != sorted_ids[:-1]])
        out[sorted_ids[starts]] = np.add.reduceat(rows[order], starts, axis=0)
        return out

    return kernel

"""Gradients of look-ups in large tables, which a pass of ``backward`` adds up before it makes a table of them.

The gradient of a look-up is zeros but for the rows looked up, in the size of the table; a model that looks up one table
several times adds such tables to each other, and each of them comes with new pages of memory. Where nobody but the
leaf's ``.grad`` is to have it, only its rows go on, and the table is made once, in the memory of the gradient of the
step before where that is to be had. The values are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.rows import RowSum
from ..core.spec import float32, float64
from .tape import GradNode
from .tensor import Leaf

Pull = Callable[..., Sequence[Any]]

LARGE = 1 << 20
"""Elements from which a table counts as large, where the rows are a quarter of it at most."""

LOOK_UP = "lookup_table_v2"

_TYPES = (float32.numpy, float64.numpy)

adding_rows: ContextVar[bool] = ContextVar("gradtool_adding_rows", default=False)
"""Whether the pass that runs takes sums of rows for the gradients of leaves."""


def rows_for_leaves(pull: Pull) -> Pull:
    """The gradient of a look-up: that of *pull*, or its rows alone (:class:`RowSum`) where they do."""

    def pull_rows(node: GradNode, gradients: Sequence[Any], wrt: Sequence[Any]) -> Sequence[Any]:
        values: Any = node.kept
        if type(values) is not tuple or type(wrt[0]) is not Leaf or wrt[0].hooks or not adding_rows.get():
            return pull(node, gradients, wrt)
        ids, table, dout = values[0], values[1], gradients[1]
        is_plain = type(dout) is np.ndarray and dout.dtype in _TYPES and dout.dtype == table.dtype
        if not is_plain or table.size < max(LARGE, 4 * dout.size) or node.call.attrs["is_sparse"]:
            return pull(node, gradients, wrt)
        if node.rare is not None or ids._version is not None:
            node.check()
        rows, values = ids.array.reshape(-1), dout.reshape((-1, *table.shape[1:]))
        padding = node.call.attrs["padding_idx"]
        if padding != -1:
            counts = rows != padding
            rows, values = rows[counts], values[counts]
        return (RowSum(rows, values, table.shape),)

    return pull_rows

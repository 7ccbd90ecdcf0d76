"""Look-ups whose gradients hold only the rows looked up, and optimizers that update only those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.rows import RowUpdate, SelectedRows
from ...ops.registry import get_by_type
from ..backend import Kernel, override
from ..choice import backend

ROW_BY_ROW: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "sgd": lambda attrs: True,
    "adagrad": lambda attrs: True,
    "adam": lambda attrs: bool(attrs["lazy_mode"]),
}
"""Optimizers that leave a row without gradient as it is, or are asked to, by their attributes."""


def register() -> None:
    """Offer the kernels."""
    override("lookup_table_v2_grad", "numpy")(_look_up)
    for op_type, applies in ROW_BY_ROW.items():
        override(op_type, "numpy")(partial(_optimizer, op_type, applies))


def _look_up(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    padding = attrs["padding_idx"]
    if not attrs["is_sparse"]:
        return _add_rows if padding == -1 else None

    def gradient(ids: Any, w: Any, dout: Any) -> SelectedRows:
        rows, values = ids.reshape(-1), dout.reshape((-1, *w.shape[1:]))
        if padding != -1:
            counts = rows != padding
            rows, values = rows[counts], values[counts]
        return SelectedRows(rows, values, w.shape[0])

    return gradient


def _add_rows(ids: Any, w: Any, dout: Any) -> Any:
    """As ``add_rows``, in an array of its own: what is a view of one is copied when it is fetched."""
    rows, width = w.shape
    out = np.zeros((rows, width), dout.dtype)
    places = np.add.outer(ids.reshape(-1) * width, np.arange(width))
    np.add.at(out.reshape(-1), places.reshape(-1), dout.reshape(-1))
    return out


def _optimizer(
    op_type: str, applies: Callable[[Mapping[str, Any]], bool], attrs: Mapping[str, Any], specs: Sequence[Any]
) -> Kernel | None:
    """The operator's own kernel; for a gradient of selected rows on these rows of all tables alone."""
    if not applies(attrs):
        return None
    op = get_by_type(op_type)
    general = partial(op.kernel, backend("numpy"), **{n: attrs[n] for n in op.kernel_attrs})
    at = op.input_index["Grad"]
    # An output is the new value of the input of the same name.
    sources = [op.input_index[s.name.removesuffix("Out")] for s in op.outputs]

    def update(*operands: Any) -> Any:
        grad = operands[at]
        if not isinstance(grad, SelectedRows):
            return general(*operands)
        grad = grad.merged()
        tables = {i for i, v in enumerate(operands) if i != at and v is not None and v.shape == grad.shape}
        parts = [v[grad.rows] if i in tables else v for i, v in enumerate(operands)]
        parts[at] = grad.values
        return tuple(
            RowUpdate(operands[i], grad.rows, result) if i in tables and result is not None else result
            for i, result in zip(sources, general(*parts), strict=True)
        )

    return update

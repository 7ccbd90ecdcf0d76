"""The text form of tensors: eight decimals, whole numbers as ``2.``, long tensors with their middle
left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

DECIMALS = 8
LINE = 80
"""Columns of a line."""
WHOLE = 1000
"""Elements up to which all are printed."""
EDGE = 3
"""Elements printed at either end of a dimension of a longer tensor."""
INDENT = 7
SCIENTIFIC = False
"""Whether numbers are printed with a power of ten; ``_print_options`` sets this and what is above."""


def tensor_text(tensor: Any) -> str:
    """Shape, dtype, place and values, as ``print`` shows them; of selected rows, these rows and which they are.

    >>> from gradtool import paddle
    >>> paddle.to_tensor([[0.5, 2.0]])
    Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[0.50000000, 2.        ]])
    """
    head = "Parameter containing:\n" if tensor.is_parameter else ""
    sparse = tensor.is_selected_rows()
    rows = f" rows={tensor.rows}," if sparse else ""
    values = values_text(tensor.array.values if sparse else tensor.array, INDENT)
    return (
        f"{head}Tensor(shape={list(tensor.array.shape)}, dtype={tensor.dtype.name}, place=Place(cpu), "
        f"stop_gradient={tensor.stop_gradient},{rows}\n{' ' * INDENT}{values})"
    )


def values_text(array: np.ndarray[Any, Any], indent: int) -> str:
    """The values in nested brackets, lines after the first indented by *indent*."""
    long = array.size > WHOLE
    shown = array
    if long:
        for axis, size in enumerate(array.shape):
            if size > 2 * EDGE:
                shown = np.take(shown, [*range(EDGE), *range(size - EDGE, size)], axis)
    numbers = shown.reshape(-1).tolist()
    texts = [_number(v) for v in numbers]
    width = max(map(len, texts), default=0)
    if array.dtype.kind in "ifc" or array.dtype.name == "bfloat16":
        below = [_is_below_zero(v, t) for v, t in zip(numbers, texts, strict=True)]
        if any(below):
            texts = [t if b or len(t) == width else " " + t for t, b in zip(texts, below, strict=True)]
    cells = np.array([t.ljust(width) for t in texts], object).reshape(shown.shape)
    if not array.ndim:
        return texts[0]
    return _nested(cells, array.shape, indent + 1, long)


def _is_below_zero(value: Any, text: str) -> bool:
    """Return whether there is a minus in front; for a complex number, in front of its first part that is not zero."""
    return (value.real, value.imag) < (0, 0) if isinstance(value, complex) else text[0] == "-"


def _number(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return "nan"
    if value in (float("inf"), -float("inf")):
        return f"{value}."
    if SCIENTIFIC:
        return f"{value:.{DECIMALS}e}"
    return f"{value:.0f}." if value == int(value) else f"{value:.{DECIMALS}f}"


def _nested(cells: np.ndarray[Any, Any], shape: Sequence[int], indent: int, long: bool) -> str:
    """*cells* in brackets; where they are fewer than *shape* says, dots stand in the middle."""
    parts: list[str] = []
    if cells.ndim == 1:
        parts.extend(cells.tolist())
    else:
        parts.extend(_nested(c, shape[1:], indent + 1, long) for c in cells)
    if long and shape[0] > 2 * EDGE:
        parts.insert(EDGE, "...")
    if cells.ndim > 1:
        return "[" + ("," + "\n" * (cells.ndim - 1) + " " * indent).join(parts) + "]"
    per_line = max((LINE - indent) // (max(map(len, cells.tolist()), default=0) + 2), 1)
    lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    return "[" + (",\n" + " " * indent).join(lines) + "]"

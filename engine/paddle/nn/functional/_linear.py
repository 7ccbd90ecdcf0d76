"""Affine maps and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import DtypeError, UnsupportedError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply, layer_name
from gradtool.paddle._images import FLOATS
from gradtool.paddle._remembered import remembered


class IdTypeError(DtypeError, NotImplementedError):
    """Ids that are no whole numbers (Paddle raises NotImplementedError)."""

    in_paddle = "(Unimplemented)"


@remembered
def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x · weight + bias`` over the last dimension of *x*.

    Args:
        weight: ``[inputs, outputs]``.
        bias: ``[outputs]``, or None.
    """
    tensor(x, "x", "linear")
    layer = layer_name(name, "linear")
    out = apply("matmul_v2", x, weight, name=layer)
    return out if bias is None else apply("elementwise_add", out, bias, name=layer)


@remembered
def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of *weight* at the ids in *x*.

    Args:
        weight: ``[rows, columns]``.
        padding_idx: ids whose result is zeros and which get no gradient; negative ones count from the end.
        max_norm: rows that are looked up and longer are first made so long, in the table itself; dynamic mode only.
        norm_type: which norm their length is.
        sparse: the gradient of the table holds the rows that were looked up and no others: selected rows (see
            ``Tensor.is_selected_rows``), which sums, clipping and optimizers take as they are.

    Raises:
        UsageError: *padding_idx* outside the table (a ValueError).
        UnsupportedError: *scale_grad_by_freq*, or *max_norm* in a program.
    """
    if tensor(x, "x", "embedding").dtype.name not in ("uint8", "int8", "int16", "int32", "int64"):
        raise IdTypeError(
            f"The data type of 'x' in embedding must be an integer type, but '{x.name}' is {x.dtype.name}.",
            hint=f"cast it, for example with {x.name}.astype('int64')",
        )
    tensor(weight, "weight", "embedding", (*FLOATS, "complex64", "complex128"))
    if scale_grad_by_freq:
        raise UnsupportedError("embedding: the argument scale_grad_by_freq is not part of this version of gradtool.")
    if max_norm:
        _renormed(x, weight, max_norm, norm_type)
    attrs = {
        "padding_idx": padding_index(padding_idx, weight.shape[0], "embedding"),
        "is_sparse": sparse,
        "remote_prefetch": sparse,
    }
    return apply("lookup_table_v2", x, weight, attrs=attrs, key="embedding", name=name)


def _renormed(x: Any, weight: Any, max_norm: float, norm_type: float) -> None:
    """Make the rows of the table *weight* that *x* names no longer than *max_norm*, in place."""
    if not isinstance(weight, Tensor) or not isinstance(x, Tensor):
        raise UnsupportedError("embedding: the argument max_norm is not part of this version of gradtool in programs.")
    ids = np.unique(x.array)
    table = np.array(weight.array)
    lengths = np.linalg.norm(table[ids].astype("float64"), ord=norm_type, axis=1, keepdims=True)
    table[ids] = np.where(lengths > max_norm, table[ids] * (max_norm / np.maximum(lengths, 1e-7)), table[ids])
    weight.write(table, "embedding_renorm_")


def padding_index(index: int | None, rows: int, where: str) -> int:
    """*index* counted from the front, -1 for None; raises :class:`UsageError` when it is outside the table.

    Or when it counts from the end of a table whose number of rows is not known.
    """
    if index is None:
        return -1
    if rows < 0 and index < 0:
        raise UsageError(
            f"{where}: padding_idx {index} counts from the end of the table, whose number of rows is not known.",
            hint="count it from the front, or declare how many rows the table has",
        )
    if rows > 0 and not -rows <= index < rows:
        raise UsageError(f"{where}: padding_idx must be within [-{rows}, {rows}), but received {index}.")
    return index if index >= 0 else rows + index

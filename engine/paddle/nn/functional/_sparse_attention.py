"""Attention over places that compressed rows tell, with dense operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, ShapeError
from gradtool.engine.eager.tensor import Tensor


def sparse_attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_csr_offset: Any,
    sparse_csr_columns: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Tensor:
    """``softmax(query @ keyᵀ / √depth) @ value`` over some pairs of positions.

    Args:
        query, key, value: ``[batch, heads, length, depth]``.
        sparse_csr_offset: ``[batch, heads, length + 1]``: where the keys of each query begin, and the last ones end.
        sparse_csr_columns: ``[batch, heads, pairs]``: the keys that queries look at.
        key_padding_mask: ``[batch, length]``: 0 where a key counts for nobody.
        attn_mask: ``[length, length]``: 0 where a query does not look at a key.

    Returns:
        ``[batch, heads, length, depth]``; zeros for a query that looks at nothing.

    Raises:
        ShapeError: the shapes do not fit each other (a ValueError).
        ModeError: static mode is on.
    """
    from gradtool.paddle import sparse
    from gradtool.paddle.sparse._operands import need_dynamic

    where = "paddle.nn.functional.sparse_attention"
    need_dynamic(where, query)
    ends = sparse_csr_offset, sparse_csr_columns
    for what, v in zip(("sparse_csr_offset", "sparse_csr_columns"), ends, strict=True):
        if not isinstance(v, Tensor):
            raise ArgumentTypeError(f"{where}: '{what}' must be a Tensor, but received {type(v).__name__}.")
        if v.ndim != 3 or v.shape[:2] != list(query.shape)[:2]:
            raise ShapeError(f"{where}: '{what}' must be [batch, heads, …], but has the shape {v.shape}.")
    batch, heads, length, _ = query.shape
    crows, cols = (v.array.reshape(-1) for v in ends)
    ones = np.ones(len(cols), query.array.dtype)
    pairs = sparse.sparse_csr_tensor(crows, cols, ones, [batch * heads, length, length])
    return sparse.nn.functional.attention(query, key, value, pairs, key_padding_mask, attn_mask)  # type: ignore[no-any-return]

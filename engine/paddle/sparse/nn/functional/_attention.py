"""Attention of which a sparse tensor says who may look at whom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ShapeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._manipulation import reshape, transpose
from gradtool.paddle._math import scale
from gradtool.paddle.sparse import _products
from gradtool.paddle.sparse._operands import dense, in_format, sparse, taken
from gradtool.paddle.sparse._tensor import CSR

from ._activation import softmax


def attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_mask: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Tensor:
    """``softmax(query @ keyᵀ / √depth) @ value``, over the places of *sparse_mask*.

    Args:
        query, key, value: dense, ``[batch, heads, length, depth]``.
        sparse_mask: in CSR, ``[batch · heads, length, length]``; its values do not matter.
        key_padding_mask: dense, ``[batch, length]``: 0 where a key counts for nobody.
        attn_mask: dense, ``[length, length]``: 0 where a query does not look at a key.

    Returns:
        A dense tensor ``[batch, heads, length, depth]``; zeros for a query that looks at nothing.

    Raises:
        ShapeError: the shapes do not fit each other (a ValueError).
        NotSparse: *sparse_mask* is not in CSR (a NotImplementedError).
    """
    where = "paddle.sparse.nn.functional.attention"
    query, key, value = (dense(v, n, where) for v, n in ((query, "query"), (key, "key"), (value, "value")))
    mask = sparse(sparse_mask, "sparse_mask", where, CSR)
    if query.ndim != 4 or query.shape != key.shape or query.shape != value.shape:
        raise ShapeError(
            f"{where}: query, key and value must have one shape [batch, heads, length, depth], but have {query.shape}, "
            f"{key.shape} and {value.shape}."
        )
    batch, heads, length, depth = query.shape
    if mask.shape != [batch * heads, length, length]:
        raise ShapeError(
            f"{where}: sparse_mask must have the shape {[batch * heads, length, length]}, but has {mask.shape}."
        )
    kept = np.ones(mask.nnz(), bool)
    matrix, row, column = mask.coordinates
    if key_padding_mask is not None:
        kept &= _mask(key_padding_mask, "key_padding_mask", [batch, length], where)[matrix // heads, column] != 0
    if attn_mask is not None:
        kept &= _mask(attn_mask, "attn_mask", [length, length], where)[row, column] != 0
    if not kept.all():
        mask = in_format(taken(mask.carrier, np.flatnonzero(kept)), mask.coordinates[:, kept], mask.shape, mask)
    q, k, v = (reshape(t, [batch * heads, length, depth]) for t in (query, key, value))
    scores: Any = _products.masked_matmul(q, transpose(k, [0, 2, 1]), mask)
    weights = softmax(scores.of_values(scale(scores.carrier, 1 / math.sqrt(depth))))
    return reshape(_products.matmul(weights, v), query.shape)  # type: ignore[return-value]


def _mask(value: Any, what: str, shape: list[int], where: str) -> Any:
    mask = dense(value, what, where)
    if mask.shape != shape:
        raise ShapeError(f"{where}: {what} must have the shape {shape}, but has {mask.shape}.")
    return mask.array

"""Attention with its scores scaled by the size of the heads."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS

from ._activation import softmax
from ._dropout import dropout
from ._sparse_attention import sparse_attention as sparse_attention


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
    backend: str | None = None,
) -> Any:
    """``softmax(q·kᵀ / sqrt(head size) + mask)·v`` for every head (Vaswani et al. 2017).

    Args:
        query: ``[batch, length, heads, head size]``, or without the batch.
        key, value: ``[batch, keys, heads, head size]``, or without the batch.
        attn_mask: what is added to the scores ``[batch, heads, length, keys]``, or bools that are false for what must
            not be seen.
        dropout_p: the part of the weights that training sets to zero.
        is_causal: let every step see only itself and those before it; needs as many keys as steps.
        backend: accepted for compatibility; there is one way to compute it.

    Raises:
        ShapeError: other numbers of dimensions, or causal attention between lengths that are not known (a ValueError).
    """
    where = "scaled_dot_product_attention"
    operands = [tensor(v, n, where, FLOATS) for v, n in ((query, "query"), (key, "key"), (value, "value"))]
    ndim = operands[0].ndim
    if ndim not in (3, 4) or any(v.ndim != ndim for v in operands):
        raise ShapeError(
            f"{where}: query, key and value must have the shape [batch, length, heads, head size], but they are "
            + ", ".join(str(list(v.shape)) for v in operands)
        )
    if ndim == 3:
        operands = [paddle.unsqueeze(v, [0]) for v in operands]
    if attn_mask is not None and tensor(attn_mask, "attn_mask", where).dtype.name == "bool":
        numbers = [paddle.to_tensor(n, dtype=operands[0].dtype) for n in (0.0, -math.inf)]
        attn_mask = paddle.where(attn_mask, *numbers)
    q, k, v = (paddle.transpose(x, [0, 2, 1, 3]) for x in operands)
    scores = paddle.matmul(q * q.shape[-1] ** -0.5, k, transpose_y=True)
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal and scores.shape[-2] != scores.shape[-1] and UNKNOWN not in scores.shape[-2:]:
        seen = paddle.tril(paddle.ones(scores.shape[-2:], "bool"))
        weights = softmax(paddle.where(seen, scores, paddle.full([], -math.inf, scores.dtype)))
    else:
        weights = apply("fused_softmax_mask_upper_triangle", scores) if is_causal else softmax(scores)
    seen = paddle.matmul(dropout(weights, dropout_p, training=training), v)
    out = paddle.transpose(seen, [0, 2, 1, 3])
    return paddle.squeeze(out, [0]) if ndim == 3 else out

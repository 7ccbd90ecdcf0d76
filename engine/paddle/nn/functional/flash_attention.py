"""``paddle.nn.functional.flash_attention``: attention under the names of fast kernels, computed as it is defined."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from gradtool.paddle import _lazy
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS

from ._activation import softmax
from ._attention import scaled_dot_product_attention as scaled_dot_product_attention
from ._dropout import dropout as dropped

__all__ = ["flash_attention", "flash_attn_qkvpacked", "scaled_dot_product_attention"]

__getattr__ = _lazy.refuse(__name__, globals())


def flash_attention(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Any, Any]:
    """``softmax(q·kᵀ · scale)·v`` for every head, and the softmax if it is wanted.

    Args:
        query, key, value: ``[batch, length, heads, head size]``.
        dropout: the part of the weights that training sets to zero.
        causal: let every step see only itself and those before it; needs as many keys as steps.
        return_softmax: return the weights too, ``[batch, heads, length, keys]``; None otherwise.
        fixed_seed_offset, rng_name: taken for the sake of existing code.
        softmax_scale: what the scores are multiplied by; ``1 / sqrt(head size)`` by default.

    Raises:
        ShapeError: other numbers of dimensions (a ValueError).
    """
    operands = [tensor(v, n, "flash_attention", FLOATS) for v, n in ((query, "query"), (key, "key"), (value, "value"))]
    if any(v.ndim != 4 for v in operands):
        raise ShapeError(
            "flash_attention: query, key and value must have the shape [batch, length, heads, head size], but they are "
            + ", ".join(str(list(v.shape)) for v in operands)
        )
    q, k, v = (paddle.transpose(x, [0, 2, 1, 3]) for x in operands)
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    scores = paddle.matmul(q * scale, k, transpose_y=True)
    weights = apply("fused_softmax_mask_upper_triangle", scores) if causal else softmax(scores)
    if dropout > 0:
        weights = dropped(weights, dropout, training=training, mode="upscale_in_train")
    out = paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3])
    return out, weights if return_softmax else None


def flash_attn_qkvpacked(
    qkv: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """:func:`flash_attention` of queries, keys and values in one tensor.

    Args:
        qkv: ``[batch, length, groups + 2, heads, head size]``: groups of queries, then keys, then values.

    Raises:
        ShapeError: another number of dimensions, or fewer than three parts (a ValueError).
    """
    tensor(qkv, "qkv", "flash_attn_qkvpacked", FLOATS)
    if qkv.ndim != 5 or qkv.shape[2] < 3:
        raise ShapeError(
            f"flash_attn_qkvpacked: qkv {list(qkv.shape)} must be [batch, length, groups + 2, heads, head size]"
        )
    groups = qkv.shape[2] - 2
    query = paddle.reshape(qkv[:, :, :groups], [0, 0, groups * qkv.shape[3], qkv.shape[4]])
    return flash_attention(query, qkv[:, :, groups], qkv[:, :, groups + 1], dropout, causal, return_softmax)

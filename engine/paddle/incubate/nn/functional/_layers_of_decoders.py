"""Many layers of a decoder in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn._attention import additive_mask

from ._attention import WHERE, attended, refuse, refuse_ring
from ._normed import fused_rms_norm


def fused_multi_transformer(
    x: Any,
    ln_scales: Sequence[Any],
    ln_biases: Sequence[Any] | None,
    qkv_weights: Sequence[Any],
    qkv_biases: Sequence[Any] | None,
    linear_weights: Sequence[Any],
    linear_biases: Sequence[Any] | None,
    ffn_ln_scales: Sequence[Any],
    ffn_ln_biases: Sequence[Any] | None,
    ffn1_weights: Sequence[Any],
    ffn1_biases: Sequence[Any] | None,
    ffn2_weights: Sequence[Any],
    ffn2_biases: Sequence[Any] | None,
    pre_layer_norm: bool = True,
    epsilon: float = 1e-05,
    residual_alpha: float = 1.0,
    cache_kvs: Sequence[Any] | None = None,
    beam_offset: Any = None,
    pre_caches: Any = None,
    seq_lens: Any = None,
    rotary_embs: Any = None,
    time_step: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.0,
    rotary_emb_dims: int = 0,
    activation: str = "gelu",
    training: bool = False,
    mode: str = "upscale_in_train",
    trans_qkvw: bool = True,
    ring_id: int = -1,
    norm_type: str = "layernorm",
    use_neox_rotary_style: bool = False,
    gqa_group_size: int = -1,
    name: str | None = None,
) -> Any:
    """Layers of attention and two linear layers, one after the other; every argument in the plural has one a layer.

    Args:
        x: ``[batch, length, size]``.
        qkv_weights: ``[3, heads, head size, size]`` each, ``[size, 3, heads, head size]`` without *trans_qkvw*.
        pre_layer_norm: norm what a part gets; otherwise the sum of it and what the part makes.
        residual_alpha: what is added to, times this.
        cache_kvs: ``[2, batch, heads, steps, head size]`` each: keys and values, written in place.
        time_step: ``[1]``, how many steps are in the caches; None fills them from the beginning.
        attn_mask: added to scores ``[batch, heads, length, steps]``.
        activation: ``"gelu"`` or ``"relu"``.
        norm_type: ``"layernorm"`` or ``"rmsnorm"``.

    Returns:
        What the last layer makes; with *cache_kvs* these, too.

    Raises:
        UsageError: another activation or norm (a ValueError).
        UnsupportedError: beams, rotations, shared heads or several devices are asked for (a ValueError).
    """
    where = f"{WHERE}.fused_multi_transformer"
    refuse(where, beam_offset=beam_offset, pre_caches=pre_caches, seq_lens=seq_lens, rotary_embs=rotary_embs)
    refuse_ring(where, ring_id)
    if gqa_group_size > 0:
        raise UnsupportedError(f"{where}: heads that share keys (gqa_group_size) are not implemented in gradtool.")
    functions = {"relu": F.relu, "gelu": F.gelu}
    if activation not in functions or norm_type not in ("layernorm", "rmsnorm"):
        raise UsageError(f"{where}: no activation {activation!r} with norm {norm_type!r}.")
    size = x.shape[-1]

    def of(values: Sequence[Any] | None, i: int) -> Any:
        return values[i] if values else None

    def normed(value: Any, scale: Any, bias: Any) -> Any:
        if norm_type == "layernorm":
            return F.layer_norm(value, [size], scale, bias, epsilon)
        return fused_rms_norm(value, scale, bias, epsilon, len(value.shape) - 1)[0]

    for i, qkv_weight in enumerate(qkv_weights):
        norm = (of(ln_scales, i), of(ln_biases, i))
        entry = normed(x, *norm) if pre_layer_norm else x
        matrix = qkv_weight if trans_qkvw else paddle.transpose(qkv_weight, [1, 2, 3, 0])
        out = _attention(entry, matrix, of(qkv_biases, i), of(cache_kvs, i), time_step, attn_mask)
        out = F.linear(out, linear_weights[i], of(linear_biases, i))
        x = x * residual_alpha + F.dropout(out, dropout_rate, training=training, mode=mode)
        x = x if pre_layer_norm else normed(x, *norm)
        norm = (of(ffn_ln_scales, i), of(ffn_ln_biases, i))
        entry = normed(x, *norm) if pre_layer_norm else x
        hidden = functions[activation](F.linear(entry, ffn1_weights[i], of(ffn1_biases, i)))
        hidden = F.dropout(hidden, dropout_rate, training=training, mode=mode)
        out = F.linear(hidden, ffn2_weights[i], of(ffn2_biases, i))
        x = x * residual_alpha + F.dropout(out, dropout_rate, training=training, mode=mode)
        x = x if pre_layer_norm else normed(x, *norm)
    return x if cache_kvs is None else (x, cache_kvs)


def _attention(x: Any, weight: Any, bias: Any, cache: Any, time_step: Any, mask: Any) -> Any:
    """Attention of *x* to itself, and to the steps of a cache, without the product behind it."""
    batch, length, size = x.shape
    _, heads, head, _ = weight.shape
    qkv = paddle.matmul(x, paddle.reshape(weight, [3 * heads * head, size]), transpose_y=True)
    qkv = qkv if bias is None else qkv + paddle.reshape(bias, [-1])
    qkv = paddle.transpose(paddle.reshape(qkv, [batch, length, 3, heads, head]), [2, 0, 3, 1, 4])
    q, k, v = paddle.unbind(qkv, 0)
    if cache is not None:
        start = 0 if time_step is None else int(time_step)
        pair = paddle.stack([k, v])
        with paddle.no_grad():
            new = paddle.concat([cache[:, :, :, :start], pair, cache[:, :, :, start + length :]], 3)
            cache.set_value(new)
        if start:
            k, v = paddle.unbind(paddle.concat([cache[:, :, :, :start], pair], 3), 0)
    out = attended(q, k, v, additive_mask(mask, q), head**-0.5)
    return paddle.reshape(paddle.transpose(out, [0, 2, 1, 3]), [batch, length, heads * head])

"""Attention with the products around it."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UnsupportedError, UsageError
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn._attention import additive_mask

WHERE = "paddle.incubate.nn.functional"


def refuse_ring(where: str, ring_id: int) -> None:
    """Raise :class:`UnsupportedError` where results of several devices would be summed (a ValueError)."""
    if ring_id != -1:
        raise UnsupportedError(f"{where}: ring_id sums over several devices, and gradtool computes in one process.")


def refuse(where: str, **arguments: Any) -> None:
    """Raise :class:`UnsupportedError` for an argument that is not None (a ValueError)."""
    for name, value in arguments.items():
        if value is not None:
            raise UnsupportedError(f"{where}: {name} is not implemented in gradtool; it must be None.")


def attended(
    q: Any,
    k: Any,
    v: Any,
    mask: Any,
    scale: float,
    rate: float = 0.0,
    training: bool = True,
    mode: str = "upscale_in_train",
) -> Any:
    """``dropout(softmax(q · k * scale + mask)) · v`` of ``[…, length, size]``."""
    scores = paddle.matmul(q * scale, k, transpose_y=True)
    if mask is not None:
        scores = scores + mask
    weights = F.softmax(scores, axis=-1)
    if rate:
        weights = F.dropout(weights, rate, training=training, mode=mode)
    return paddle.matmul(weights, v)


def fused_multi_head_attention(
    x: Any,
    qkv_weight: Any,
    linear_weight: Any,
    pre_layer_norm: bool = False,
    pre_ln_scale: Any = None,
    pre_ln_bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    pre_ln_epsilon: float = 1e-05,
    qkv_bias: Any = None,
    linear_bias: Any = None,
    cache_kv: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-05,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:
    """Attention of a sequence to itself, added to it, with a layer norm before or after.

    Args:
        x: ``[batch, length, size]``.
        qkv_weight: ``[3, heads, head size, size]``, or ``[size, 3 · size]`` with *transpose_qkv_wb*, which needs
            *num_heads*; *qkv_bias* is ``[3, heads, head size]`` or ``[3 · size]``.
        linear_weight: ``[size, size]``.
        pre_layer_norm: norm *x* before (*pre_ln_scale*, *pre_ln_bias*) instead of the sum (*ln_scale*, *ln_bias*).
        cache_kv: ``[2, batch, heads, steps, head size]``, keys and values of steps before; the new one is returned.
        attn_mask: is added to scores ``[batch, heads, length, steps]``; False and 0 hide where it has no floats.

    Raises:
        ShapeError: a weight that does not fit (a ValueError).
        UnsupportedError: *ring_id* (a ValueError).
    """
    where = f"{WHERE}.fused_multi_head_attention"
    refuse_ring(where, ring_id)
    batch, length, size = x.shape
    entry = F.layer_norm(x, [size], pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    if transpose_qkv_wb:
        if num_heads <= 0 or size % num_heads:
            raise ShapeError(f"{where}: num_heads must divide the size {size}, but received {num_heads}.")
        heads, head = num_heads, size // num_heads
        qkv = paddle.matmul(entry, qkv_weight)
        qkv = qkv if qkv_bias is None else qkv + qkv_bias
    else:
        if len(qkv_weight.shape) != 4 or qkv_weight.shape[0] != 3 or qkv_weight.shape[3] != size:
            raise ShapeError(
                f"{where}: qkv_weight must be [3, heads, head size, {size}], but is {list(qkv_weight.shape)}."
            )
        heads, head = qkv_weight.shape[1], qkv_weight.shape[2]
        qkv = paddle.matmul(entry, paddle.reshape(qkv_weight, [3 * heads * head, size]), transpose_y=True)
        qkv = qkv if qkv_bias is None else qkv + paddle.reshape(qkv_bias, [3 * heads * head])
    q, k, v = paddle.unbind(paddle.transpose(paddle.reshape(qkv, [batch, length, 3, heads, head]), [2, 0, 3, 1, 4]), 0)
    if cache_kv is not None:
        k, v = paddle.concat([cache_kv[0], k], 2), paddle.concat([cache_kv[1], v], 2)
    out = attended(q, k, v, additive_mask(attn_mask, q), head**-0.5, attn_dropout_rate, training, mode)
    out = paddle.reshape(paddle.transpose(out, [0, 2, 1, 3]), [batch, length, heads * head])
    out = paddle.matmul(out, linear_weight)
    out = out if linear_bias is None else out + linear_bias
    out = F.dropout(out, dropout_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    if not pre_layer_norm:
        out = F.layer_norm(out, [size], ln_scale, ln_bias, ln_epsilon)
    return out if cache_kv is None else (out, paddle.stack([k, v]))


def fused_feedforward(
    x: Any,
    linear1_weight: Any,
    linear2_weight: Any,
    linear1_bias: Any = None,
    linear2_bias: Any = None,
    ln1_scale: Any = None,
    ln1_bias: Any = None,
    ln2_scale: Any = None,
    ln2_bias: Any = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Any:
    """Two linear layers with an activation between, added to *x*, with a layer norm before or after.

    Args:
        x: ``[batch, length, size]``.
        pre_layer_norm: norm *x* before (*ln1_scale*, *ln1_bias*) instead of the sum (*ln2_scale*, *ln2_bias*).
        dropout1_rate, dropout2_rate: after the activation, and of what is added.
        activation: ``"relu"`` or ``"gelu"``.

    Raises:
        UsageError: another activation (a ValueError).
        UnsupportedError: *ring_id* (a ValueError).
    """
    where = f"{WHERE}.fused_feedforward"
    refuse_ring(where, ring_id)
    functions = {"relu": F.relu, "gelu": F.gelu}
    if activation not in functions:
        raise UsageError(f"{where}: activation must be 'relu' or 'gelu', but received {activation!r}.")
    size = x.shape[-1]
    entry = F.layer_norm(x, [size], ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    hidden = functions[activation](F.linear(entry, linear1_weight, linear1_bias))
    hidden = F.dropout(hidden, dropout1_rate, training=training, mode=mode)
    out = F.dropout(F.linear(hidden, linear2_weight, linear2_bias), dropout2_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    return out if pre_layer_norm else F.layer_norm(out, [size], ln2_scale, ln2_bias, ln2_epsilon)


def fused_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scaling_factor: float | None = None,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """``dropout(softmax(query · key * scaling_factor + attn_mask)) · value`` of ``[batch, length, heads, size]``.

    Args:
        attn_mask: is added to scores ``[batch, heads, length, steps]``; ignored if *is_causal*.
        is_causal: no step sees a later one.
        scaling_factor: ``1 / √size`` when None.
    """
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (query, key, value))
    mask = additive_mask(attn_mask, q)
    if is_causal:
        mask = paddle.triu(paddle.full([q.shape[2], k.shape[2]], float("-inf"), q.dtype), 1)
    scale = query.shape[-1] ** -0.5 if scaling_factor is None else scaling_factor
    return paddle.transpose(attended(q, k, v, mask, scale, dropout_p, training), [0, 2, 1, 3])


def fused_gate_attention(
    query: Any,
    key: Any = None,
    query_weight: Any = None,
    key_weight: Any = None,
    value_weight: Any = None,
    qkv_weight: Any = None,
    gate_linear_weight: Any = None,
    gate_linear_bias: Any = None,
    out_linear_weight: Any = None,
    out_linear_bias: Any = None,
    nonbatched_bias: Any = None,
    attn_mask: Any = None,
    has_gating: bool = True,
    merge_qkv: bool = True,
    use_flash_attn: bool = False,
) -> Any:
    """Attention whose result is multiplied with a gate, over the third dimension of ``[batch, rows, length, size]``.

    Args:
        query, key: what attends, and to what; *key* only without *merge_qkv*.
        query_weight, key_weight, value_weight: ``[size, heads, head size]``, without *merge_qkv*.
        qkv_weight: ``[3, heads, head size, size]``, with *merge_qkv*.
        gate_linear_weight, gate_linear_bias: ``[size, heads, head size]`` and ``[heads, head size]``, if *has_gating*.
        out_linear_weight, out_linear_bias: ``[heads, head size, outputs]`` and ``[outputs]``.
        nonbatched_bias: ``[batch, heads, length, length]``, added to scores.
        attn_mask: ``[batch, rows, 1, 1, length]``, added to scores.
        use_flash_attn: accepted for compatibility.
    """
    if merge_qkv:
        projected = paddle.einsum("nbqa,thca->tnbqhc", query, qkv_weight)
        q, k, v = paddle.unbind(projected, 0)
    else:
        key = query if key is None else key
        q = paddle.einsum("nbqa,ahc->nbqhc", query, query_weight)
        k = paddle.einsum("nbka,ahc->nbkhc", key, key_weight)
        v = paddle.einsum("nbka,ahc->nbkhc", key, value_weight)
    scores = paddle.einsum("nbqhc,nbkhc->nbhqk", q * q.shape[-1] ** -0.5, k)
    if attn_mask is not None:
        scores = scores + attn_mask
    if nonbatched_bias is not None:
        scores = scores + paddle.unsqueeze(nonbatched_bias, 1)
    mean = paddle.einsum("nbhqk,nbkhc->nbqhc", F.softmax(scores), v)
    if has_gating:
        gate = paddle.einsum("nbqa,ahc->nbqhc", query, gate_linear_weight) + gate_linear_bias
        mean = mean * F.sigmoid(gate)
    return paddle.einsum("nbqhc,hco->nbqo", mean, out_linear_weight) + out_linear_bias


def variable_length_memory_efficient_attention(
    query: Any,
    key: Any,
    value: Any,
    seq_lens: Any,
    kv_seq_lens: Any,
    mask: Any = None,
    scale: float | None = None,
    causal: bool = False,
    pre_cache_length: int = 0,
) -> Any:
    """Attention of ``[batch, heads, length, size]`` whose sequences end earlier; 0 behind the end of a query.

    Args:
        seq_lens, kv_seq_lens: ``[batch, 1]``, where queries, and keys and values, end.
        mask: ``[batch, 1, length, steps]``, added to scores.
        scale: ``1 / √size`` when None.
        causal: no step sees a later one.
        pre_cache_length: how many keys stand before those of the queries' steps.
    """
    dtype, length, steps = query.dtype, query.shape[2], key.shape[2]
    ends = paddle.reshape(kv_seq_lens, [-1, 1, 1, 1]) + pre_cache_length
    places = paddle.reshape(paddle.arange(0, steps, 1, ends.dtype), [1, 1, 1, -1])
    hidden = places >= ends
    if causal:
        rows = paddle.reshape(paddle.arange(0, length, 1, ends.dtype), [1, 1, -1, 1])
        hidden = paddle.logical_or(hidden, places > rows + pre_cache_length)
    shut = paddle.cast(hidden, dtype) * -1e9
    out = attended(
        query, key, value, shut if mask is None else shut + mask, query.shape[-1] ** -0.5 if scale is None else scale
    )
    rows = paddle.reshape(paddle.arange(0, length, 1, seq_lens.dtype), [1, 1, -1, 1])
    return out * paddle.cast(rows < paddle.reshape(seq_lens, [-1, 1, 1, 1]), dtype)


def masked_multihead_attention(
    x: Any,
    cache_kv: Any = None,
    bias: Any = None,
    src_mask: Any = None,
    cum_offsets: Any = None,
    sequence_lengths: Any = None,
    rotary_tensor: Any = None,
    beam_cache_offset: Any = None,
    qkv_out_scale: Any = None,
    out_shift: Any = None,
    out_smooth: Any = None,
    seq_len: int = 1,
    rotary_emb_dims: int = 0,
    use_neox_rotary_style: bool = False,
    compute_dtype: str = "default",
    out_scale: float = -1,
    quant_round_type: int = 1,
    quant_max_bound: float = 127.0,
    quant_min_bound: float = -127.0,
) -> tuple[Any, Any]:
    """One step of a sequence, attending to the steps in a cache, into which its key and value are written.

    Args:
        x: ``[batch, 3 · heads · size]``, query, key and value.
        cache_kv: ``[2, batch, heads, steps, size]``; written in place.
        bias: ``[3, heads, size]``, added to *x*.
        src_mask: ``[batch, 1, 1, steps so far]``, added to scores.
        sequence_lengths: ``[batch, 1]``, how many steps are in the cache; one less than *src_mask* has when None.

    Returns:
        ``[batch, heads · size]``, and the cache.

    Raises:
        UsageError: neither *sequence_lengths* nor *src_mask*, or no cache (a ValueError).
        UnsupportedError: rotations, beams or numbers of 8 bits are asked for (a ValueError).
    """
    where = f"{WHERE}.masked_multihead_attention"
    refuse(
        where,
        cum_offsets=cum_offsets,
        rotary_tensor=rotary_tensor,
        beam_cache_offset=beam_cache_offset,
        qkv_out_scale=qkv_out_scale,
        out_shift=out_shift,
        out_smooth=out_smooth,
    )
    if out_scale > 0:
        raise UnsupportedError(f"{where}: the result would be quantised to 8 bits, which gradtool does not do.")
    if cache_kv is None or (sequence_lengths is None and src_mask is None):
        raise UsageError(f"{where} needs cache_kv, and sequence_lengths or src_mask.")
    _, batch, heads, steps, size = cache_kv.shape
    qkv = paddle.reshape(x, [batch, 3, heads, size])
    qkv = qkv if bias is None else qkv + bias
    q, k, v = paddle.unbind(qkv, 1)
    if sequence_lengths is None:
        sequence_lengths = paddle.full([batch, 1], src_mask.shape[-1] - 1, "int64")
    now = paddle.reshape(paddle.cast(sequence_lengths, "int64"), [batch, 1, 1])
    places = paddle.reshape(paddle.arange(0, steps, 1, "int64"), [1, 1, steps])
    here = paddle.unsqueeze(paddle.cast(places == now, x.dtype), -1)
    keys = cache_kv[0] * (1 - here) + paddle.unsqueeze(k, 2) * here
    values = cache_kv[1] * (1 - here) + paddle.unsqueeze(v, 2) * here
    shut = paddle.unsqueeze(paddle.cast(places > now, x.dtype) * -1e9, 2)
    if src_mask is not None:
        rest = paddle.zeros([*src_mask.shape[:-1], steps - src_mask.shape[-1]], src_mask.dtype)
        shut = shut + paddle.concat([src_mask, rest], -1)
    out = attended(paddle.unsqueeze(q, 2), keys, values, shut, size**-0.5)
    with paddle.no_grad():
        cache_kv.set_value(paddle.stack([keys, values]))
    return paddle.reshape(out, [batch, heads * size]), cache_kv

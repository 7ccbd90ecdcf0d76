"""Fused layers and functions against the plain ones that they are made of, and names and shapes of Paddle 3.3.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.incubate import nn as fused
from gradtool.paddle.incubate.nn import functional as F

pytestmark = pytest.mark.usefixtures("dynamic")


def drawn(*shape: int, seed: int = 0) -> Any:
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape), "float64", stop_gradient=False)


def close(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-9)


# -- layers ------------------------------------------------------------------------------------------------------------

ATTENTION = {
    "qkv_weight": [3, 2, 4, 8],
    "qkv_bias": [3, 2, 4],
    "linear_weight": [8, 8],
    "linear_bias": [8],
}
FORWARD = {"_linear1_weight": [8, 16], "_linear1_bias": [16], "_linear2_weight": [16, 8], "_linear2_bias": [8]}
LAYERS: list[tuple[Any, dict[str, list[int]]]] = [
    (lambda: fused.FusedLinear(4, 3), {"weight": [4, 3], "bias": [3]}),
    (lambda: fused.FusedLinear(4, 3, transpose_weight=True), {"weight": [3, 4], "bias": [3]}),
    (
        lambda: fused.FusedBiasDropoutResidualLayerNorm(4),
        {"linear_bias": [4], "ln_scale": [4], "ln_bias": [4]},
    ),
    (lambda: fused.FusedMultiHeadAttention(8, 2), {**ATTENTION, "ln_scale": [8], "ln_bias": [8]}),
    (
        lambda: fused.FusedMultiHeadAttention(8, 2, normalize_before=True, transpose_qkv_wb=True),
        {**ATTENTION, "qkv_weight": [8, 24], "qkv_bias": [24], "pre_ln_scale": [8], "pre_ln_bias": [8]},
    ),
    (lambda: fused.FusedFeedForward(8, 16), {**FORWARD, "_ln2_scale": [8], "_ln2_bias": [8]}),
    (lambda: fused.FusedFeedForward(8, 16, normalize_before=True), {**FORWARD, "_ln1_scale": [8], "_ln1_bias": [8]}),
]


@pytest.mark.parametrize(("make", "shapes"), LAYERS)
def test_parameters_are_those_of_paddle(make: Any, shapes: dict[str, list[int]]) -> None:
    assert {name: list(p.shape) for name, p in make().state_dict().items()} == shapes


@pytest.mark.usefixtures("fresh_names")
def test_a_decoder_of_many_layers_names_its_parameters_by_themselves() -> None:
    layer = fused.FusedMultiTransformer(8, 2, 16, num_layers=2, ln_bias_attrs=paddle.ParamAttr())
    assert [(name, list(p.shape)) for name, p in layer.state_dict().items()][:3] == [
        ("fused_multi_transformer_0.w_0", [8]),
        ("fused_multi_transformer_0.b_0", [8]),
        ("fused_multi_transformer_0.w_1", [3, 2, 4, 8]),
    ]
    assert len(layer.parameters()) == 14
    assert layer.qkv_biases is None
    out = layer(paddle.ones([1, 3, 8]))
    out.sum().backward()
    assert all(p.grad is not None for p in layer.parameters())


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("before", [False, True])
def test_an_encoder_layer_computes_what_the_plain_one_does(before: bool) -> None:
    paddle.disable_static()
    own = fused.FusedTransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    plain = paddle.nn.TransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    for p in own.parameters():
        p.set_value(drawn(*p.shape, seed=len(p.name)))
    attention, feed = own.fused_attn, own.ffn
    for part, name in enumerate(("q_proj", "k_proj", "v_proj")):
        projection = getattr(plain.self_attn, name)
        projection.weight.set_value(attention.qkv_weight[part].reshape([8, 8]).t())
        projection.bias.set_value(attention.qkv_bias[part].reshape([8]))
    plain.self_attn.out_proj.weight.set_value(attention.linear_weight)
    plain.self_attn.out_proj.bias.set_value(attention.linear_bias)
    for i in (1, 2):
        getattr(plain, f"linear{i}").weight.set_value(getattr(feed, f"_linear{i}_weight"))
        getattr(plain, f"linear{i}").bias.set_value(getattr(feed, f"_linear{i}_bias"))
    norms = (
        ((attention.pre_ln_scale, attention.pre_ln_bias), (feed._ln1_scale, feed._ln1_bias))
        if before
        else ((attention.ln_scale, attention.ln_bias), (feed._ln2_scale, feed._ln2_bias))
    )
    for norm, (scale, bias) in zip((plain.norm1, plain.norm2), norms, strict=True):
        norm.weight.set_value(scale)
        norm.bias.set_value(bias)
    x, y = drawn(2, 3, 8), drawn(2, 3, 8)
    mask = paddle.to_tensor(np.tril(np.ones((2, 2, 3, 3))) > 0)
    got, wanted = own(x, mask), plain(y, mask)
    close(got, wanted)
    (got * got).sum().backward()
    (wanted * wanted).sum().backward()
    close(x.grad, y.grad)
    close(feed._linear1_weight.grad, plain.linear1.weight.grad)


# -- functions ---------------------------------------------------------------------------------------------------------


def test_norms_add_before_they_norm() -> None:
    x, residual, bias, weight = drawn(3, 4), drawn(3, 4, seed=1), drawn(4, seed=2), drawn(4, seed=3)
    total = x + residual * 0.5 + bias
    out, kept, mean, factor = F.fused_layer_norm(x, weight, bias, 1e-5, 0.5, 1, bias, residual)
    close(out, paddle.nn.functional.layer_norm(total, 4, weight, bias, 1e-5))
    close(kept, total)
    np.testing.assert_allclose(mean.numpy(), total.numpy().mean(1))
    np.testing.assert_allclose(factor.numpy(), 1 / np.sqrt(total.numpy().var(1) + 1e-5))
    assert F.fused_layer_norm(x, None, None, 1e-5, bias=bias)[0].numpy().tolist() == (x + bias).numpy().tolist()
    out, kept = F.fused_rms_norm(x, weight, None, 1e-6)
    close(out, paddle.nn.functional.rms_norm(x, 4, weight, 1e-6)[0])
    assert kept is None
    close(F.fast_rms_norm(x, weight, 1e-6)[0], out)
    close(F.fast_ln(x, weight, bias)[0], paddle.nn.functional.layer_norm(x, 4, weight, bias, 1e-5))
    with pytest.raises(ValueError, match="quantised to 8 bits"):
        F.fused_rms_norm(x, weight, None, 1e-6, quant_scale=1.0)


def test_products_and_activations() -> None:
    x, y, bias = drawn(3, 4), drawn(5, 4, seed=1), drawn(5, seed=2)
    close(F.fused_linear(x, y, bias, transpose_weight=True), x @ y.t() + bias)
    wanted = paddle.nn.functional.gelu(x @ y.t() + bias, approximate=True)
    close(F.fused_linear_activation(x, y, bias, trans_y=True, activation="gelu"), wanted)
    close(F.fused_bias_act(x, x, act_method="silu"), paddle.nn.functional.silu(x + x))
    matrices = drawn(2, 4, 5, seed=3)
    close(F.batched_gemm(x, matrices, [1, 2]), paddle.concat([x[:1] @ matrices[0], x[1:] @ matrices[1]]))
    with pytest.raises(ValueError, match="add up to 4"):
        F.batched_gemm(x, matrices, [1, 3])
    with pytest.raises(ValueError, match="act_method must be one of"):
        F.fused_bias_act(x, act_method="tan")


def test_dropouts_with_what_is_added() -> None:
    x, y = drawn(3, 4), drawn(3, 4, seed=1)
    close(F.fused_dropout_add(x, y, 0.5, training=False), x + y)
    wanted = paddle.nn.functional.layer_norm(y + x, 4)
    close(F.fused_bias_dropout_residual_layer_norm(x, y, dropout_rate=0.0), wanted)
    assert fused.FusedDropout(0.0)(x).numpy().tolist() == x.numpy().tolist()


def test_the_backward_of_a_weighted_swiglu() -> None:
    x, prob, upstream = drawn(3, 8), drawn(3, seed=1), drawn(3, 4, seed=2)
    out = paddle.nn.functional.swiglu(x) * prob.unsqueeze(-1)
    wanted = paddle.grad(out, [x, prob], upstream)
    got = F.fused_swiglu_weighted_bwd(x, upstream, prob)
    close(got[0], wanted[0])
    close(got[1], wanted[1])
    close(got[2], out)


@pytest.mark.parametrize("neighbours", [True, False])
def test_positions_turn_pairs_and_keep_their_lengths(neighbours: bool) -> None:
    q, k = drawn(2, 5, 3, 4), drawn(2, 5, 3, 4, seed=1)
    turned, _, nothing = F.fused_rotary_position_embedding(q, k, use_neox_rotary_style=neighbours)
    assert nothing is None
    np.testing.assert_allclose((turned**2).sum(-1).numpy(), (q**2).sum(-1).numpy(), rtol=1e-5)
    # A product depends on how far apart positions are, and not on where they stand.
    same = paddle.ones([1, 5, 1, 4], "float64")
    a, _, _ = F.fused_rotary_position_embedding(same, use_neox_rotary_style=neighbours)
    products = (a[0, :, 0] @ a[0, :, 0].t()).numpy()
    np.testing.assert_allclose(np.diag(products, 1), products[0, 1], rtol=1e-5)
    ids = paddle.to_tensor([[4, 3, 2, 1, 0]] * 2)
    backwards, _, _ = F.fused_rotary_position_embedding(q.flip([1]), position_ids=ids, use_neox_rotary_style=neighbours)
    close(backwards.flip([1]), turned)
    major, _, _ = F.fused_rotary_position_embedding(
        q.transpose([1, 0, 2, 3]), use_neox_rotary_style=neighbours, time_major=True
    )
    close(major.transpose([1, 0, 2, 3]), turned)
    with pytest.raises(ValueError, match="given together"):
        F.fused_rotary_position_embedding(q, sin=q)


def test_the_first_angles_are_those_of_the_paper() -> None:
    q = paddle.to_tensor([[[[1.0, 0.0, 1.0, 0.0]], [[1.0, 0.0, 1.0, 0.0]]]])
    out, _, _ = F.fused_rotary_position_embedding(q)
    wanted = [np.cos(1.0), np.sin(1.0), np.cos(0.01), np.sin(0.01)]
    np.testing.assert_allclose(out.numpy()[0, 1, 0], wanted, rtol=1e-5)


def test_attention_of_sequences_that_end_earlier() -> None:
    q, k, v = (drawn(2, 2, 3, 4, seed=i) for i in range(3))
    ends = paddle.to_tensor([[3], [2]])
    out = F.variable_length_memory_efficient_attention(q, k, v, ends, ends, causal=True)
    for row, end in enumerate((3, 2)):
        own = [t[row : row + 1, :, :end].transpose([0, 2, 1, 3]) for t in (q, k, v)]
        wanted = F.fused_dot_product_attention(*own, is_causal=True).transpose([0, 2, 1, 3])
        close(out[row : row + 1, :, :end], wanted)
    assert not out.numpy()[1, :, 2].any()


def test_a_step_with_a_cache_is_the_last_of_all_steps() -> None:
    heads, size, steps = 2, 4, 5
    qkv = drawn(1, 3, 3, heads, size)
    q, k, v = (qkv[:, :, i].transpose([0, 2, 1, 3]) for i in range(3))
    cache = paddle.zeros([2, 1, heads, steps, size], "float64")
    filled = paddle.stack([k, v])[:, :, :, :2]
    cache.set_value(paddle.concat([filled, cache[:, :, :, 2:]], 3))
    x = qkv[:, 2].reshape([1, 3 * heads * size])
    out, after = F.masked_multihead_attention(x, cache, sequence_lengths=paddle.to_tensor([[2]]))
    last = F.fused_dot_product_attention(*(t.transpose([0, 2, 1, 3]) for t in (q[:, :, 2:], k, v)))
    close(out.reshape([1, 1, heads, size]), last)
    assert after is cache
    close(after[:, :, :, :3], paddle.stack([k, v]))
    with pytest.raises(ValueError, match="rotary_tensor is not implemented"):
        F.masked_multihead_attention(x, cache, sequence_lengths=paddle.to_tensor([[2]]), rotary_tensor=x)


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_a_decoder_goes_on_from_its_caches(norm: str) -> None:
    layer = fused.FusedMultiTransformer(8, 2, 16, num_layers=2, norm_type=norm)
    x = drawn(1, 4, 8).astype("float32")
    mask = paddle.triu(paddle.full([4, 4], -1e9), 1)
    whole = layer(x, mask)
    caches = [paddle.zeros([2, 1, 2, 4, 4]) for _ in range(2)]
    layer(x[:, :3], mask[:3, :3], caches)
    last, _ = layer(x[:, 3:], caches=caches, time_step=paddle.to_tensor([3]))
    np.testing.assert_allclose(last.numpy(), whole.numpy()[:, 3:], rtol=1e-4, atol=1e-5)


def test_attention_with_a_gate() -> None:
    x, merged = drawn(1, 2, 3, 4), drawn(3, 2, 2, 4, seed=1)
    separate = [merged[i].transpose([2, 0, 1]) for i in range(3)]
    rest = [drawn(4, 2, 2, seed=2), drawn(2, 2, seed=3), drawn(2, 2, 4, seed=4), drawn(4, seed=5)]
    names = ("gate_linear_weight", "gate_linear_bias", "out_linear_weight", "out_linear_bias")
    settings = dict(zip(names, rest, strict=True))
    one = F.fused_gate_attention(x, qkv_weight=merged, **settings)
    other = F.fused_gate_attention(
        x,
        query_weight=separate[0],
        key_weight=separate[1],
        value_weight=separate[2],
        merge_qkv=False,
        **settings,
    )
    close(one, other)
    assert list(one.shape) == [1, 2, 3, 4]


@pytest.mark.parametrize("pad", [True, False])
def test_experts_get_tokens_and_give_them_back(pad: bool) -> None:
    x, logits = drawn(6, 4), drawn(6, 3, seed=1)
    y, weights, places, offsets, experts = F.moe_gate_dispatch(x, logits, None, 2, 6, pad)
    shares = paddle.nn.functional.softmax(logits)
    close(F.moe_combine(y, weights, places), x * weights.sum(-1, keepdim=True))
    assert list(y.shape) == [18 if pad else 12, 4]
    assert offsets.tolist()[-1] == 12
    np.testing.assert_allclose(weights.numpy(), np.sort(shares.numpy(), 1)[:, ::-1][:, :2], rtol=1e-6)
    assert experts.numpy()[:, 0].tolist() == logits.numpy().argmax(1).tolist()
    F.moe_combine(y, weights, places).sum().backward()
    assert np.abs(logits.grad.numpy()).sum() > 0


def test_experts_that_are_full_take_no_more() -> None:
    x = drawn(4, 2)
    logits = paddle.to_tensor([[5.0, 0.0]] * 4)
    y, weights, places, _, _ = F.moe_gate_dispatch(x, logits, paddle.zeros([2]), 1, 2, True)
    assert weights.numpy()[:, 0].astype(bool).tolist() == [True, True, False, False]
    close(y[:2], x[:2])
    assert not y.numpy()[2:].any()
    assert places.tolist() == [[0, 1, 0, 0]]


def test_what_is_for_graphics_cards_says_so() -> None:
    with pytest.raises(AttributeError, match="gradtool has no elements of that type"):
        F.fp8_gemm_blockwise()
    with pytest.raises(AttributeError, match="it is a kernel for graphics cards"):
        F.block_multihead_attention()
    with pytest.raises(ValueError, match="gradtool computes in one process"):
        fused.FusedFeedForward(4, 8, nranks=2)
    with pytest.raises(ValueError, match="divisible by num_heads"):
        fused.FusedMultiHeadAttention(9, 2)

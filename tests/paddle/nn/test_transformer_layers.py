"""Attention, encoders and decoders: values against their formulas, masks, caches, names, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError

nn = paddle.nn
RNG = np.random.default_rng(12)


pytestmark = pytest.mark.usefixtures("wide", "fresh_names")


def fed(name: str, value: np.ndarray) -> Any:
    return paddle.static.data(name, list(value.shape), str(value.dtype))


def start() -> Any:
    """An executor after the startup program."""
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return exe


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q: Any, k: Any, v: Any, weights: list[Any], heads: int, mask: Any = 0.0) -> tuple[Any, Any]:
    """The definition, one head after the other: *weights* are those of the projections, each with its bias."""
    (wq, bq), (wk, bk), (wv, bv), (wo, bo) = zip(weights[::2], weights[1::2], strict=True)
    q, k, v = q @ wq + bq, k @ wk + bk, v @ wv + bv
    size = q.shape[-1] // heads
    parts, scores = [], []
    for h in range(heads):
        cut = slice(h * size, (h + 1) * size)
        part = softmax(q[..., cut] @ k[..., cut].transpose(0, 2, 1) / np.sqrt(size) + mask)
        parts.append(part @ v[..., cut])
        scores.append(part)
    return np.concatenate(parts, -1) @ wo + bo, np.stack(scores, 1)


def normal(x: np.ndarray, scale: Any, shift: Any) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


Q, K, V = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 6)), RNG.normal(size=(2, 5, 7))


class TestAttention:
    def test_computes_its_formula(self) -> None:
        layer = nn.MultiHeadAttention(4, 2, kdim=6, vdim=7, need_weights=True)
        mask = RNG.normal(size=(3, 5))
        out, weights = layer(fed("q", Q), fed("k", K), fed("v", V), attn_mask=fed("m", mask))
        feed = {"q": Q, "k": K, "v": V, "m": mask}
        result, shares, *held = start().run(feed=feed, fetch_list=[out, weights, *layer.parameters()])
        expected = attention(Q, K, V, held, 2, mask)
        np.testing.assert_allclose(result, expected[0], rtol=1e-11)
        np.testing.assert_allclose(shares, expected[1], rtol=1e-11)

    @pytest.mark.parametrize("kind", ["bool", "int64"])
    def test_a_mask_of_truth_values_or_numbers_hides(self, kind: str) -> None:
        layer = nn.MultiHeadAttention(4, 2)
        mask = np.tril(np.ones((3, 3))).astype(kind)
        y = layer(fed("q", Q), attn_mask=fed("m", mask))
        types = [o.type for o in paddle.static.default_main_program().global_block().ops]
        at = types.index("cast")
        assert types[at - 1 : at + 5] == ["matmul_v2", "cast", "scale", "scale", "elementwise_add", "softmax"]
        result, *held = start().run(feed={"q": Q, "m": mask}, fetch_list=[y, *layer.parameters()])
        hidden = np.where(mask.astype(bool), 0.0, -np.inf)
        np.testing.assert_allclose(result, attention(Q, Q, Q, held, 2, hidden)[0], rtol=1e-11)

    def test_lengths_may_be_unknown(self) -> None:
        layer = nn.MultiHeadAttention(4, 2)
        y = layer(paddle.static.data("q", [None, None, 4], "float64"))
        assert list(y.shape) == [-1, -1, 4]
        exe = start()
        for length in (1, 6):
            assert exe.run(feed={"q": np.ones((2, length, 4))}, fetch_list=[y])[0].shape == (2, length, 4)

    def test_dropout_of_the_weights_in_training_only(self) -> None:
        layer = nn.MultiHeadAttention(4, 2, 0.5, need_weights=True)
        _, train = layer(fed("q", Q))
        layer.eval()
        _, test = layer(fed("q", Q))
        dropped = [o for o in paddle.static.default_main_program().global_block().ops if o.type == "dropout"]
        assert [o.attr("is_test") for o in dropped] == [False, True]
        a, b = start().run(feed={"q": Q}, fetch_list=[train, test])
        np.testing.assert_allclose(b.sum(-1), 1.0)
        assert (a == 0).any()
        np.testing.assert_allclose(a[a != 0], 2 * b[a != 0])

    def test_a_cache_grows_step_by_step(self) -> None:
        layer = nn.MultiHeadAttention(4, 2)
        q = fed("q", Q)
        mask = nn.Transformer.generate_square_subsequent_mask(layer, 3)
        whole = layer(q, attn_mask=mask)
        cache, steps = layer.gen_cache(q), []
        for i in range(3):
            y, cache = layer(q[:, i : i + 1], cache=cache)
            steps.append(y)
            assert isinstance(cache, layer.Cache)
        a, b, keys = start().run(feed={"q": Q}, fetch_list=[whole, paddle.concat(steps, 1), cache.k])
        np.testing.assert_allclose(a, b, rtol=1e-11)
        assert keys.shape == (2, 2, 3, 2)

    def test_a_static_cache_holds_projections(self) -> None:
        layer = nn.MultiHeadAttention(4, 2, kdim=6, vdim=7)
        q, k, v = fed("q", Q), fed("k", K), fed("v", V)
        fixed = layer.gen_cache(k, v, layer.StaticCache)
        y, same = layer(q, k, v, cache=fixed)
        assert same is fixed
        a, b = start().run(feed={"q": Q, "k": K, "v": V}, fetch_list=[y, layer(q, k, v)])
        np.testing.assert_allclose(a, b)

    def test_a_cache_of_given_keys_and_values(self) -> None:
        layer = nn.MultiHeadAttention(4, 2)
        k, v = fed("k", np.zeros((2, 2, 5, 2))), fed("v", np.zeros((2, 2, 5, 2)))
        cache = layer.gen_cache(k, v)
        assert (cache.k, cache.v) == (k, v)

    def test_errors(self) -> None:
        with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
            nn.MultiHeadAttention(5, 2)
        with pytest.raises(AssertionError, match="Expected embed_dim to be greater than 0, but received 0"):
            nn.MultiHeadAttention(0, 2)
        with pytest.raises(AssertionError, match="Expected num_heads to be greater than 0, but received 0"):
            nn.MultiHeadAttention(4, 0)
        with pytest.raises(ArgumentTypeError, match="'query' in MultiHeadAttention must be Variable"):
            nn.MultiHeadAttention(4, 2)(Q)


def encoded(x: Any, held: list[Any], before: bool) -> np.ndarray:
    attn, (w1, b1, w2, b2), first, second = held[:8], held[8:12], held[12:14], held[14:16]

    def feed_forward(y: Any) -> Any:
        return np.maximum(y @ w1 + b1, 0) @ w2 + b2

    if before:
        y = normal(x, *first)
        x = x + attention(y, y, y, attn, 2)[0]
        return x + feed_forward(normal(x, *second))
    x = normal(x + attention(x, x, x, attn, 2)[0], *first)
    return normal(x + feed_forward(x), *second)


class TestEncoder:
    @pytest.mark.parametrize("before", [False, True])
    def test_a_layer_computes_its_formula(self, before: bool) -> None:
        layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, normalize_before=before)
        y = layer(fed("x", Q))
        result, *held = start().run(feed={"x": Q}, fetch_list=[y, *layer.parameters()])
        np.testing.assert_allclose(result, encoded(Q, held, before), rtol=1e-10)

    def test_layers_of_a_stack_have_parameters_of_their_own(self) -> None:
        first = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
        model = nn.TransformerEncoder(first, 2, nn.LayerNorm(4))
        assert model.layers[0] is first
        y = model(fed("x", Q))
        result, *held = start().run(feed={"x": Q}, fetch_list=[y, *model.parameters()])
        one = encoded(Q, held[:16], False)
        np.testing.assert_allclose(result, normal(encoded(one, held[16:32], False), *held[32:]), rtol=1e-10)
        names = [n for n, _ in model.named_parameters()]
        assert names[:2] == ["layers.0.self_attn.q_proj.weight", "layers.0.self_attn.q_proj.bias"]
        assert names[16] == "layers.1.self_attn.q_proj.weight"
        assert names[-2:] == ["norm.weight", "norm.bias"]
        assert model.layers[1].norm1.weight.name == "layer_norm_3.w_0"

    def test_names_and_places_of_dropout(self) -> None:
        layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, activation="gelu", attn_dropout=0.2, act_dropout=0.3)
        y = layer(fed("x", Q))
        assert y.name == "layer_norm_1.tmp_2"
        ops = paddle.static.default_main_program().global_block().ops
        dropped = [
            (o.input("X")[0].split("_")[0], round(o.attr("dropout_prob"), 6)) for o in ops if o.type == "dropout"
        ]
        assert dropped == [("softmax", 0.2), ("linear", 0.1), ("gelu", 0.3), ("linear", 0.1)]

    def test_steps_with_a_cache_equal_the_whole_with_a_mask(self) -> None:
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2)
        x = fed("x", Q)
        whole = model(x, nn.Transformer.generate_square_subsequent_mask(model, 3))
        caches, steps = model.gen_cache(x), []
        for i in range(3):
            y, caches = model(x[:, i : i + 1], None, caches)
            steps.append(y)
        a, b = start().run(feed={"x": Q}, fetch_list=[whole, paddle.concat(steps, 1)])
        np.testing.assert_allclose(a, b, rtol=1e-10)


class TestDecoder:
    MEMORY = RNG.normal(size=(2, 5, 4))

    def test_a_layer_computes_its_formula(self) -> None:
        layer = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)
        y = layer(fed("x", Q), fed("m", self.MEMORY))
        result, *held = start().run(feed={"x": Q, "m": self.MEMORY}, fetch_list=[y, *layer.parameters()])
        own, cross, (w1, b1, w2, b2), norms = held[:8], held[8:16], held[16:20], held[20:]
        x = normal(Q + attention(Q, Q, Q, own, 2)[0], *norms[:2])
        x = normal(x + attention(x, self.MEMORY, self.MEMORY, cross, 2)[0], *norms[2:4])
        x = normal(x + np.maximum(x @ w1 + b1, 0) @ w2 + b2, *norms[4:])
        np.testing.assert_allclose(result, x, rtol=1e-10)

    @pytest.mark.parametrize("before", [False, True])
    def test_steps_with_caches_equal_the_whole_with_a_mask(self, before: bool) -> None:
        model = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, normalize_before=before), 2, nn.LayerNorm(4)
        )
        x, memory = fed("x", Q), fed("m", self.MEMORY)
        whole = model(x, memory, nn.Transformer.generate_square_subsequent_mask(model, 3))
        caches, steps = model.gen_cache(memory), []
        for i in range(3):
            y, caches = model(x[:, i : i + 1], memory, cache=caches)
            steps.append(y)
        a, b = start().run(feed={"x": Q, "m": self.MEMORY}, fetch_list=[whole, paddle.concat(steps, 1)])
        np.testing.assert_allclose(a, b, rtol=1e-10)

    def test_caches_can_be_zipped(self) -> None:
        model = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 3)
        own, cross = model.gen_cache(fed("m", self.MEMORY), do_zip=True)
        assert [type(c) for c in own] == [nn.MultiHeadAttention.Cache] * 3
        assert [type(c) for c in cross] == [nn.MultiHeadAttention.StaticCache] * 3


def test_transformer_is_its_encoder_and_its_decoder() -> None:
    model = nn.Transformer(4, 2, 1, 2, 8, dropout=0.0)
    x, t = fed("x", TestDecoder.MEMORY), fed("t", Q)
    mask = np.tril(np.ones((3, 3), bool))
    y = model(x, t, tgt_mask=fed("mask", mask))
    again = model.decoder(t, model.encoder(x), model.generate_square_subsequent_mask(3))
    a, b = start().run(feed={"x": TestDecoder.MEMORY, "t": Q, "mask": mask}, fetch_list=[y, again])
    np.testing.assert_allclose(a, b, rtol=1e-10)
    assert model.encoder.norm.weight.name == "layer_norm_2.w_0"
    custom = nn.Transformer(4, 2, custom_encoder=model.encoder, custom_decoder=model.decoder)
    assert (custom.encoder, custom.decoder) == (model.encoder, model.decoder)


def test_attributes_of_parts() -> None:
    slow = paddle.ParamAttr(learning_rate=0.5)
    layer = nn.TransformerEncoderLayer(4, 2, 8, weight_attr=[None, slow], bias_attr=[False, None])
    assert layer.self_attn.q_proj.bias is None
    assert layer.linear1.bias is not None
    rates = [p.optimize_attr["learning_rate"] for p in (layer.self_attn.q_proj.weight, layer.linear2.weight)]
    assert rates == [1.0, 0.5]
    named = nn.TransformerEncoderLayer(4, 2, 4, weight_attr="w")
    assert (named.self_attn.k_proj.weight.name, named.linear1.weight.name) == ("w_0", "w_1")
    without = nn.TransformerDecoderLayer(4, 2, 8, bias_attr=False)
    assert without.cross_attn.out_proj.bias is without.linear2.bias is None
    both = nn.Transformer(4, 2, 1, 1, 8, bias_attr=[False, None, None])
    assert both.encoder.layers[0].self_attn.q_proj.bias is both.decoder.layers[0].self_attn.q_proj.bias is None
    assert both.decoder.layers[0].cross_attn.q_proj.bias is not None


def test_errors() -> None:
    with pytest.raises(AssertionError, match="Expected d_model to be greater than 0, but received 0"):
        nn.TransformerEncoderLayer(0, 2, 8)
    with pytest.raises(AssertionError, match="Expected dim_feedforward to be greater than 0, but received 0"):
        nn.TransformerDecoderLayer(4, 2, 0)
    with pytest.raises(AssertionError, match="length of param_attr should be 2 when it is a list/tuple, but is 1"):
        nn.TransformerEncoderLayer(4, 2, 8, weight_attr=[None])
    with pytest.raises(AttributeError, match=r"function of paddle.nn.functional, but received 'foo'"):
        nn.TransformerEncoderLayer(4, 2, 8, activation="foo")


def test_second_gradient_of_a_layer() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation="gelu")
    x = fed("x", Q)
    x.stop_gradient = False
    (first,) = paddle.static.gradients([paddle.sum(paddle.tanh(layer(x)))], [x])
    (second,) = paddle.static.gradients([paddle.sum(first * first)], [x])
    exe = start()
    (result,) = exe.run(feed={"x": Q}, fetch_list=[second])
    along = RNG.normal(size=Q.shape)
    up, down = (float((exe.run(feed={"x": Q + s * along}, fetch_list=[first])[0] ** 2).sum()) for s in (1e-6, -1e-6))
    assert float((result * along).sum()) == pytest.approx((up - down) / 2e-6, rel=1e-6)

"""Cells, attention and the functions for sequences in dynamic mode: the same results as in static mode, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager import backward as sweep
from tests.paddle.one_program import compute, gradient

nn, F = paddle.nn, paddle.nn.functional
RNG = np.random.default_rng(23)
X = RNG.normal(size=(3, 4))
AT = np.array([[0, 0], [1, 3], [2, 2]])
MASK = np.array([[True], [False], [True]])


def fixed(seed: int) -> Any:
    """An initializer of known values, whatever the shape."""

    class Known(nn.initializer.Initializer):
        def operator(self, spec: Any) -> Any:
            value = np.random.default_rng([seed, *spec.shape]).normal(size=spec.shape)
            return nn.initializer.Assign(value).operator(spec)

    return Known()


def recurrent(kind: str) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        attrs = [paddle.ParamAttr(initializer=fixed(i)) for i in range(4)]
        names = ["weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr"]
        cell = getattr(nn, kind)(4, 5, **dict(zip(names, attrs, strict=True)))
        states = None
        for _ in range(3):
            y, states = cell(x, states)
        return y

    return step


def encoder(x: Any) -> Any:
    attr = paddle.ParamAttr(initializer=fixed(7))
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation="gelu", weight_attr=attr)
    return layer(paddle.unsqueeze(x, 0))


def constant(value: np.ndarray) -> Any:
    return paddle.to_tensor(value) if paddle.in_dynamic_mode() else paddle.assign(value)


CASES: dict[str, Callable[[Any], Any]] = {
    **{kind: recurrent(kind) for kind in ("SimpleRNNCell", "LSTMCell", "GRUCell")},
    "TransformerEncoderLayer": encoder,
    "causal attention": lambda x: F.scaled_dot_product_attention(
        *[paddle.reshape(x, [1, 3, 2, 2])] * 3, is_causal=True
    ),
    "einsum": lambda x: paddle.einsum("ij,kj,...k->i...", x, x, x[:, :3]),
    "masked_fill": lambda x: paddle.masked_fill(x * x, constant(MASK), 0.5),
    "repeat_interleave": lambda x: paddle.repeat_interleave(x * x, constant(np.array([2, 0, 1])), 0),
    "vstack": lambda x: paddle.vstack([x, x[0], paddle.hstack([x[1, :2], x[2, 2:]])]),
    **{
        f"put_along_axis {reduce}": lambda x, reduce=reduce: paddle.put_along_axis(
            x, constant(AT), x[:, 1:3], 1, reduce
        )
        for reduce in ("assign", "add", "multiply", "mean", "amax")
    },
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_static_mode(name: str) -> None:
    function = CASES[name]
    paddle.set_default_dtype("float64")

    def startup_and(run: Callable[..., np.ndarray], *args: Any, **kwargs: Any) -> np.ndarray:
        def prepared(x: Any) -> Any:
            out = function(x)
            paddle.static.Executor().run(paddle.static.default_startup_program())
            return out

        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            return run(prepared, *args, **kwargs)

    value, slope = startup_and(compute, x=X), startup_and(gradient, X)
    paddle.disable_static()
    x = paddle.to_tensor(X, stop_gradient=False)
    out = function(x)
    sweep.backward([out], [None], retain_graph=False)
    assert np.array_equal(out.numpy(), value)
    assert np.array_equal(x.grad.numpy(), slope)


def test_functions_without_a_gradient() -> None:
    paddle.disable_static()
    parts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_index=True, return_inverse=True, return_counts=True)
    assert [v.numpy().tolist() for v in parts] == [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    assert paddle.empty_like(paddle.to_tensor(X)).shape == [3, 4]
    assert paddle.empty([2], "int32").numpy().tolist() == [0, 0]


def test_in_place_forms() -> None:
    paddle.disable_static()
    x = paddle.to_tensor(X)
    same = x.masked_fill_(paddle.to_tensor(MASK), 0.0)
    assert same is x
    assert np.array_equal(x.numpy(), np.where(MASK, 0.0, X))
    x.put_along_axis_(paddle.to_tensor(AT), 1.0, 1)
    assert (np.take_along_axis(x.numpy(), AT, 1) == 1).all()


def test_a_decoder_with_caches_learns_from_its_last_step() -> None:
    paddle.disable_static()
    layer = nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0)
    model = nn.TransformerDecoder(layer, 2, nn.LayerNorm(4))
    memory = paddle.to_tensor(X[None].astype("float32"))
    caches = model.gen_cache(memory)
    for i in range(3):
        y, caches = model(memory[:, i : i + 1], memory, cache=caches)
    assert caches[1][0].k.shape == [1, 2, 3, 2]
    weight = paddle.to_tensor(np.ones((1, 1, 4), "float32") * np.arange(4, dtype="float32"))
    sweep.backward([paddle.sum(y * weight)], [None], retain_graph=False)
    assert all(p.grad is not None for p in model.parameters())
    assert float(np.abs(layer.self_attn.k_proj.weight.grad.numpy()).max()) > 0

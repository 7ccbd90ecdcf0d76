"""Layers call their own methods as Paddle's do, so that a subclass that overrides one of them is heard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

nn = paddle.nn
Q = np.random.default_rng(12).normal(size=(2, 3, 4))


@pytest.fixture(autouse=True)
def _dynamic() -> Iterator[None]:
    """Dynamic mode and wide numbers."""
    paddle.set_default_dtype("float64")
    paddle.disable_static()
    yield
    paddle.enable_static()


def test_what_is_attended_to_is_asked_of_prepare_qkv() -> None:
    class Doubled(nn.MultiHeadAttention):
        def _prepare_qkv(self, query: Any, key: Any, value: Any, cache: Any = None) -> Any:
            q, k, v, *rest = super()._prepare_qkv(query, key, value, cache)
            return q, k, 2 * v, *rest

    layer = Doubled(4, 2, bias_attr=False)
    q = paddle.to_tensor(Q)
    plain = nn.MultiHeadAttention.forward
    with_values = plain(layer, q).numpy()
    Doubled._prepare_qkv = nn.MultiHeadAttention._prepare_qkv  # type: ignore[method-assign]
    np.testing.assert_allclose(with_values, 2 * plain(layer, q).numpy(), rtol=1e-12)


def test_values_may_be_of_another_size() -> None:
    class Wide(nn.MultiHeadAttention):
        def _prepare_qkv(self, query: Any, key: Any, value: Any, cache: Any = None) -> Any:
            q, k, v = super()._prepare_qkv(query, key, value, cache)
            return q, k, paddle.concat([v, v], -1)

    layer = Wide(4, 2)
    layer.out_proj = nn.Linear(8, 3)
    assert layer(paddle.to_tensor(Q)).shape == [2, 3, 3]


def test_caches_are_those_that_the_attention_makes() -> None:
    types = []

    class Noted(nn.MultiHeadAttention):
        def gen_cache(self, key: Any, value: Any = None, type: Any = nn.MultiHeadAttention.Cache) -> Any:
            types.append(type)
            return super().gen_cache(key, value, type)

    layer = nn.TransformerDecoderLayer(4, 2, 8)
    layer.self_attn, layer.cross_attn = Noted(4, 2), Noted(4, 2)
    layer.gen_cache(paddle.to_tensor(Q))
    assert types == [Noted.Cache, Noted.StaticCache]


def test_layers_of_a_stack_get_their_masks_by_name() -> None:
    seen = []

    class Other(nn.TransformerEncoderLayer):
        def forward(self, src: Any, positions: Any = None, src_mask: Any = None, cache: Any = None) -> Any:
            seen.append((positions, src_mask))
            return super().forward(src, src_mask, cache)

    model = nn.TransformerEncoder(Other(4, 2, 8), 2)
    mask = paddle.zeros([3, 3], "float64")
    model(paddle.to_tensor(Q), mask)
    assert seen == [(None, mask)] * 2
    assert type(model.layers[1]) is Other


def test_a_stack_repeats_any_layer_that_keeps_its_settings() -> None:
    class Scaled(nn.Layer):
        def __init__(self, by: float) -> None:
            super().__init__()
            self._config = {"by": by}
            self.by = by

        def forward(self, src: Any, src_mask: Any = None) -> Any:
            return src * self.by

    x = paddle.to_tensor(Q)
    np.testing.assert_allclose(nn.TransformerEncoder(Scaled(3.0), 2)(x).numpy(), 9 * Q)
    assert nn.TransformerEncoder(Scaled(3.0), 0)(x) is x


def test_normalisation_asks_which_ranks_it_takes() -> None:
    class Any2D(nn.BatchNorm2D):
        def _check_input_dim(self, input: Any) -> None: ...

    class AnyInstance(nn.InstanceNorm2D):
        def _check_input_dim(self, input: Any) -> None: ...

    x = paddle.to_tensor(Q)
    for layer in (Any2D(3), AnyInstance(3)):
        assert layer(x).shape == [2, 3, 4]


def test_cells_say_which_dtype_their_states_have() -> None:
    class Narrow(nn.LSTMCell):
        state_dtype = "float32"

    states = Narrow(4, 3).get_initial_states(paddle.to_tensor(Q[:, 0]))
    assert [s.dtype for s in states] == [paddle.float32, paddle.float32]

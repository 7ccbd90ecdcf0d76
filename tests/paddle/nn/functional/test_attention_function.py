"""``scaled_dot_product_attention`` and the softmax of causal scores: values, names, gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from tests.paddle.one_program import compute, gradient, made_by

attend = paddle.nn.functional.scaled_dot_product_attention
RNG = np.random.default_rng(22)
Q, K, V = RNG.normal(size=(2, 5, 3, 4)), RNG.normal(size=(2, 6, 3, 4)), RNG.normal(size=(2, 6, 3, 2))


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = 0.0) -> np.ndarray:
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]) + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", e / e.sum(-1, keepdims=True), v)


def test_without_a_mask() -> None:
    result = compute(lambda q, k, v: attend(q, k, v), q=Q, k=K, v=V)
    np.testing.assert_allclose(result, expected(Q, K, V), rtol=1e-11)


def test_without_a_batch() -> None:
    result = compute(lambda q, k, v: attend(q, k, v), q=Q[0], k=K[0], v=V[0])
    np.testing.assert_allclose(result, expected(Q, K, V)[0], rtol=1e-11)


def test_with_masks() -> None:
    added = RNG.normal(size=(2, 1, 5, 6))
    seen = RNG.uniform(size=(5, 6)) < 0.7
    seen[:, 0] = True
    result = compute(lambda q, k, v, m: attend(q, k, v, m), q=Q, k=K, v=V, m=added)
    np.testing.assert_allclose(result, expected(Q, K, V, added), rtol=1e-11)
    result = compute(lambda q2, k2, v2, m2: attend(q2, k2, v2, m2), q2=Q, k2=K, v2=V, m2=seen[None, None])
    np.testing.assert_allclose(result, expected(Q, K, V, np.where(seen, 0.0, -np.inf)), rtol=1e-11)


def test_causal() -> None:
    above = np.where(np.tril(np.ones((5, 5), bool)), 0.0, -np.inf)
    result = compute(lambda q: attend(q, q, q, is_causal=True), q=Q)
    np.testing.assert_allclose(result, expected(Q, Q, Q, above), rtol=1e-11)
    ops = [o.type for o in paddle.static.default_main_program().global_block().ops]
    assert "fused_softmax_mask_upper_triangle" in ops
    added = RNG.normal(size=(2, 3, 5, 5))
    result = compute(lambda x, m: attend(x, x, x, m, is_causal=True), x=Q, m=added)
    np.testing.assert_allclose(result, expected(Q, Q, Q, above + added), rtol=1e-11)


def test_gradient_of_causal_attention() -> None:
    grad = gradient(lambda x: attend(x, x, x, is_causal=True), Q)
    above = np.where(np.tril(np.ones((5, 5), bool)), 0.0, -np.inf)
    along = RNG.normal(size=Q.shape)

    def value(step: float) -> float:
        x = Q + step * along
        return float(expected(x, x, x, above).sum())

    assert float((grad * along).sum()) == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-7)


def test_names_and_operators() -> None:
    name, types = made_by(lambda q, k, v: attend(q, k, v, dropout_p=0.3, training=False), q=Q, k=K, v=V)
    assert name == "transpose_3.tmp_0"
    assert types == [*["transpose2"] * 3, "scale", "matmul_v2", "softmax", "dropout", "matmul_v2", "transpose2"]


def test_errors() -> None:
    with pytest.raises(ShapeError, match=r"must have the shape \[batch, length, heads, head size\]"):
        compute(lambda q: attend(q, q, q), q=np.ones((3, 4)))

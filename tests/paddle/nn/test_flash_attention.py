"""Attention under the names of fast kernels: what no recording says."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import NotImplementedHere
from gradtool.paddle.nn.functional.flash_attention import flash_attention, flash_attn_qkvpacked

pytestmark = pytest.mark.usefixtures("dynamic")


def test_scores_may_be_scaled() -> None:
    x = paddle.to_tensor(np.random.default_rng(2).normal(size=(1, 3, 2, 4)))
    _, weights = flash_attention(x, x, x, softmax_scale=0.3, return_softmax=True)
    scores = np.einsum("bqhd,bkhd->bhqk", x.numpy(), x.numpy()) * 0.3
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(weights.numpy(), shares, rtol=1e-10)


def test_weights_are_dropped_in_training() -> None:
    x = paddle.ones([1, 8, 4, 4])
    _, weights = flash_attention(x, x, x, dropout=0.5, return_softmax=True)
    assert {*np.unique(weights.numpy())} == {0.0, 0.25}
    _, weights = flash_attention(x, x, x, dropout=0.5, return_softmax=True, training=False)
    assert {*np.unique(weights.numpy())} == {0.125}


def test_shapes_and_kernels_that_are_refused() -> None:
    x = paddle.ones([3, 2, 4])
    with pytest.raises(ValueError, match=r"must have the shape \[batch, length, heads, head size\]"):
        flash_attention(x, x, x)
    with pytest.raises(ValueError, match=r"groups \+ 2"):
        flash_attn_qkvpacked(x)
    with pytest.raises(NotImplementedHere, match="kernel for graphics cards"):
        paddle.nn.functional.flashmask_attention(x, x, x)

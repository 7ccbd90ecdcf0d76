"""Two derivatives in which Paddle is not followed (docs/paddle.md)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradtool import paddle

pytestmark = pytest.mark.usefixtures("dynamic")


def test_a_frozen_scale_of_layer_norm_counts_for_the_input() -> None:
    def slope(frozen: bool) -> np.ndarray:
        norm = paddle.nn.LayerNorm(4)
        norm.weight.set_value(np.array([1.0, 2.0, 3.0, 4.0], "float32"))
        norm.weight.stop_gradient = norm.bias.stop_gradient = frozen
        x = paddle.to_tensor(np.random.default_rng(0).standard_normal((3, 4)).astype("float32"), stop_gradient=False)
        (norm(x) ** 3).sum().backward()
        return x.grad.numpy()

    np.testing.assert_allclose(slope(True), slope(False), rtol=1e-5)


def test_the_third_derivative_of_silu() -> None:
    x = paddle.to_tensor([0.4], dtype="float64", stop_gradient=False)
    y = paddle.nn.functional.silu(x)
    for _ in range(3):
        (y,) = paddle.grad(y, x, create_graph=True)
    s = 1 / (1 + math.exp(-0.4))
    first = s * (1 - s)
    second = first * (1 - 2 * s)
    third = second * (1 - 2 * s) - 2 * first**2
    assert float(y) == pytest.approx(3 * second + 0.4 * third, rel=1e-10)

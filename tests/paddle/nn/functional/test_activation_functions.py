"""Values, slopes at kinks and far out, names and errors of activations and softmax, against formulas in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.paddle.nn import functional as F
from tests.paddle.one_program import compute, gradient, made_by

RNG = np.random.default_rng(5)


def standard(function: Any) -> Any:
    return np.vectorize(function, otypes=[float])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def normal_cdf(x: np.ndarray) -> np.ndarray:
    return (1 + standard(math.erf)(x / math.sqrt(2))) / 2


WIDE = np.concatenate([np.linspace(-7.3, 7.3, 41), [-30.0, 30.0]])
ACTIVATIONS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "celu": ({"alpha": 0.7}, lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7)), "celu_0.tmp_0"),
    "elu": ({"alpha": 0.7}, lambda x: np.where(x > 0, x, 0.7 * np.expm1(x)), "elu_0.tmp_0"),
    "gelu": ({}, lambda x: x * normal_cdf(x), "gelu_0.tmp_0"),
    "hardshrink": ({"threshold": 0.7}, lambda x: np.where(np.abs(x) > 0.7, x, 0), "hardshrink_0.tmp_0"),
    "hardsigmoid": ({"slope": 0.2}, lambda x: np.clip(0.2 * x + 0.5, 0, 1), "hardsigmoid_0.tmp_0"),
    "hardswish": ({}, lambda x: x * np.clip(x + 3, 0, 6) / 6, "hardswish_0.tmp_0"),
    "hardtanh": ({"min": -2.0, "max": 1.5}, lambda x: np.clip(x, -2, 1.5), "hardtanh_0.tmp_0"),
    "leaky_relu": ({}, lambda x: np.where(x > 0, x, 0.01 * x), "leaky_relu_0.tmp_0"),
    "log_sigmoid": ({}, lambda x: np.log(sigmoid(x)), "log_sigmoid_0.tmp_0"),
    "mish": ({}, lambda x: x * np.tanh(np.log1p(np.exp(x))), "mish_0.tmp_0"),
    "relu": ({}, lambda x: np.maximum(x, 0), "relu_0.tmp_0"),
    "relu6": ({}, lambda x: np.clip(x, 0, 6), "relu6_0.tmp_0"),
    "selu": (
        {},
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        "selu_0.tmp_0",
    ),
    "sigmoid": ({}, sigmoid, "sigmoid_0.tmp_0"),
    "silu": ({}, lambda x: x * sigmoid(x), "silu_0.tmp_0"),
    "softplus": ({"beta": 2.0}, lambda x: np.log1p(np.exp(2 * x)) / 2, "softplus_0.tmp_0"),
    "softshrink": ({}, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), "softshrink_0.tmp_0"),
    "softsign": ({}, lambda x: x / (1 + np.abs(x)), "softsign_0.tmp_0"),
    "swish": ({}, lambda x: x * sigmoid(x), "swish_0.tmp_0"),
    "tanh": ({}, np.tanh, "tanh_0.tmp_0"),
    "tanhshrink": ({}, lambda x: x - np.tanh(x), "tanh_shrink_0.tmp_0"),
    "thresholded_relu": ({"value": 0.3}, lambda x: np.where(x > 1, x, 0.3), "thresholded_relu_0.tmp_0"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    settings, expected, result = ACTIVATIONS[name]
    function = getattr(F, name)
    np.testing.assert_allclose(compute(lambda x: function(x, **settings), x=WIDE), expected(WIDE), atol=1e-8)
    assert result in paddle.static.default_main_program().global_block().vars


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_large_numbers(name: str) -> None:
    settings, _, _ = ACTIVATIONS[name]
    function = getattr(F, name)
    x = np.array([-1000.0, 1000.0], "float32")
    result = compute(lambda x: function(x, **settings), x=x)
    assert result.dtype == np.float32
    assert np.isfinite(result).all()
    assert np.isfinite(gradient(lambda y: function(y, **settings), x)).all()


@pytest.mark.parametrize(("name", "ends"), [("silu", (0, 1)), ("mish", (0, 1)), ("log_sigmoid", (1, 0))])
def test_slopes_far_out(name: str, ends: tuple[float, float]) -> None:
    x = np.array([-1000.0, 1000.0], "float32")
    assert gradient(getattr(F, name), x).tolist() == list(ends)


def test_gelu_forms() -> None:
    one = np.array([1.0])
    np.testing.assert_allclose(compute(F.gelu, x=one), [0.8413447460685429], rtol=1e-14)
    np.testing.assert_allclose(compute(lambda y: F.gelu(y, True), y=one), [0.8411919906082768], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "x", "slopes"),
    [
        ("relu", [0.0], [0.0]),
        ("leaky_relu", [0.0], [1.0]),
        ("relu6", [0.0, 6.0], [0.0, 0.0]),
        ("hardtanh", [-1.0, 1.0], [0.0, 0.0]),
        ("hardswish", [-3.0, 3.0], [0.0, 1.0]),
        ("hardsigmoid", [-4.0, 4.0], [0.0, 0.0]),
        ("softshrink", [-0.5, 0.0, 0.5], [0.0, 0.0, 0.0]),
    ],
)
def test_slopes_at_kinks(name: str, x: list[float], slopes: list[float]) -> None:
    assert gradient(getattr(F, name), np.array(x)).tolist() == slopes


def test_activation_errors() -> None:
    x = paddle.static.data("x", [2], "float32")
    with pytest.raises(ZeroDivisionError, match="alpha must not be 0"):
        F.celu(x, 0.0)
    with pytest.raises(UsageError, match="scale must be greater than 1"):
        F.selu(x, 0.5)
    with pytest.raises(UsageError, match="alpha must not be negative"):
        F.selu(x, 1.5, -1.0)
    with pytest.raises(UsageError, match="threshold must not be negative"):
        F.softshrink(x, -1.0)


class TestSoftmax:
    x = RNG.normal(size=(2, 3, 4))

    @pytest.mark.parametrize("axis", [-1, 0, 1])
    def test_values(self, axis: int) -> None:
        grown = np.exp(self.x)
        expected = grown / grown.sum(axis, keepdims=True)
        np.testing.assert_allclose(compute(lambda x: F.softmax(x, axis), x=self.x), expected)
        np.testing.assert_allclose(compute(lambda y: F.log_softmax(y, axis), y=self.x), np.log(expected))

    def test_of_large_numbers(self) -> None:
        x = np.array([1000.0, 0.0, -1000.0], "float32")
        assert compute(F.softmax, x=x).tolist() == [1.0, 0.0, 0.0]
        assert compute(lambda y: F.log_softmax(y), y=x).tolist() == [0.0, -1000.0, -2000.0]

    def test_in_another_dtype(self) -> None:
        name, types = made_by(lambda x: F.softmax(x, dtype="float64"), x=self.x.astype("float32"))
        assert (name, types) == ("softmax_0.tmp_1", ["cast", "softmax"])

    def test_axis_out_of_range(self) -> None:
        with pytest.raises(ShapeError, match="softmax: axis 5 is out of range"):
            compute(lambda x: F.softmax(x, 5), x=self.x)

"""Values, gradients, names and errors of functions of single elements, against formulas in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError
from tests.paddle.one_program import compute, gradient, made_by

RNG = np.random.default_rng(5)
X = RNG.uniform(0.2, 0.8, (2, 3, 4))
Y = RNG.uniform(0.2, 0.8, (3, 1))


def standard(function: Any) -> Any:
    return np.vectorize(function, otypes=[float])


ELEMENTWISE = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": standard(math.erf),
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str) -> None:
    np.testing.assert_allclose(compute(getattr(paddle, name), x=X), ELEMENTWISE[name](X), rtol=1e-14)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_names(name: str) -> None:
    assert made_by(getattr(paddle, name), x=X) == (f"{name}_0.tmp_0", [name])


def test_acosh() -> None:
    np.testing.assert_allclose(compute(paddle.acosh, x=X + 1), np.arccosh(X + 1), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erf_is_precise_everywhere(dtype: str) -> None:
    x = np.concatenate([np.linspace(-6.5, 6.5, 4001), [1e-300, 0.46875, 4.0, -4.0, 40.0, -np.inf]]).astype(dtype)
    result = compute(paddle.erf, x=x)
    assert result.dtype == dtype
    expected = standard(math.erf)(x.astype("float64"))
    np.testing.assert_allclose(result, expected, rtol=4 * float(np.finfo(dtype).eps), atol=0)


BINARY = {
    "add": (np.add, "elementwise_add"),
    "subtract": (np.subtract, "elementwise_sub"),
    "multiply": (np.multiply, "elementwise_mul"),
    "divide": (np.divide, "elementwise_div"),
    "maximum": (np.maximum, "elementwise_max"),
    "minimum": (np.minimum, "elementwise_min"),
    "mod": (np.mod, "elementwise_mod"),
    "remainder": (np.mod, "elementwise_mod"),
    "floor_mod": (np.mod, "elementwise_mod"),
    "floor_divide": (np.floor_divide, "elementwise_floordiv"),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    expected, op_type = BINARY[name]
    np.testing.assert_allclose(compute(getattr(paddle, name), x=X, y=Y), expected(X, Y), rtol=1e-14)
    last = paddle.static.default_main_program().global_block().ops[-1]
    assert (last.type, last.output("Out")) == (op_type, [f"{op_type}_0"])


def test_binary_broadcasts_or_refuses() -> None:
    with pytest.raises(ShapeError, match=r"cannot broadcast X \[2, 3, 4\] with Y \[3\]"):
        compute(paddle.add, x=X, y=Y[:, 0])


def test_numbers_are_no_variables() -> None:
    x = paddle.static.data("x", [2], "float32")
    for call in (lambda: paddle.add(x, 3.0), lambda: paddle.exp(3.0), lambda: paddle.sum(np.ones(3))):
        with pytest.raises(ArgumentTypeError, match="must be"):
            call()


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "sigmoid", "logsumexp"])
def test_integers_become_float32(name: str) -> None:
    function = getattr(paddle, name)
    result, expected = compute(lambda x: function(x), x=[1, 2]), compute(lambda y: function(y), y=np.float32([1, 2]))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_truth_values_are_refused(name: str) -> None:
    with pytest.raises(
        DtypeError, match=f"{name}: X must hold floating-point numbers or .*int32, int64, but received bool"
    ):
        compute(getattr(paddle, name), x=np.array([True]))


@pytest.mark.parametrize("name", ["abs", "square", "sign", "floor", "ceil", "round"])
def test_integers_stay_integers(name: str) -> None:
    result = compute(getattr(paddle, name), x=np.array([-3, 0, 2]))
    assert result.dtype == np.int64
    assert result.tolist() == {"abs": [3, 0, 2], "square": [9, 0, 4], "sign": [-1, 0, 1]}.get(name, [-3, 0, 2])


def test_powers() -> None:
    np.testing.assert_allclose(compute(lambda x: paddle.pow(x, 3), x=X), X**3, rtol=1e-14)
    np.testing.assert_allclose(gradient(lambda x: paddle.pow(x, -0.5), X), -0.5 * X**-1.5, rtol=1e-14)


def test_power_of_two_tensors() -> None:
    np.testing.assert_allclose(compute(paddle.pow, x=X, y=Y), X**Y, rtol=1e-14)


def test_integer_powers_are_exact() -> None:
    assert compute(lambda x: paddle.pow(x, 3), x=np.array([1000001, -2])).tolist() == [1000001**3, -8]


def test_power_names_and_errors() -> None:
    assert made_by(lambda x: paddle.pow(x, 2), x=X) == ("pow_0.tmp_0", ["pow"])
    with pytest.raises(ArgumentTypeError, match="y must be a number or a Variable, but received str"):
        compute(lambda v: paddle.pow(v, "2"), v=X)


def test_rounding() -> None:
    assert compute(paddle.round, x=np.array([0.5, 1.5, -0.5, -2.5])).tolist() == [0.0, 2.0, 0.0, -2.0]
    np.testing.assert_allclose(compute(lambda y: paddle.round(y, 1), y=np.array([1.26])), [1.3])


@pytest.mark.parametrize("name", ["floor", "ceil", "round"])
def test_rounding_has_a_gradient_of_zero(name: str) -> None:
    assert not gradient(getattr(paddle, name), X).any()


def test_sign_is_differentiated_as_a_scale() -> None:
    assert not gradient(paddle.sign, X).any()
    assert paddle.static.default_main_program().global_block().ops[-1].type == "scale"


def test_abs_has_no_slope_at_zero() -> None:
    assert gradient(paddle.abs, np.array([-2.0, 0.0, 3.0])).tolist() == [-1.0, 0.0, 1.0]


class TestClip:
    @pytest.mark.parametrize(("low", "high"), [(0.3, 0.6), (0.3, None), (None, 0.6), (None, None)])
    def test_values(self, low: float | None, high: float | None) -> None:
        expected = X if low is None and high is None else np.clip(X, low, high)
        np.testing.assert_array_equal(compute(lambda x: paddle.clip(x, low, high), x=X), expected)

    def test_bounds_from_tensors(self) -> None:
        result = compute(lambda x, low: paddle.clip(x, low, 0.6), x=X, low=np.array([0.3]))
        np.testing.assert_array_equal(result, np.clip(X, 0.3, 0.6))

    def test_gradient_passes_at_the_bounds(self) -> None:
        x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        assert gradient(lambda v: paddle.clip(v, -1.0, 1.0), x).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]

    def test_without_a_bound_infinity_stays(self) -> None:
        x = np.array([-np.inf, 5.0, np.inf], "float32")
        assert compute(lambda x: paddle.clip(x, min=0.0), x=x).tolist() == [0.0, 5.0, np.inf]

    def test_integers(self) -> None:
        result = compute(lambda x: paddle.clip(x, min=2), x=np.array([1, 2**60], "int64"))
        assert result.tolist() == [2, 2**60]

    def test_bad_bound(self) -> None:
        with pytest.raises(ArgumentTypeError, match=r"The type of 'max' in .* must be float, Variable or None"):
            compute(lambda x: paddle.clip(x, 0.0, "1"), x=X)


class TestScale:
    def test_order(self) -> None:
        np.testing.assert_allclose(compute(lambda x: paddle.scale(x, 2.0, 0.5), x=X), 2 * X + 0.5)
        np.testing.assert_allclose(compute(lambda y: paddle.scale(y, 2.0, 0.5, False), y=X), 2 * (X + 0.5))

    def test_tensor_and_activation(self) -> None:
        result = compute(lambda x, s: paddle.scale(x, s, act="relu"), x=X - 0.5, s=np.array([2.0]))
        np.testing.assert_allclose(result, np.maximum(2 * X - 1, 0))

    def test_names(self) -> None:
        assert made_by(lambda x: paddle.scale(x, 2.0, act="relu"), x=X) == ("scale_0.tmp_1", ["scale", "relu"])

    def test_neg(self) -> None:
        assert made_by(paddle.neg, x=X) == ("scale_0.tmp_0", ["scale"])


class TestAddN:
    def test_values(self) -> None:
        np.testing.assert_allclose(compute(lambda x, y, z: paddle.add_n([x, y, z]), x=X, y=X, z=X), 3 * X)

    def test_one_tensor(self) -> None:
        assert made_by(paddle.add_n, inputs=X) == ("add_n_0.tmp_0", ["sum"])

    def test_errors(self) -> None:
        with pytest.raises(IndexError, match="at least one tensor"):
            paddle.add_n([])
        with pytest.raises(ShapeError, match="all tensors must have one shape"):
            compute(lambda x, y: paddle.add_n([x, y]), x=X, y=Y)
        with pytest.raises(ArgumentTypeError, match="must be Variable, but received str"):
            paddle.add_n(["x"])

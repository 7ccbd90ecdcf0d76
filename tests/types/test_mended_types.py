"""Types of results and gradients that were wrong once, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import DtypeError

MIXED = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "remainder"]


def tensor(dtype: str, *values: Any, grad: bool = False) -> Any:
    paddle.disable_static()
    return paddle.to_tensor(np.array(values or (1, 2)).astype(dtype), stop_gradient=not grad)


@pytest.mark.parametrize("name", MIXED)
def test_float32_beside_float64_in_a_program_comes_as_it_is_declared(name: str) -> None:
    x, y = (paddle.static.data(n, [2], dtype) for n, dtype in (("x", "float32"), ("y", "float64")))
    x.stop_gradient = y.stop_gradient = False
    out = getattr(paddle, name)(x, y)
    gradients = paddle.static.gradients([out], [x, y])
    feed = {"x": np.float32([1, 2]), "y": np.float64([2, 3])}
    arrays = paddle.static.Executor().run(feed=feed, fetch_list=[out, *gradients])
    assert [v.dtype.name for v in (out, *gradients)] == ["float64", "float32", "float64"]
    assert [v.dtype.name for v in arrays] == ["float64", "float32", "float64"]


def test_second_gradients_of_mixed_types_come_as_declared() -> None:
    x, y = (paddle.static.data(n, [2], dtype) for n, dtype in (("x", "float32"), ("y", "float64")))
    x.stop_gradient = y.stop_gradient = False
    (first,) = paddle.static.gradients([paddle.multiply(x, paddle.multiply(x, y))], [x])
    seconds = paddle.static.gradients([first], [x, y])
    feed = {"x": np.float32([1, 2]), "y": np.float64([2, 3])}
    arrays = paddle.static.Executor().run(feed=feed, fetch_list=[first, *seconds])
    assert (
        [v.dtype.name for v in arrays] == [v.dtype.name for v in (first, *seconds)] == ["float32", "float32", "float64"]
    )
    np.testing.assert_allclose(arrays[1], [4, 6])


def test_gradients_of_mixed_types_have_their_own_to_any_order() -> None:
    x, y = tensor("float32", 1, 2, grad=True), tensor("float64", 2, 3, grad=True)
    (first,) = paddle.grad(paddle.multiply(x, paddle.multiply(x, y)), x, create_graph=True)
    seconds = paddle.grad(first, [x, y])
    assert [v.dtype.name for v in (first, *seconds)] == ["float32", "float32", "float64"]
    assert seconds[0].tolist() == [4.0, 6.0]


def test_a_power_of_a_truth_value_is_refused() -> None:
    with pytest.raises(DtypeError, match="X is float32 and Y is bool"):
        paddle.pow(tensor("float32"), tensor("bool"))


def test_a_truth_value_beside_float64_is_refused() -> None:
    x, y = (paddle.static.data(n, [2], dtype) for n, dtype in (("x", "bool"), ("y", "float64")))
    with pytest.raises(DtypeError, match="X is bool and Y is float64"):
        paddle.add(x, y)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["sin", "exp", "log", "sqrt", "tanh", "sigmoid", "erf", "reciprocal", "logsumexp"])
def test_functions_of_real_numbers_take_whole_ones(name: str, dtype: str) -> None:
    function = getattr(paddle, name)
    if dtype == "uint8" and name in ("exp", "log"):
        with pytest.raises(DtypeError, match=f"{name}: X must hold floating-point numbers or int32, int64"):
            function(tensor(dtype))
        return
    result = function(tensor(dtype, 2, 3))
    assert result.dtype is paddle.float32
    np.testing.assert_array_equal(result.numpy(), function(tensor("float32", 2, 3)).numpy())


def test_truth_values_are_no_numbers_for_a_sine() -> None:
    with pytest.raises(DtypeError, match="sin: X must hold floating-point numbers"):
        paddle.sin(tensor("bool"))


RESULTS: tuple[tuple[str, Callable[[], Any], str, list[Any]], ...] = (
    ("divide(int64, int64)", lambda: paddle.divide(tensor("int64"), tensor("int64", 2, 4)), "float32", [0.5, 0.5]),
    ("cumsum(int32)", lambda: paddle.cumsum(tensor("int32")), "int64", [1, 3]),
    ("prod(int32)", lambda: paddle.prod(tensor("int32"), axis=[0], keepdim=True), "int32", [2]),
    ("sum(int16)", lambda: paddle.sum(tensor("int16"), keepdim=True), "int16", [3]),
    ("sum(uint8)", lambda: paddle.sum(tensor("uint8", 200, 100), keepdim=True), "uint8", [44]),
    ("bool + True", lambda: tensor("bool", 0, 1) + True, "bool", [True, True]),
    ("float32 @ float64", lambda: tensor("float32")[None] @ tensor("float64")[:, None], "float32", [[5.0]]),
    ("where(float32, float64)", lambda: paddle.where(tensor("bool", 0, 1), tensor("float32"), tensor("float64", 3, 4)),
     "float64", [3.0, 2.0]),
    ("less_than(float32, float64)", lambda: tensor("float32") < tensor("float64", 2, 2), "bool", [True, False]),
)  # fmt: skip


@pytest.mark.parametrize(("call", "dtype", "values"), [r[1:] for r in RESULTS], ids=[r[0] for r in RESULTS])
def test_types_of_results(call: Callable[[], Any], dtype: str, values: list[Any]) -> None:
    result = call()
    assert result.dtype.name == dtype
    assert result.tolist() == values


REFUSED: tuple[tuple[str, Callable[[], Any], str], ...] = (
    ("pow(float32, int64)", lambda: paddle.pow(tensor("float32"), tensor("int64")), "X is float32 and Y is int64"),
    ("matmul(float32, float64)", lambda: paddle.matmul(tensor("float32"), tensor("float64")), "X is float32 and Y is"),
    ("dot(int32, float32)", lambda: paddle.dot(tensor("int32"), tensor("float32")), "X is int32 and Y is float32"),
    ("rand(int32)", lambda: paddle.rand([2], dtype="int32"), "must be one of float16, .* but received int32"),
    ("randperm(int8)", lambda: paddle.randperm(10, "int8"), "must be one of int32, .* but received int8"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "message"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused_types(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(DtypeError, match=message):
        call()

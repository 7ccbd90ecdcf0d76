"""Derivatives of order two and three through whole networks, against differences of the order before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.variable import Variable
from gradtool.paddle._dispatch import apply
from tests.autodiff.nets import backward_ops, central, data, lines, main, mean, names, numbers, op, run


def test_the_names_and_operators_of_a_cube() -> None:
    x = data("x", 3)
    y = x * x * x
    orders = []
    for _ in range(3):
        (y,) = paddle.static.gradients(y, x)
        orders.append(y)
    assert names(orders) == ["x@GRAD", "grad/grad/x@GRAD", "grad/grad/grad/x@GRAD"]
    types = {o.type for o in backward_ops()}
    assert {"elementwise_mul_grad", "elementwise_mul_grad_grad", "elementwise_mul_triple_grad"} <= types
    value = np.array([1.0, 2.0, 3.0])
    first, second, third = run(orders, {"x": value})
    np.testing.assert_allclose(first, 3 * value**2)
    np.testing.assert_allclose(second, 6 * value)
    np.testing.assert_allclose(third, [6.0, 6.0, 6.0])


def test_the_gradient_of_a_sum_of_gradients_is_one_scale_for_each() -> None:
    x = data("x", 3)
    (first,) = paddle.static.gradients(x * x, x)
    paddle.static.gradients(first, x)
    assert [line for line in lines(backward_ops()) if line.startswith("scale")] == [
        "scale(x@GRAD@GRAD) -> x@GRAD@RENAME@block0@0@GRAD",
        "scale(x@GRAD@GRAD) -> x@GRAD@RENAME@block0@1@GRAD",
    ]


SMOOTH: dict[str, Callable[[Variable], Variable]] = {
    "tanh": lambda x: op("tanh", x),
    "sigmoid": lambda x: op("sigmoid", x),
    "exp of a product": lambda x: op("exp", x * x),
    "quotient": lambda x: op("elementwise_div", op("sin", x), op("exp", x)),
    "power": lambda x: op("pow", op("exp", x), factor=2.5),
    "gelu": lambda x: op("gelu", x),
    "softmax": lambda x: op("softmax", x),
    "log_softmax": lambda x: op("log_softmax", x),
    "matmul with itself": lambda x: op("matmul_v2", x, x, trans_y=True),
    "normalised": lambda x: op("elementwise_div", x, op("sqrt", op("reduce_sum", x * x, reduce_all=True))),
    "broadcast": lambda x: op("elementwise_mul", op("tanh", x), op("reduce_mean", x, dim=[1], keep_dim=True)),
}


@pytest.mark.parametrize("function", SMOOTH)
def test_three_orders(function: str) -> None:
    """Each order against a difference of the one before, in one direction."""
    x = data("x", 2, 3)
    weight = numbers(2, 3, seed=5)
    target = SMOOTH[function](x)
    orders = [target]
    for _ in range(3):
        (target,) = paddle.static.gradients(target, x)
        orders.append(target)
    value, along = numbers(2, 3), weight
    values = run(orders, {"x": value})
    for lower, result in zip(orders[:-1], values[1:], strict=True):

        def at(step: float, lower: Variable = lower) -> float:
            return float(np.sum(run([lower], {"x": value + step * along})[0]))

        expected = central(at)
        assert abs(float(np.sum(result * along)) - expected) <= 2e-6 * (1 + abs(expected))


def fc(x: Variable, size: int, name: str) -> Variable:
    return paddle.static.nn.fc(x, size, name=name)


def with_fc(x: Variable) -> Variable:
    return fc(op("tanh", fc(x, 4, "one")), 3, "two")


def with_softmax(x: Variable) -> Variable:
    return op("square", op("softmax", fc(x, 4, "one")))


def with_gelu(x: Variable) -> Variable:
    return op("gelu", fc(x, 4, "one"))


def with_layer_norm(x: Variable) -> Variable:
    scale, bias = (paddle.static.create_parameter([3], "float64", name=n) for n in ("scale", "bias"))
    return op("square", apply("layer_norm", x, scale, bias, attrs={"begin_norm_axis": 1})[-1])


def with_cross_entropy(x: Variable) -> Variable:
    label = paddle.static.data("label", [4, 1], "int64")
    return apply("softmax_with_cross_entropy", fc(x, 5, "one"), label)[1]


def with_embedding(x: Variable) -> Variable:
    label = paddle.static.data("label", [4, 1], "int64")
    table = paddle.static.create_parameter([5, 3], "float64", name="table")
    rows = op("reshape2", op("lookup_table_v2", label, table), shape=[4, 3])
    return op("tanh", op("elementwise_mul", rows, op("square", x)))


def with_convolution(x: Variable) -> Variable:
    filters = paddle.static.create_parameter([2, 1, 2, 2], "float64", name="filters")
    image = op("reshape2", x, shape=[1, 1, 4, 3])
    return op("tanh", op("conv2d", image, filters, strides=[1, 1], paddings=[0, 0], dilations=[1, 1], groups=1))


def with_dropout(x: Variable) -> Variable:
    return op("square", op("dropout", fc(x, 4, "one"), dropout_prob=0.4, fix_seed=True, seed=7))


NETS: dict[str, Callable[[Variable], Variable]] = {
    f.__name__.removeprefix("with_"): f
    for f in (
        with_fc,
        with_softmax,
        with_gelu,
        with_layer_norm,
        with_cross_entropy,
        with_embedding,
        with_convolution,
        with_dropout,
    )
}


@pytest.mark.parametrize("net", NETS)
def test_a_gradient_penalty(net: str) -> None:
    """The gradients of the squared length of an input gradient: second order, for the input and every parameter."""
    x = data("x", 4, 3)
    (slope,) = paddle.static.gradients(mean(NETS[net](x)), x)
    penalty = op("reduce_sum", op("square", slope), reduce_all=True)
    parameters = main().all_parameters()
    gradients = dict(paddle.static.append_backward(penalty, [x, *parameters]))
    assert x in gradients
    feed = {"x": numbers(4, 3), "label": np.array([[0], [4], [2], [2]])}
    feed = {n: v for n, v in feed.items() if n in main().global_block().vars}
    check(penalty, gradients, feed, random_values(parameters))


def check(
    target: Variable, gradients: dict[Variable, Variable], feed: dict[str, np.ndarray], values: dict[str, np.ndarray]
) -> None:
    """The gradients *found* against a difference in one direction of everything that they are by.

    Args:
        values: of the parameters.
    """
    rng = np.random.default_rng(11)
    along = {v.name: rng.normal(size=v.shape) for v in gradients}
    scope = paddle.static.global_scope()

    def at(step: float, fetch: list[Variable]) -> list[np.ndarray]:
        for name, value in values.items():
            scope.var(name).get_tensor().set(value + step * along.get(name, 0.0))
        return run(fetch, {n: v + step * along[n] if n in along else v for n, v in feed.items()})

    got = dict(zip(along, at(0.0, list(gradients.values())), strict=True))
    expected = central(lambda step: float(at(step, [target])[0]))
    assert abs(sum(float(np.sum(got[n] * d)) for n, d in along.items()) - expected) <= 2e-6 * (1 + abs(expected))


def random_values(parameters: list[Any]) -> dict[str, np.ndarray]:
    return {p.name: numbers(*p.shape, seed=i + 1) for i, p in enumerate(parameters)}


def with_batch_norm(x: Variable) -> Variable:
    return op("square", op("tanh", paddle.static.nn.batch_norm(x)))


def test_a_gradient_penalty_through_batch_norm() -> None:
    """By the input and by scale and bias; the running statistics change with every run and are no part of it."""
    x = data("x", 4, 3)
    (slope,) = paddle.static.gradients(mean(with_batch_norm(x)), x)
    penalty = op("reduce_sum", op("square", slope), reduce_all=True)
    trained = [p for p in main().all_parameters() if p.trainable]
    gradients = dict(paddle.static.append_backward(penalty, [x, *trained]))
    assert len(gradients) == 3
    run([penalty], {"x": numbers(4, 3)})
    check(penalty, gradients, {"x": numbers(4, 3)}, random_values(trained))


def test_second_order_where_the_first_was_not_wanted_everywhere() -> None:
    x, z = data("x", 3), data("z", 3)
    y = op("elementwise_mul", op("tanh", x), z)
    (by_x,) = paddle.static.gradients(y, x)
    twice, mixed = paddle.static.gradients(by_x, [x, z])
    feed = {"x": numbers(3), "z": numbers(3, seed=1)}
    got = run([twice, mixed], feed)
    inner = np.tanh(feed["x"])
    np.testing.assert_allclose(got[0], feed["z"] * -2 * inner * (1 - inner**2))
    np.testing.assert_allclose(got[1], 1 - inner**2)


def test_second_order_of_something_linear_is_zero_or_none() -> None:
    x = data("x", 3)
    (first,) = paddle.static.gradients(op("scale", x, scale=3.0), x)
    assert paddle.static.gradients(first, x) == [None]

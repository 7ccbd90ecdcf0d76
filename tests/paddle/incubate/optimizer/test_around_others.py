"""Optimizers around others, averages and minima, with numbers that Paddle gave (3.3.1; programs 3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import incubate
from gradtool.paddle.incubate.optimizer import functional

BATCH = np.array([[1.0, 2.0], [3.0, -1.0]], "float32")

AHEAD = {
    (0.3, 3): [[0.1, 0.6], [0.26, 0.36], [0.1408, 0.4968], [0.25448, 0.31368], [0.237608, 0.233848]],
    (0.5, 2): [[0.1, 0.6], [0.18, 0.48], [0.248, 0.308], [0.2094, 0.3554], [0.24474, 0.25094]],
}


def layer(bias: float = 0.0) -> Any:
    constant = paddle.nn.initializer.Constant
    return paddle.nn.Linear(2, 1, weight_attr=constant(1.0), bias_attr=constant(bias))


def trained(net: Any, optimizer: Any, steps: int, also: Callable[[], None] = lambda: None) -> list[list[float]]:
    values = []
    for _ in range(steps):
        (net(paddle.to_tensor(BATCH)) ** 2).mean().backward()
        optimizer.step()
        also()
        optimizer.clear_grad()
        values.append(net.weight.numpy().ravel().round(6).tolist())
    return values


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(("alpha", "k"), AHEAD)
def test_slow_weights_follow(alpha: float, k: int) -> None:
    net = layer()
    sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    got = trained(net, incubate.LookAhead(sgd, alpha, k), 5)
    np.testing.assert_allclose(got, AHEAD[alpha, k], atol=2e-6)


@pytest.mark.usefixtures("dynamic")
def test_slow_weights_go_on_from_their_state() -> None:
    net = layer()
    first = incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=net.parameters()), 0.3, 3)
    begin = trained(net, first, 2)
    other = incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=net.parameters()), 0.3, 3)
    other.set_state_dict(first.state_dict())
    np.testing.assert_allclose([*begin, *trained(net, other, 3)], AHEAD[0.3, 3], atol=2e-6)
    assert other.get_lr() == pytest.approx(0.1)
    for wrong in ((None,), (first.inner_optimizer, 2.0), (first.inner_optimizer, 0.5, 0)):
        with pytest.raises(AssertionError):
            incubate.LookAhead(*wrong)


def run(
    build: Callable[[Any], Any], steps: int, sizes: tuple[float, ...] = (1.0,), bias: float = 0.0
) -> list[list[float]]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 2])
        attrs = [paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(value)) for value in (1.0, bias)]
        build((paddle.static.nn.fc(x, 1, weight_attr=attrs[0], bias_attr=attrs[1]) ** 2).mean())
    executor = paddle.static.Executor()
    executor.run(startup)
    weight = main.all_parameters()[0].name
    feeds = [BATCH * np.float32(sizes[i % len(sizes)]) for i in range(steps)]
    return [executor.run(main, feed={"x": f}, fetch_list=[weight])[0].ravel().tolist() for f in feeds]


@pytest.mark.parametrize(("alpha", "k"), AHEAD)
def test_slow_weights_follow_in_programs(alpha: float, k: int) -> None:
    got = run(lambda loss: incubate.LookAhead(paddle.optimizer.SGD(0.1), alpha, k).minimize(loss), 5)
    np.testing.assert_allclose(got, AHEAD[alpha, k], atol=2e-6)


@pytest.mark.parametrize(
    ("inner", "wanted"),
    [
        (lambda: paddle.optimizer.SGD(0.01), [[0.775, 0.9], [0.60825, 0.808], [0.484398, 0.724209]]),
        (lambda: paddle.optimizer.Adam(0.1), [[0.9, 0.9], [0.80058, 0.800503], [0.702267, 0.701954]]),
    ],
)
def test_gradients_are_added_up_before_an_update(inner: Any, wanted: list[list[float]]) -> None:
    merge = incubate.optimizer.GradientMergeOptimizer
    got = run(lambda loss: merge(inner(), k_steps=2).minimize(loss), 6, (1.0, 2.0))
    np.testing.assert_allclose(got, [[1.0, 1.0], *np.repeat(wanted, 2, axis=0)[:5].tolist()], atol=2e-6)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, [0.99926579, 0.99969959]),
        ({"exclude_from_weight_decay": ["w_0"], "lars_coeff": 0.1}, None),
        ({"epsilon": 0.1, "rescale_grad": 0.5, "lars_coeff": 0.5}, [0.65509355, 0.85318148]),
    ],
)
def test_steps_are_as_long_as_parameters_are_large(settings: dict[str, Any], wanted: list[float] | None) -> None:
    def build(loss: Any) -> None:
        incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, **settings).minimize(loss)

    got = run(build, 3, bias=0.5)
    paddle.disable_static()
    net = layer(0.5)
    net.weight.name = "fc_0.w_0"
    lars = incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, parameter_list=net.parameters(), **settings)
    np.testing.assert_allclose(trained(net, lars, 3), got, atol=2e-6)
    if wanted is not None:
        np.testing.assert_allclose(got[-1], wanted, rtol=1e-6)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("settings", "steps", "wanted"),
    [((0.5, 2, 4), 7, [0.24164186, 0.17305253]), ((0.15, 2, 10), 9, [0.24187668, 0.16388977])],
)
def test_averages_over_the_last_steps(settings: tuple[float, int, int], steps: int, wanted: list[float]) -> None:
    net = layer()
    rate, least, most = settings
    average = incubate.ModelAverage(rate, net.parameters(), least, most)
    trained(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()), steps, average.step)
    before = net.weight.numpy().copy()
    with average.apply():
        np.testing.assert_allclose(net.weight.numpy().ravel(), wanted, rtol=1e-5)
    assert net.weight.numpy().tolist() == before.tolist()
    other = incubate.ModelAverage(rate, net.parameters(), least, most)
    other.set_state_dict(average.state_dict())
    with other.apply(need_restore=False):
        pass
    np.testing.assert_allclose(net.weight.numpy().ravel(), wanted, rtol=1e-5)


def test_averages_refuse_programs() -> None:
    with pytest.raises(AssertionError, match="dynamic mode only") as caught:
        incubate.ModelAverage(0.1, [])
    assert "ExponentialMovingAverage" in str(caught.value)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("minimize", [functional.minimize_bfgs, functional.minimize_lbfgs])
def test_minima_are_found(minimize: Any) -> None:
    square = minimize(lambda x: paddle.dot(x, x), paddle.to_tensor([1.3, 2.7]))
    assert (square[0].tolist(), square[1].tolist(), square[2].tolist()) == ([True], [3], [0.0, 0.0])
    if minimize is functional.minimize_bfgs:
        np.testing.assert_allclose(square[5].numpy(), [[0.905902, -0.195434], [-0.195434, 0.594098]], rtol=1e-5)

    def valley(x: Any) -> Any:
        return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2

    found = minimize(valley, paddle.to_tensor([-1.2, 1.0], "float64"), dtype="float64")
    assert found[0].tolist() == [True]
    np.testing.assert_allclose(found[2].numpy(), [1.0, 1.0], rtol=1e-6)
    early = minimize(valley, paddle.to_tensor([-1.2, 1.0], "float64"), dtype="float64", max_iters=2)
    assert early[0].tolist() == [False]
    with pytest.raises(ValueError, match="dtype must be"):
        minimize(valley, paddle.to_tensor([0.0]), dtype="int32")
    with pytest.raises(TypeError, match="initial_position must be a Tensor"):
        minimize(valley, [0.0])


@pytest.mark.usefixtures("dynamic")
def test_losses_masks_and_streams() -> None:
    x = paddle.to_tensor([[1.0, 3.0]], stop_gradient=False)
    assert [incubate.identity_loss(x, r).tolist() for r in ("sum", 1, "none")] == [4.0, 2.0, [[1.0, 3.0]]]
    with pytest.raises(ValueError, match="reduction must be"):
        incubate.identity_loss(x, 3)
    scores = paddle.to_tensor(np.random.RandomState(0).randn(1, 2, 3, 3))
    hidden = paddle.triu(paddle.full([1, 1, 3, 3], -np.inf, "float64"), 1)
    one, other = incubate.softmax_mask_fuse_upper_triangle(scores), incubate.softmax_mask_fuse(scores, hidden)
    np.testing.assert_allclose(one.numpy(), other.numpy())
    number = incubate.register_rng_state_as_index()
    assert incubate.get_rng_state(use_index=True) == [0]
    first = paddle.rand([3]).tolist()
    incubate.set_rng_state(number, use_index=True)
    assert incubate.get_rng_state(use_index=True) == number
    assert paddle.rand([3]).tolist() == first
    incubate.set_rng_state([0], use_index=True)
    assert paddle.rand([3]).tolist() != first
    with pytest.raises(ValueError, match="no state is registered"):
        incubate.set_rng_state([99], use_index=True)

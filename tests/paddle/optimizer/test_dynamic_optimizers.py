"""Optimizers in dynamic mode: the values after steps, settings of parameters, state dicts, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

optimizer = paddle.optimizer
VALUES = json.loads((Path(__file__).parent / "optimizer_values.json").read_text())
"""A parameter after five steps of Paddle 3.1.1, by the expression that makes the optimizer."""


pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


def vector(values: Any, **settings: Any) -> Any:
    start = paddle.nn.initializer.Assign(np.asarray(values, "float32"))
    return paddle.create_parameter(
        list(np.shape(values)), "float32", attr=paddle.ParamAttr(initializer=start, **settings)
    )


def squares(*parameters: Any) -> None:
    """Fill the gradients with twice the values."""
    for p in parameters:
        (p * p).sum().backward()


@pytest.mark.parametrize("expression", VALUES)
def test_five_steps(expression: str) -> None:
    rng = np.random.RandomState(0)
    w = vector(rng.randn(3, 2))
    batches = rng.randn(5, 4, 3).astype("float32")
    trainer = eval(f"optimizer.{expression[:-1]}, parameters=[w])", {"optimizer": optimizer, "paddle": paddle, "w": w})
    for batch in batches:
        paddle.mean(paddle.square(paddle.to_tensor(batch) @ w - 1.0)).backward()
        trainer.step()
        trainer.clear_grad()
    np.testing.assert_allclose(w.numpy().reshape(-1), VALUES[expression], rtol=1e-5, atol=1e-6)


def test_minimize_updates_and_returns_plain_gradients() -> None:
    w = vector([1.0, 2.0])
    sgd = optimizer.SGD(0.5, parameters=[w], weight_decay=1.0)
    loss = (w * w).sum()
    loss.backward()
    operators, pairs = sgd.minimize(loss)
    assert operators == []
    assert pairs[0][0] is w
    assert pairs[0][1].tolist() == [2.0, 4.0]
    assert w.tolist() == [-0.5, -1.0]


def test_parameters_without_gradient_stay() -> None:
    w, still, frozen = vector([1.0]), vector([1.0]), vector([1.0])
    squares(w, frozen)
    frozen.trainable = False
    optimizer.SGD(0.25, parameters=[w, still, frozen]).step()
    assert (w.item(), still.item(), frozen.item()) == (0.5, 1.0, 1.0)


def test_steps_are_not_recorded_and_keep_leaves() -> None:
    w = vector([1.0, 2.0])
    squares(w)
    optimizer.Adam(0.1, parameters=[w]).step()
    assert (w.is_leaf, w.stop_gradient) == (True, False)
    squares(w)
    assert w.grad.shape == [2]


def test_settings_of_parameters_count() -> None:
    slow = vector([1.0], learning_rate=0.5)
    own = vector([1.0], regularizer=paddle.regularizer.L2Decay(0.0))
    free = vector([3.0], need_clip=False)
    clipped = vector([3.0])
    squares(slow, own, free, clipped)
    optimizer.SGD(0.25, parameters=[slow]).step()
    optimizer.SGD(0.25, parameters=[own], weight_decay=1.0).step()
    optimizer.SGD(1.0, parameters=[free, clipped], grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)).step()
    assert (slow.item(), own.item(), free.item(), clipped.item()) == (0.75, 0.5, -3.0, 2.0)


def test_scalars_are_clipped_together_with_vectors() -> None:
    a, b = vector(3.0), vector([4.0])
    squares(a, b)
    optimizer.SGD(1.0, parameters=[a, b], grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)).step()
    assert (a.shape, b.shape) == ([], [1])
    np.testing.assert_allclose([a.item(), b.item()], [3 - 0.6, 4 - 0.8], rtol=1e-6)


def test_schedules_set_the_rate() -> None:
    w = vector([1.0])
    schedule = optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.5)
    sgd = optimizer.SGD(schedule, parameters=[w])
    squares(w)
    sgd.step()
    assert w.item() == 0.0
    schedule.step()
    assert sgd.get_lr() == 0.25


def test_the_rate_is_changed_by_hand() -> None:
    sgd = optimizer.SGD(0.5, parameters=[vector([1.0])])
    sgd.set_lr(0.125)
    assert sgd.get_lr() == 0.125


def test_state_dicts_carry_on_where_another_stopped() -> None:
    def run(steps: int, start: Any, state: Any) -> tuple[Any, Any]:
        with paddle.utils.unique_name.guard():
            w = vector(start)
            adam = optimizer.Adam(optimizer.lr.ExponentialDecay(0.1, 0.9), parameters=[w])
            if state is not None:
                adam.set_state_dict(state)
            for _ in range(steps):
                squares(w)
                adam.step()
                adam.clear_grad(set_to_zero=False)
                adam._learning_rate.step()
            return w.numpy(), adam.state_dict()

    whole, final = run(5, [1.0, -2.0], None)
    half, state = run(2, [1.0, -2.0], None)
    assert sorted(state) == sorted(final)
    assert "create_parameter_0.w_0_moment1_0" in state
    rest, _ = run(3, half, state)
    np.testing.assert_array_equal(rest, whole)


def test_gradients_are_cleared() -> None:
    w = vector([1.0])
    sgd = optimizer.SGD(0.5, parameters=[w])
    squares(w)
    sgd.clear_grad()
    assert w.grad.tolist() == [0.0]
    sgd.clear_gradients(set_to_zero=False)
    assert w.grad is None


@pytest.mark.parametrize("parameters", [None, [1], [{"params": [], "beta1": 0.5}], "w", vector])
def test_wrong_parameters_are_refused(parameters: Any) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)):
        optimizer.SGD(0.5, parameters=parameters)


def test_dynamic_methods_are_refused_in_static_mode() -> None:
    sgd = optimizer.SGD(0.5, parameters=[vector([1.0])])
    paddle.enable_static()
    for call in (sgd.step, sgd.clear_grad, sgd.state_dict):
        with pytest.raises(AssertionError, match="static mode is on"):
            call()


def test_state_of_another_shape_is_refused() -> None:
    momentum = optimizer.Momentum(0.5, parameters=[vector([1.0])])
    with pytest.raises(ValueError, match="shape"):
        momentum.set_state_dict({"create_parameter_0.w_0_velocity_0": np.zeros(3)})
    with pytest.raises(TypeError, match="dict"):
        momentum.set_state_dict([])


def test_a_network_learns() -> None:
    paddle.seed(1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2)).astype("float32")
    label = (x[:, 0] * x[:, 1] > 0).astype("int64")
    model = paddle.nn.Sequential(paddle.nn.Linear(2, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 2))
    adam = optimizer.Adam(0.05, parameters=model.parameters())
    losses = []
    for _ in range(80):
        loss = paddle.nn.functional.cross_entropy(model(paddle.to_tensor(x)), paddle.to_tensor(label))
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.2 * losses[0]


def test_groups_have_settings_of_their_own() -> None:
    a, b = vector([2.0]), vector([2.0])
    squares(a, b)
    group = {"params": a, "learning_rate": 0.5, "weight_decay": 0.5}
    optimizer.SGD(0.5, parameters=[group, {"params": [b]}], weight_decay=1.0).step()
    assert (a.item(), b.item()) == (2 - 0.25 * (4 + 1), 2 - 0.5 * (4 + 2))
    c = vector([2.0])
    squares(c)
    optimizer.AdamW(0.5, epsilon=0.0, parameters=[{"params": [c], "weight_decay": 0.5}]).step()
    assert c.item() == pytest.approx(2 * (1 - 0.5 * 0.5) - 0.5)


def test_an_optimizer_made_later_takes_over_the_state() -> None:
    w = vector([1.0, -2.0])
    squares(w)
    first, second, third = (optimizer.Adam(0.1, parameters=[w]) for _ in range(3))
    first.step()
    state = first.state_dict()
    second.set_state_dict(state)
    names = sorted(second.state_dict())
    assert names == [n[:-1] + "1" for n in sorted(state)]
    for ours, theirs in zip(names, sorted(state), strict=True):
        np.testing.assert_array_equal(second.state_dict()[ours].numpy(), state[theirs].numpy())
    third.set_state_dict({})
    state.popitem()
    with pytest.raises(AssertionError, match="should be in the state dict"):
        third.set_state_dict(state)


def test_the_two_halves() -> None:
    a, b = vector([1.0]), vector([1.0])
    sgd = optimizer.SGD(0.25, parameters=[a, b])
    squares(a, b)
    pairs = sgd.backward(a.sum())
    assert [(p is q, g.item()) for (p, g), q in zip(pairs, (a, b), strict=True)] == [(True, 2.0), (True, 2.0)]
    assert sgd.apply_gradients(pairs[:1]) == []
    assert (a.item(), b.item()) == (0.5, 1.0)
    _, pairs = sgd.minimize(a.sum(), parameters=[b])
    assert [p is b for p, _ in pairs] == [True]
    assert (a.item(), b.item()) == (0.5, 0.5)
    with pytest.raises(AssertionError, match="The loss should be"):
        sgd.minimize(3)

"""``RecomputeOptimizer``: an optimizer around another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ModeError, UnsupportedError
from gradtool.paddle.incubate.optimizer import RecomputeOptimizer
from tests.autodiff.nets import main, run
from tests.autodiff.test_backward_arguments import unchanged

pytestmark = pytest.mark.usefixtures("fresh_names")


def net() -> tuple[Any, list[Any]]:
    h = paddle.static.data("x", [4, 3])
    layers = []
    for name in "abc":
        h = F.dropout(paddle.static.nn.fc(h, 3, name=name, activation="relu"), 0.3)
        layers.append(h)
    return paddle.mean(h), layers


def weights(steps: int, checkpoints: Any) -> list[np.ndarray]:
    """Parameters after some steps of Momentum."""
    paddle.seed(4)
    program, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    program.random_seed = 9
    with paddle.static.program_guard(program, startup), paddle.static.scope_guard(scope):
        loss, layers = net()
        optimizer: Any = paddle.optimizer.Momentum(0.1)
        if checkpoints is not None:
            optimizer = RecomputeOptimizer(optimizer)
            optimizer._set_checkpoints(checkpoints(layers))
        optimizer.minimize(loss)
        assert any(o.repeats is not None for o in program.global_block().ops) == (checkpoints is not None)
        for i in range(steps):
            run([loss], {"x": np.random.default_rng(i).random((4, 3)).astype("float32")})
        return [np.array(scope.find_var(p.name).get_tensor()) for p in program.all_parameters()]


@pytest.mark.parametrize(
    "checkpoints", [lambda layers: layers[:2], lambda layers: [layers[1].name], lambda layers: "auto"]
)
def test_training_is_the_same_to_the_bit(checkpoints: Any) -> None:
    for a, b in zip(weights(3, None), weights(3, checkpoints), strict=True):
        np.testing.assert_array_equal(a, b)


def test_minimize_returns_updates_and_pairs() -> None:
    loss, layers = net()
    optimizer = RecomputeOptimizer(paddle.optimizer.SGD(0.1))
    optimizer._set_checkpoints(layers[:1])
    updates, pairs = optimizer.minimize(loss, no_grad_set={"b.b_0"})
    assert [o.type for o in updates] == ["sgd"] * 5
    assert [p.name for p, _ in pairs] == ["a.w_0", "a.b_0", "b.w_0", "c.w_0", "c.b_0"]


def test_backward_and_apply_gradients() -> None:
    loss, layers = net()
    optimizer = RecomputeOptimizer(paddle.optimizer.SGD(0.1))
    optimizer._set_checkpoints(layers[:1])
    pairs = optimizer.backward(loss, callbacks=[lambda block, context: None])
    assert len(pairs) == 6
    assert [o.type for o in optimizer.apply_gradients(pairs)] == ["sgd"] * 6
    assert optimizer.get_lr() == 0.1


def test_the_optimizer_inside_is_left_as_it_was() -> None:
    loss, layers = net()
    inside = paddle.optimizer.SGD(0.1)
    outside = RecomputeOptimizer(inside)
    outside._set_checkpoints(layers[:2])
    inside.minimize(loss)
    assert not any(o.repeats is not None for o in main().global_block().ops)


@pytest.mark.parametrize("wrong", [3, "x", ("x",), [3], None], ids=repr)
def test_checkpoints_of_a_wrong_type(wrong: Any) -> None:
    with pytest.raises(AssertionError, match="list of Variable or a list of String"):
        RecomputeOptimizer(paddle.optimizer.SGD(0.1))._set_checkpoints(wrong)


def test_without_checkpoints() -> None:
    loss, _ = net()
    with unchanged(), pytest.raises(AssertionError, match="You should call _set_checkpoints first"):
        RecomputeOptimizer(paddle.optimizer.SGD(0.1)).minimize(loss)


def test_an_update_that_fails_leaves_the_program_as_it_was() -> None:
    class Failing(paddle.optimizer.SGD):  # type: ignore[misc]
        def apply_gradients(self, params_grads: Any) -> Any:
            raise RuntimeError("no")

    loss, layers = net()
    optimizer = RecomputeOptimizer(Failing(0.1))
    optimizer._set_checkpoints(layers[:2])
    before = str(main()), [(o.inputs, o.attrs) for o in main().global_block().ops]
    with pytest.raises(RuntimeError, match="no"):
        optimizer.minimize(loss)
    assert (str(main()), [(o.inputs, o.attrs) for o in main().global_block().ops]) == before


def test_what_it_refuses() -> None:
    with pytest.raises(ArgumentTypeError, match="optimizer"):
        RecomputeOptimizer(3)
    with pytest.raises(UnsupportedError, match="load"):
        RecomputeOptimizer(paddle.optimizer.SGD(0.1)).load({})
    optimizer = RecomputeOptimizer(paddle.optimizer.SGD(0.1))
    optimizer._set_checkpoints(["h"])
    paddle.disable_static()
    with pytest.raises(ModeError, match="static programs") as caught:
        optimizer.minimize(paddle.to_tensor(1.0))
    assert "fleet.utils.recompute" in (caught.value.hint or "")

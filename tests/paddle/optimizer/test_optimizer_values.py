"""Optimizers in static mode: values after some steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.verify import verify
from gradtool.paddle import _alias
from tests.paddle.optimizer.optimizer_programs import run
from tests.parity import replay

optimizer = paddle.optimizer
VALUES = json.loads(Path(__file__).with_name("optimizer_values.json").read_text())
"""A parameter after five steps of Paddle 3.1.1, by the expression that makes the optimizer."""


pytestmark = pytest.mark.usefixtures("fresh_names")


@pytest.mark.parametrize("expression", VALUES)
def test_five_steps(expression: str) -> None:
    rng = np.random.RandomState(0)
    start = rng.randn(3, 2).astype("float32")
    batches = rng.randn(5, 4, 3).astype("float32")
    x = paddle.static.data("x", [4, 3])
    w = paddle.static.create_parameter(
        [3, 2], "float32", name="w", default_initializer=paddle.nn.initializer.Assign(start)
    )
    trainer = eval(f"optimizer.{expression}", {"optimizer": optimizer, "paddle": paddle})
    trainer.minimize(paddle.mean(paddle.square(x @ w - 1.0)))
    verify(paddle.static.default_main_program())
    for i, batch in enumerate(batches):
        (after,) = run([w], startup=i == 0, x=batch)
    np.testing.assert_allclose(after.reshape(-1), VALUES[expression], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rate", [0.1, optimizer.lr.StepDecay(0.1, 5)], ids=["number", "schedule"])
@pytest.mark.parametrize("kind", ["SGD", "Momentum", "Adam", "AdamW", "Adagrad", "RMSProp", "Lamb"])
def test_a_float64_program_has_a_float64_learning_rate(kind: str, rate: Any) -> None:
    w = paddle.static.create_parameter([2], "float64", name="w")
    trainer = getattr(optimizer, kind)(rate)
    trainer.minimize(paddle.sum(w * w))
    held = paddle.static.default_main_program().global_block().var("learning_rate_0")
    assert held.dtype is paddle.float64
    before, after = (run([fetched], startup=first)[0] for fetched, first in ((w, True), (held, False)))
    assert (before.dtype, after.item()) == ("float64", 0.1)


def test_the_learning_rate_has_the_type_of_the_loss_then_of_the_first_parameter() -> None:
    w = paddle.static.create_parameter([2], "float64", name="w")
    loss = paddle.sum(w * w)
    pairs = paddle.static.append_backward(loss)
    optimizer.SGD(0.1).apply_gradients(pairs)  # nothing says a type, as in Paddle
    optimizer.SGD(0.1, parameters=[w]).apply_gradients(pairs)
    optimizer.SGD(0.1).minimize(paddle.cast(loss, "float16"))
    optimizer.SGD(0.1, parameters=[w]).minimize(paddle.cast(loss, "float32"))
    block = paddle.static.default_main_program().global_block()
    types = [block.var(f"learning_rate_{i}").dtype for i in range(4)]
    assert types == [paddle.float32, paddle.float64, paddle.float32, paddle.float32]


@pytest.mark.parametrize(
    "name", [n for n in replay.names("s") if "minimize" in (replay.CASES / "models" / f"{n}.py").read_text()]
)
def test_recorded_steps(name: str) -> None:
    with _alias.active():
        case = replay.Replay(name)
    case.reset()
    losses = [case.run([case.outputs["loss"].name]) for _ in range(case.record["steps"]["n"])]
    for ours, recorded in zip(losses, case.record["steps"]["losses"], strict=True):
        assert replay.close(ours[0].reshape(-1), np.array(recorded, "float32")) is None
    for variable, value in case.record["after_steps"].items():
        after = np.array(case.scope.find_var(variable).get_tensor())
        assert replay.close(after, replay.array(value)) is None, variable


@pytest.mark.parametrize(
    "kind", ["SGD", "Momentum", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "RMSProp", "Lamb"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes_stay(kind: str, dtype: str) -> None:
    paddle.set_default_dtype(dtype)
    loss = network_of(dtype)
    getattr(optimizer, kind)(learning_rate=0.1).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    scope = paddle.static.global_scope()
    exe.run(feed={"x": np.ones((4, 3), dtype)}, fetch_list=[loss])
    for v in paddle.static.default_main_program().list_vars():
        if v.persistable:
            value = np.array(scope.find_var(v.name).get_tensor())
            assert (value.dtype, value.shape) == (v.dtype.numpy, v.shape), v.name


def network_of(dtype: str) -> Any:
    x = paddle.static.data("x", [4, 3], dtype)
    w = paddle.static.create_parameter([3, 2], dtype, name="w")
    b = paddle.static.create_parameter([], dtype, name="b", is_bias=True)
    return paddle.mean(paddle.square(x @ w + b))

"""What a run holds: counted per buffer, and plans that let go of what will be computed again."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.kernels.choice import backend
from tests.autodiff.nets import data, main, mean, op, run

SIZE = (64, 64)
UNIT = 64 * 64 * 8


def peak(fetch: list[Any]) -> Any:
    return paddle.static.Executor().peak(main(), {"x": np.ones(SIZE)}, fetch)


def test_a_chain_holds_two_values() -> None:
    h = data("x", *SIZE)
    for _ in range(5):
        h = op("tanh", h)
    most = peak([h])
    assert most.nbytes == 2 * UNIT  # the first one's input is fed
    assert most.op.type == "tanh"


def test_views_count_once() -> None:
    h = op("tanh", data("x", *SIZE))
    flat = op("reshape2", h, shape=[-1])
    loss = op("reduce_sum", op("transpose2", op("reshape2", flat, shape=list(SIZE)), axis=[1, 0]), reduce_all=True)
    assert peak([loss]).nbytes == UNIT + 8


def test_what_is_fed_and_parameters_do_not_count() -> None:
    x = data("x", *SIZE)
    w = paddle.static.create_parameter([64, 64], "float64")
    paddle.static.Executor().run(paddle.static.default_startup_program())
    assert peak([op("elementwise_add", x, w)]).nbytes == UNIT
    assert peak([x]).nbytes == 0
    assert peak([x]).op is None


def test_parameters_are_updated_as_in_a_run() -> None:
    x = data("x", *SIZE, gradient=False)
    loss = mean(paddle.static.nn.fc(op("cast", x, in_dtype=6, out_dtype=5), 1, name="fc"))
    with paddle.utils.unique_name.guard():
        paddle.optimizer.SGD(0.5).minimize(loss)
    before = run(["fc.w_0"], {"x": np.ones(SIZE)})[0]  # fetched after the update
    peak([loss])
    w = np.array(paddle.static.global_scope().find_var("fc.w_0").get_tensor())
    np.testing.assert_allclose(before - w, 0.5, rtol=1e-5)


def test_a_value_that_is_computed_again_is_let_go_of_in_between() -> None:
    x = data("x", *SIZE)
    chain = [op("tanh", x)]
    for _ in range(7):
        chain.append(op("tanh", chain[-1]))
    loss = mean(chain[-1])
    ((_, gradient),), _ = paddle.static.append_backward(loss, [x], checkpoints=[chain[3], chain[5]])
    plan = lower(main(), ["x"], [loss.name, gradient.name], backend("numpy"))
    regs = plan.registers({"x": np.ones(SIZE)}, {})
    alive: dict[str, weakref.ref[Any]] = {}
    for step in plan.steps(regs):
        for v, value in zip(step.op.output_variables(), step.outputs, strict=True):
            alive[v.name] = weakref.ref(np.asarray(value))
        if step.op.type == "reduce_mean":
            gone = [v.name for v in chain if alive[v.name]() is None]
            assert gone == [chain[i].name for i in (0, 1, 2, 4)]


def test_a_shape_alone_is_taken_from_the_first_value() -> None:
    """The last product of a segment is needed for its shape only: it does not run again."""
    x = paddle.static.data("x", [64, 64])
    h = paddle.static.nn.fc(paddle.static.nn.fc(x, 64, name="a", activation="relu"), 64, name="b")
    loss = mean(h)
    result, _ = paddle.static.append_backward(loss, checkpoints=[h])
    assert any(o.repeats is not None and "b.w_0" in o.input_arg_names for o in main().global_block().ops)
    plan = lower(main(), ["x"], [g.name for _, g in result], backend("numpy"))
    again = [i.op for i in plan.instructions if i.op is not None and i.op.repeats is not None]
    assert [o.type for o in again] == ["mul", "elementwise_add", "relu"]
    assert not any("b.w_0" in o.input_arg_names for o in again)


@pytest.mark.parametrize("type_", ["fill_any_like", "shape", "size"])
def test_operators_that_read_shapes_do_not_keep_values(type_: str) -> None:
    x = data("x", *SIZE)
    h = op("tanh", x)
    long = h
    for _ in range(4):
        long = op("tanh", long)
    last = op(type_, h)
    assert peak([long, last]).nbytes <= 2 * UNIT + (UNIT if type_ == "fill_any_like" else 64)
    expected = {"fill_any_like": np.zeros(SIZE), "shape": np.array(SIZE), "size": np.array(64 * 64)}
    np.testing.assert_array_equal(run([last], {"x": np.ones(SIZE)})[0], expected[type_])

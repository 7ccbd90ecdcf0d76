"""``ExponentialMovingAverage``: numbers as Paddle 3.1.1 was seen to make them, programs as it writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle

static = paddle.static
ONES = {"x": np.ones((4, 3), "float32")}

pytestmark = pytest.mark.usefixtures("fresh_names")


def model(**settings: Any) -> Any:
    """A training whose weights begin at 0.5 and fall by 0.05 with each step."""
    half = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5))
    loss = paddle.mean(static.nn.fc(static.data("x", [4, 3]), 2, weight_attr=half))
    paddle.optimizer.SGD(0.1).minimize(loss)
    average = static.ExponentialMovingAverage(0.9, **settings)
    average.update()
    executor = static.Executor()
    executor.run(static.default_startup_program())
    return average, executor


def value(name: str = "fc_0.w_0") -> float:
    return float(np.array(static.global_scope().find_var(name).get_tensor()).ravel()[0])


def test_the_numbers_are_paddles() -> None:
    average, executor = model()
    with average.apply(executor):
        assert value() == 0.0  # there is no average yet
    assert value() == 0.5
    for expected in (0.045, 0.0805, 0.10745):
        executor.run(feed=ONES)
        assert value("fc_0.w_0_ema_0") == pytest.approx(expected, abs=1e-6)
    assert value("@EMA_STEP_COUNTER@") == 3
    with average.apply(executor):
        assert value() == pytest.approx(0.3964944, abs=1e-6)
    assert value() == pytest.approx(0.35, abs=1e-6)
    with average.apply(executor, need_restore=False):
        pass
    assert value() == pytest.approx(0.3964944, abs=1e-6)
    average.restore(executor)
    assert value() == pytest.approx(0.35, abs=1e-6)


def test_an_error_inside_brings_the_parameters_back() -> None:
    average, executor = model()
    executor.run(feed=ONES)
    before = value()
    with pytest.raises(RuntimeError, match="inside"), average.apply(executor):
        raise RuntimeError("inside")
    assert value() == before


def test_the_program_is_written_as_paddle_writes_it() -> None:
    model()
    block = static.default_main_program().global_block()
    assert [op.type for op in block.ops[-5:]] == [
        "elementwise_mul",
        "scale",
        "elementwise_mul",
        "elementwise_add",
        "assign",
    ]
    assert (block.ops[0].type, block.ops[0].input("X")) == ("increment", ["@EMA_STEP_COUNTER@"])
    first = next(op for op in block.ops if "fc_0.w_0_ema_0" in op.input_arg_names)
    assert first.attr("op_role") == 2
    assert first.attr("op_role_var") == ["fc_0.w_0", "fc_0.w_0.ema_tmp_0"]
    assert first.attr("op_namescope") == "/moving_average_2/"


def test_the_decay_can_begin_low() -> None:
    steps = static.create_global_var([1], 0.0, "float32", persistable=True)
    _, executor = model(thres_steps=steps)
    executor.run(feed=ONES)
    assert value("scheduled_ema_decay_rate") == pytest.approx(0.1)
    assert value("fc_0.w_0_ema_0") == pytest.approx(0.9 * 0.45, abs=1e-6)


def test_frozen_parameters_have_no_average() -> None:
    static.nn.fc(static.data("x", [4, 3]), 2, weight_attr=paddle.ParamAttr(trainable=False))
    static.ExponentialMovingAverage()
    names = [v.name for v in static.default_main_program().list_vars()]
    assert [n for n in names if n.endswith("_ema_0")] == ["fc_0.b_0_ema_0"]

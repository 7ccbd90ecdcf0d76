"""Programs with branches and loops, written down as they ran and computed again at other values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from gradtool import paddle
from gradtool.engine.answers import checking
from gradtool.engine.answers.double_precision import Double
from gradtool.engine.core import watch
from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.runs import of_steps
from tests.autodiff.random_programs import NUMPY, Net, Step, examples, interpret, steps


@examples(150)
@given(steps(60))
def test_random_programs_computed_again_are_what_an_interpreter_computes(recipe: list[Step]) -> None:
    with fresh_programs():
        net = Net(recipe, blocks=True)
        forward = list(net.block.ops)
        gradients = dict(paddle.static.append_backward(net.loss, net.sources))
        rounds = of_steps.watch_steps()
        plan = lower(net.program, net.feed, [net.loss.name, *(g.name for g in gradients.values())], NUMPY)
        registers = plan.registers(net.feed, net.start)
        with watch.watch(rounds):
            plan.run(registers)
        timeline = of_steps.timeline(rounds.last, net.loss, {v: net.start[v.name] for v in net.sources})
        double = Double(timeline, net.sources)
        assert double.gaps == []
        _, before = double({})
        rng = np.random.default_rng(len(recipe))
        moved = {v: net.start[v.name] + 1e-3 * rng.normal(size=v.shape) for v in net.sources}
        for at in ({}, moved):
            loss, after = double(at)
            if all(np.array_equal(a, b) for (_, a), (_, b) in zip(before, after, strict=True)):
                values = dict(net.start) | {v.name: array for v, array in at.items()}
                interpret(forward, values)
                np.testing.assert_allclose(loss, values[net.loss.name], rtol=1e-11, atol=1e-13)


def checked(loss: Any, order: int = 1, **feed: Any) -> Any:
    paddle.static.Executor().run(paddle.static.default_startup_program())

    def run(fetch: Any) -> Any:
        return Executor().run(loss.block.program, feed=feed, fetch_list=list(fetch))

    return checking.check_program(loss, run, order)


def weight(*values: float, name: str = "w") -> Any:
    start = paddle.nn.initializer.Assign(np.array(values, "float32"))
    return paddle.static.create_parameter([len(values)], "float32", name=name, default_initializer=start)


def loop(body: Any, h: Any, times: int = 3) -> Any:
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], times, "int64")
    return paddle.static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, body(i, h)], [i, h])[1]


def test_a_branch_in_a_loop_both_orders() -> None:
    w = weight(0.5, -0.3)

    def body(i: Any, h: Any) -> Any:
        return paddle.static.nn.cond(i[0] == 1, lambda: paddle.exp(h * w), lambda: paddle.tanh(h + w))

    entries = checked(paddle.sum(loop(body, w * 2.0)), order=2)
    assert [(e.order, e.status) for e in entries] == [(1, "ok"), (2, "ok")]
    assert entries[0].analytic == pytest.approx(entries[0].numeric, rel=1e-5)


def test_a_wrong_gradient_inside_of_a_loop() -> None:
    w = weight(0.5, -0.3)

    def body(i: Any, h: Any) -> Any:
        return paddle.static.nn.static_pylayer(lambda x: paddle.tanh(x) + x, [h], lambda dy: dy)

    [entry] = checked(paddle.sum(loop(body, w, 1)))
    assert (entry.status, entry.cause) == ("wrong", "2 of 2 elements looked at are wrong, without a pattern")
    assert entry.suspect == "pylayer"


def test_a_loop_that_would_run_more_often_is_a_kink() -> None:
    w = weight(0.5)
    steps_ = paddle.full([1], 1.0)
    h, _ = paddle.static.nn.while_loop(
        lambda h, n: paddle.sum(h) < 2.0, lambda h, n: [h * 2.0, n + 1.0], [w * 1.0, steps_]
    )
    [entry] = checked(paddle.sum(h))
    assert (entry.status, entry.cause) == ("kink", "less_than has a kink there")


def test_a_branch_that_would_not_be_taken_is_a_kink() -> None:
    w = weight(0.5)
    taken = paddle.static.nn.cond(paddle.sum(w) < 0.5, lambda: w * 2.0, lambda: w * 3.0)
    [entry] = checked(paddle.sum(taken))
    assert (entry.status, entry.cause) == ("kink", "less_than has a kink there")


def test_a_gradient_penalty_through_a_loop() -> None:
    w = weight(0.5, -0.3)
    y = loop(lambda i, h: paddle.tanh(h * w), w * 2.0)
    [slope] = paddle.static.gradients([paddle.sum(y)], [w])
    [entry] = checked(paddle.sum(slope * slope))
    assert entry.status == "ok"


def test_a_loss_that_is_not_finite() -> None:
    [entry] = checked(paddle.sum(paddle.log(weight(0.0) * 1.0)))
    assert (entry.status, entry.cause) == ("unchecked", "the loss is not finite (gradtool nan explains it)")


def test_a_second_order_that_is_not_finite() -> None:
    w = weight(0.0)
    first, second = checked(paddle.sum(paddle.pow(w, 3.0) * 1.0 + paddle.sqrt(w * w * w * w + 0.0 * w)), order=2)
    assert (first.status, second.status) == ("unchecked", "unchecked")


def test_the_border_of_where_a_function_is_defined() -> None:
    [entry] = checked(paddle.sum(weight(0.0) ** 1.5))
    assert (entry.status, entry.cause) == ("unchecked", "a small step away the loss is not finite any more")

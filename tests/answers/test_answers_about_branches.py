"""Programs with branches and loops: what happens inside of them is seen, iteration by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers import checking
from gradtool.engine.executor.executor import Executor
from gradtool.engine.ir import blocks


@pytest.fixture
def loss() -> Any:
    """A root at 0, in the branch that is taken."""
    x = paddle.static.data("x", [3])
    w = paddle.static.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    h = x * w
    y = paddle.static.nn.cond(paddle.sum(x) > 0, lambda: paddle.sqrt(h), lambda: h * 2.0)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    return paddle.mean(y)


FEED = {"x": np.ones(3, "float32")}


def test_a_birth_inside_of_a_branch(loss: Any) -> None:
    story = gradtool.nan(loss, FEED)
    assert [(b.part, b.type) for b in story.births] == [("backward", "sqrt_grad")]
    assert story.births[0].cause.startswith("0.5·dout/out with out = 0")


def test_the_other_branch_is_clean(loss: Any) -> None:
    search = gradtool.nan(loss, {"x": -np.ones(3, "float32")})
    assert (search.births, search.clean) == ([], None)  # of the branch that was taken


def test_a_buffer_of_a_branch(loss: Any) -> None:
    buffers = {b.producer.type: [r.type for r in b.readers] for b in gradtool.saved(loss, FEED).kept}
    assert buffers["sqrt"] == ["sqrt_grad"]


def test_the_branch_that_is_not_taken_is_said(loss: Any) -> None:
    assert gradtool.nan(loss, {"x": -np.ones(3, "float32")}).unchecked == [
        f"2 operators in a branch that was not taken ({Path(__file__).name}:24): sqrt, assign"
    ]


def test_what_stands_in_a_branch_is_measured(loss: Any) -> None:
    story = gradtool.profile(loss, FEED, repeats=2)
    costs = {c.type: c for c in story.costs}
    assert {"conditional_block", "conditional_block_grad", "sqrt", "sqrt_grad"} <= set(costs)
    assert "scale" not in costs
    assert len(costs["sqrt"].seconds) == 2
    [(owner, number)] = costs["sqrt"].inside
    assert (owner.type, number) == ("conditional_block", 0)
    line = f"{Path(__file__).name}:24"
    assert f"forward;(no layer);{line};conditional_block;{line};sqrt " in story.flame()


@pytest.fixture
def repeated() -> Any:
    """Three iterations of a loop; in the second one the root of 0 is taken."""
    w = paddle.static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")

    def body(i: Any, h: Any) -> Any:
        g = paddle.static.nn.cond(i[0] == 1, lambda: paddle.sqrt(h - h), lambda: paddle.tanh(h * w))
        return [i + 1, g + w]

    _, h = paddle.static.nn.while_loop(lambda i, h: i < n, body, [i, w * 1.0])
    paddle.static.Executor().run(paddle.static.default_startup_program())
    return paddle.sum(h)


def test_a_birth_says_in_which_iteration(repeated: Any) -> None:
    story = gradtool.nan(repeated)
    [birth] = story.births
    assert (birth.part, birth.type) == ("backward", "sqrt_grad")
    outer, inner = birth.inside
    assert (outer.op.type, outer.number) == ("while_grad", 1)
    assert (inner.op.type, inner.number) == ("conditional_block_grad", 0)
    assert blocks.run_by(outer.op)[0].type == "while"
    assert str(story).startswith("inf born backward in sqrt_grad")
    assert story.unchecked == []


def test_gradients_run_by_run(repeated: Any) -> None:
    lines = {line.name: line for line in gradtool.stats(repeated).operators}
    runs = [(inside[0].number, n.nonfinite) for inside, n in lines["tanh_grad"].runs]
    assert runs == [(0, 2), (2, 0)]
    joined = lines["tanh_grad"].gradient
    assert (joined.elements, joined.nonfinite, lines["tanh_grad"].verdict) == (4, 2, "NaN")
    assert lines["sum_grad" if "sum_grad" in lines else "reduce_sum_grad"].runs == []


def test_buffers_of_each_iteration(repeated: Any) -> None:
    buffers = [b for b in gradtool.saved(repeated).kept if b.producer.type == "tanh"]
    assert [[r.number for r in b.producer.inside] for b in buffers] == [[0, 0], [2, 0]]
    assert [r.type for r in buffers[0].readers] == ["tanh_grad"]


def test_repeats_find_operators_again_in_other_branches() -> None:
    """Each repeat takes another branch, since the program counts its runs."""
    w = paddle.static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    count = paddle.static.create_global_var([1], 0.0, "float32", persistable=True)
    after = paddle.assign(count + 1.0, count)
    odd = after - 2.0 * paddle.floor(after / 2.0)
    y = paddle.static.nn.cond(odd[0] > 0.5, lambda: paddle.tanh(w), lambda: paddle.exp(w))
    loss = paddle.sum(y)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    story = gradtool.profile(loss, repeats=4)
    costs = {c.type: len(c.seconds) for c in story.costs}
    assert (costs["tanh"], costs["exp"], costs["reduce_sum"]) == (2, 2, 4)
    assert len([c for c in story.costs if c.type == "reduce_sum"]) == 1
    assert len({g.name for g in story.group_by("op")}) == len(costs)


def test_a_gradient_check_looks_inside(loss: Any) -> None:
    def run(fetch: Any) -> Any:
        return Executor().run(loss.block.program, feed={"x": -np.ones(3, "float32")}, fetch_list=list(fetch))

    [entry] = checking.check_program(loss, run)
    assert (entry.status, entry.cause) == ("ok", "")

"""Programs with branches: what happens inside of them is seen, counted once, and not taken for a gradient check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool.engine.answers import checking
from gradtool.engine.executor.executor import Executor


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
    story = paddle.find_nan(loss, FEED)
    assert [(b.part, b.type) for b in story.births] == [("backward", "sqrt_grad")]
    assert story.births[0].cause.startswith("0.5·dout/out with out = 0")


def test_the_other_branch_is_clean(loss: Any) -> None:
    assert paddle.find_nan(loss, {"x": -np.ones(3, "float32")}).clean


def test_a_buffer_of_a_branch(loss: Any) -> None:
    kept = {b.producer.type: [r.type for r in b.readers] for b in paddle.saved(loss, FEED).kept}
    assert kept["sqrt"] == ["sqrt_grad"]


def test_a_branch_counts_once(loss: Any) -> None:
    types = {c.type for c in paddle.profile(loss, FEED, repeats=1).costs}
    assert {"conditional_block", "conditional_block_grad"} <= types
    assert not types & {"sqrt", "sqrt_grad"}
    assert {o.name for o in paddle.stats(loss, FEED).operators} >= {"conditional_block_grad"}


def test_a_gradient_check_says_that_it_does_not_look_inside(loss: Any) -> None:
    def run(fetch: Any) -> Any:
        return Executor().run(loss.block.program, feed=FEED, fetch_list=list(fetch))

    [entry] = checking.of_program(loss, run)
    assert (entry.status, entry.cause) == ("unchecked", "conditional_block computes in a block of its own")

"""Gradients that vanish in the loops of programs, round by round, and those whose parts cancel there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.paddle import static

ROUNDS = 60


def answers(body: Callable[[Any, Any, Any], Any], rounds: int = ROUNDS) -> dict[str, Answer]:
    """What is told of the gradients of ``w``, which a loop begins with, and of ``b``, which its rounds read."""
    initializer = paddle.nn.initializer.Constant(0.5)
    w, b = (static.create_parameter([4], "float32", name=n, default_initializer=initializer) for n in "wb")
    i, n = paddle.zeros([1], "int64"), paddle.full([1], rounds, "int64")
    _, h = static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, body(i, h, b)], [i, w * 2.0])
    loss = paddle.sum(h)
    static.Executor().run(static.default_startup_program())
    return {a.name: a for a in gradtool.why(loss, [w, b], feed={})}


@pytest.mark.parametrize(
    ("body", "gain"),
    [
        (lambda i, h, b: h * 0.1 + b, "× 0.1 per round"),
        (lambda i, h, b: paddle.nn.functional.sigmoid(h * 0.1) + b, "per round"),
        (lambda i, h, b: static.nn.cond(i[0] < 2, lambda: h * 1.0, lambda: h * 0.1 + b), "per round"),
    ],
    ids=["product", "sigmoid", "branch"],
)
def test_a_product_over_the_rounds_that_is_below_the_smallest_number_has_vanished(body: Any, gain: str) -> None:
    told = answers(body)
    assert (told["w"].verdict, told["w"].state) == (Verdict.VANISHED, "grad = 0")
    assert gain in told["w"].label
    assert "smaller than any number" in told["w"].said[-1]
    assert told["b"].verdict is not Verdict.CANCELLED
    assert "grad = 0" not in told["b"].state


def test_parts_that_cancel_in_each_round_cancel() -> None:
    told = answers(lambda i, h, b: h * 0.5 - h * 0.5 + b, 4)
    assert (told["w"].verdict, told["w"].finding) == (Verdict.CANCELLED, True)


def test_what_is_multiplied_by_zero_in_the_first_round_is_told_by_that() -> None:
    told = answers(lambda i, h, b: h * paddle.cast(i, "float32") + b, 4)
    assert told["w"].verdict is Verdict.TIMES_ZERO

"""What ``gradtool.why`` answers where gradients pass a PyLayer of a static program, which has a backward of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.verdicts import Verdict

FACTORS = [(2.0, 3.0), (0.0, 3.0), (2.0, 0.0)]


def answers(first: float, second: float) -> dict[str, Any]:
    """By the parameters' names, of a layer whose backward multiplies by two factors; ``w`` is read twice."""
    x = paddle.static.data("x", [3])
    w, v = (paddle.static.create_parameter([3], "float32", name=name) for name in "wv")
    out = paddle.static.nn.static_pylayer(lambda a, b: a * b, [w, v], lambda d: (d * first, d * second))
    loss = paddle.sum(out * x) + paddle.sum(w)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    told = gradtool.why(loss, [w, v], feed={"x": np.array([1, 2, 3], "float32")}, contributions=True)
    return {a.name: a for a in told}


@pytest.mark.parametrize(("first", "second"), FACTORS)
def test_what_backward_returns_is_what_counts(first: float, second: float) -> None:
    told = answers(first, second)
    w, v = told["w"], told["v"]
    assert w.verdict is Verdict.OK
    assert w.gradient.norm == pytest.approx(np.linalg.norm(first * np.array([1, 2, 3]) + 1), rel=1e-5)
    parts = {p.op: p.norm for p in w.parts}
    assert parts["pylayer.0"] == pytest.approx(first * np.linalg.norm([1, 2, 3]), rel=1e-5)
    assert v.verdict is (Verdict.OK if second else Verdict.TIMES_ZERO)
    assert v.gradient.norm == pytest.approx(second * np.linalg.norm([1, 2, 3]), rel=1e-5)


def test_what_only_the_layer_reads_has_no_gradient_of_its_own() -> None:
    v, w = (paddle.static.create_parameter([3], "float32", name=name) for name in "vw")
    loss = paddle.sum(paddle.static.nn.static_pylayer(lambda a: a * w, [v], lambda d: d))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    (answer,) = gradtool.why(loss, [w])
    assert answer.verdict is Verdict.NON_DIFFERENTIABLE
    assert "pylayer has no gradient for w" in str(answer)


def test_functions_in_programs_are_called_without_what_they_skip() -> None:
    """Arrays have no names: what to skip is found by its place."""
    x = paddle.static.data("x", [3])
    w = paddle.static.create_parameter([3], "float32", name="w")
    hidden = w * x
    out = paddle.static.default_main_program().current_block().create_var(name="out", shape=[3], dtype="float32")
    paddle.static.py_func(np.tanh, hidden, out, lambda y, dy: dy * (1 - y * y), skip_vars_in_backward_input=hidden)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    (answer,) = gradtool.why(paddle.sum(out), [w], feed={"x": np.ones(3, "float32")})
    assert answer.verdict is Verdict.OK

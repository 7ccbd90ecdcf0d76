"""``stats``: numbers, verdicts, layers, and the trend with depth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.numbers import Numbers
from gradtool.engine.answers.stats import Gatherer, Line, StatsStory
from gradtool.engine.core.rows import SelectedRows
from gradtool.viz.bars import histogram, log_bar


def line(name: str, norm: float, weight: float = 1.0, shape: tuple[int, ...] = (2, 2)) -> Line:
    return Line(name, Numbers(norm, norm, 0.0, 0, 0, 4), weight, shape)


def test_numbers_of_an_array() -> None:
    numbers = Numbers.measure(np.array([3.0, -4.0, 0.0, np.nan, np.inf, 2e-5]))
    assert (round(numbers.norm, 6), numbers.largest, numbers.zeros, numbers.nonfinite, numbers.elements) == (
        5.0,
        4.0,
        1,
        2,
        6,
    )
    assert numbers.decades == {-5: 1, 0: 2}
    assert Numbers.measure(np.full(4, 1e200)).norm == 2e200  # squares would overflow
    assert Numbers.measure(np.zeros((0, 3))).elements == 0


def test_rows_that_a_sparse_gradient_leaves_out_are_zeros() -> None:
    numbers = Numbers.measure(SelectedRows(np.array([1]), np.array([[3.0, 4.0]], "float32"), 5))
    assert (numbers.norm, numbers.zeros, numbers.elements) == (5.0, 8, 10)


@pytest.mark.parametrize(
    ("gradient", "weight", "verdict"),
    [
        (None, 1.0, "no gradient"),
        (np.array([1.0, np.nan]), 1.0, "NaN"),
        (np.array([1.0, -np.inf]), 1.0, "infinite"),
        (np.zeros(2), 1.0, "zero"),
        (np.array([1e5]), 1e5, "large"),
        (np.array([1.0]), 1e-4, "large"),
        (np.array([1e-9]), 1.0, "vanishing"),
        (np.array([1e-9]), 0.0, "ok"),
        (np.array([1.0]), 1.0, "ok"),
    ],
)
def test_verdicts(gradient: Any, weight: float, verdict: str) -> None:
    assert Line("w", None if gradient is None else Numbers.measure(gradient), weight).verdict == verdict


def test_a_bias_that_has_hardly_moved_from_zero_is_no_measure() -> None:
    gradient = Numbers.measure(np.array([2.0]))
    assert Line("b", gradient, 1e-4, shape=(1,)).verdict == "ok"
    assert Line("w", gradient, 1e-4, shape=(1, 1)).verdict == "large"
    assert Line("b", Numbers.measure(np.array([2e4])), 1e-4, shape=(1,)).verdict == "large"
    assert Line("token", gradient, 1e-4, shape=(1, 1, 8)).verdict == "ok"


def test_the_trend_with_depth() -> None:
    falling = StatsStory([line(f"l{i}.w", 10.0**-i) for i in range(6)][::-1], [])
    assert falling.trend is not None
    assert (falling.trend.kind, falling.trend.first, falling.trend.last) == ("vanishing", "l5.w", "l0.w")
    assert falling.trend.factor == pytest.approx(0.1)
    rising = StatsStory([line(f"l{i}.w", 10.0**-i) for i in range(6)], [])
    assert rising.trend is not None
    assert rising.trend.kind == "exploding"
    assert StatsStory([line(f"l{i}.w", 10.0 ** (i % 2 * 5)) for i in range(6)], []).trend is None
    assert StatsStory([line("a", 1.0), line("b", 1e-9)], []).trend is None


def test_layers_and_the_worst_first() -> None:
    story = StatsStory([line("a.w", 3.0), line("a.b", 4.0), line("b.w", 1e5), line("c", 1.0)], [])
    layers = {x.name: x for x in story.layers}
    assert layers["a"].gradient is not None
    assert (layers["a"].gradient.norm, layers["a"].members) == (5.0, ["a.w", "a.b"])
    assert [x.name for x in story.worst(1)] == ["b.w"]


def test_static_and_dynamic_agree() -> None:
    paddle.disable_static()
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    w = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")
    p = paddle.create_parameter([3, 2], "float32", default_initializer=paddle.nn.initializer.Assign(w))
    dynamic = gradtool.stats(lambda: paddle.tanh(paddle.matmul(paddle.to_tensor(x), p)).mean())
    paddle.enable_static()
    v = paddle.static.data("x", [4, 3])
    q = paddle.static.create_parameter([3, 2], "float32", default_initializer=paddle.nn.initializer.Assign(w))
    loss = paddle.tanh(paddle.matmul(v, q)).mean()
    paddle.static.Executor().run(paddle.static.default_startup_program())
    static = gradtool.stats(loss, feed={"x": x})
    assert [(a.gradient, a.weight) for a in dynamic.parameters] == [(a.gradient, a.weight) for a in static.parameters]
    assert [o.name for o in dynamic.operators] == [o.name for o in static.operators if o.name != "fill_constant"]


def test_nothing_to_ask_about() -> None:
    with pytest.raises(TypeError, match="expected a loss Tensor"):
        gradtool.stats(3)


def test_a_gatherer_keeps_no_arrays() -> None:
    paddle.disable_static()
    from gradtool.engine.answers.tape_pass import watch_tape

    gatherer = Gatherer()
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    watch_tape(paddle.exp(x).sum(), gatherer)
    assert [o.name for o in gatherer.operators] == ["reduce_sum_grad", "exp_grad"]
    assert not any(isinstance(v, np.ndarray) for o in gatherer.operators for v in vars(o).values())


def test_small_pictures() -> None:
    assert [len(log_bar(v, 1e-3, 1e3)) for v in (1e-3, 1.0, 1e3, 0.0, float("nan"))] == [1, 5, 10, 0, 0]
    assert log_bar(2.0, 2.0, 2.0) == "█" * 10
    assert histogram({-3: 1, -1: 8}) == "1e-3 ▁ █ 1e-1"
    assert histogram({}) == ""


def test_rows_that_are_looked_up_several_times_count_once() -> None:
    paddle.disable_static()
    words = paddle.nn.Embedding(5, 2, sparse=True)
    loss = (words(paddle.to_tensor([1, 1, 3])) * paddle.to_tensor([[1.0], [2.0], [4.0]])).sum()
    [line] = gradtool.stats(loss).parameters
    g = line.gradient
    assert (g.elements, g.zeros, g.largest) == (10, 6, 4.0)
    assert g.norm == pytest.approx(np.sqrt(2 * 9 + 2 * 16))


def test_where_nothing_is_finite_there_is_no_size() -> None:
    paddle.disable_static()
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    (line,) = gradtool.stats(paddle.sqrt(w).sum()).parameters
    assert line.verdict == "infinite"
    assert line.gradient is not None
    assert line.gradient.nonfinite == 2
    assert math.isnan(line.gradient.norm)
    assert math.isnan(line.gradient.largest)

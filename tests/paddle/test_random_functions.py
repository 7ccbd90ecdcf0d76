"""Random tensors: operators, names, ranges, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle


def run(*fetch: Any) -> list[np.ndarray]:
    return paddle.static.Executor().run(feed={"x": np.full((2, 3), 5.0, "float32")}, fetch_list=list(fetch))


CALLS = [
    ("paddle.rand([50, 40])", "uniform_random", "uniform_0.tmp_0", 0.0, 1.0, 0.5),
    ("paddle.uniform([50, 40], min=2.0, max=4.0)", "uniform_random", "uniform_0.tmp_0", 2.0, 4.0, 3.0),
    ("paddle.uniform(paddle.assign([50, 40]), 'float64')", "uniform_random", "uniform_0.tmp_0", -1.0, 1.0, 0.0),
    ("paddle.randn([50, 40])", "gaussian_random", "gaussian_0.tmp_0", -6.0, 6.0, 0.0),
    ("paddle.standard_normal([50, 40])", "gaussian_random", "gaussian_0.tmp_0", -6.0, 6.0, 0.0),
    ("paddle.normal(3.0, 0.5, [50, 40])", "gaussian_random", "gaussian_0.tmp_0", 0.0, 6.0, 3.0),
    ("paddle.normal(paddle.full([50, 40], 3.0), 0.5)", "elementwise_add", "tmp_1", 0.0, 6.0, 3.0),
    (
        "paddle.normal(paddle.full([50, 40], 3.0), paddle.full([40, 50], 0.5))",
        "elementwise_add",
        "tmp_1",
        0.0,
        6.0,
        3.0,
    ),
    ("paddle.normal(1.0, paddle.full([50, 40], 0.5))", "scale", "tmp_1", -3.0, 5.0, 1.0),
    ("paddle.randint(2, 5, [50, 40])", "randint", "randint_0.tmp_0", 2, 4, 3.0),
    ("paddle.randint(3, shape=[50, 40], dtype='int32')", "randint", "randint_0.tmp_0", 0, 2, 1.0),
    ("paddle.randint_like(paddle.zeros([50, 40]), 2, 5)", "cast", "cast_0.tmp_0", 2, 4, 3.0),
    ("paddle.randperm(2001)", "randperm", "randperm_0.tmp_0", 0, 2000, 1000.0),
    ("paddle.bernoulli(paddle.full([50, 40], 0.25))", "bernoulli", "randint_0.tmp_0", 0, 1, 0.25),
    ("paddle.bernoulli(paddle.zeros([50, 40]), 0.25)", "bernoulli", "randint_0.tmp_0", 0, 1, 0.25),
]


@pytest.mark.parametrize(("call", "operator", "name", "low", "high", "mean"), CALLS, ids=[c[0] for c in CALLS])
def test_draws(call: str, operator: str, name: str, low: float, high: float, mean: float) -> None:
    draw = eval(call, {"paddle": paddle})
    assert draw.name == name
    assert draw.op.type == operator
    assert draw.stop_gradient
    first, second = run(draw)[0], run(draw)[0]
    assert draw.dtype.name == first.dtype.name
    assert first.size >= 2000
    assert low <= first.min() <= first.max() <= high
    assert abs(first.mean() - mean) < 0.1 * (high - low)
    assert not np.array_equal(first, second)


def test_a_seed_starts_the_stream_anew() -> None:
    draw = paddle.rand([4])
    paddle.seed(7)
    first = run(draw)[0]
    paddle.seed(7)
    np.testing.assert_array_equal(run(draw)[0], first)


def test_a_seed_of_its_own_gives_the_same_draw_every_time() -> None:
    draw = paddle.uniform([4], seed=3)
    np.testing.assert_array_equal(run(draw)[0], run(draw)[0])


def test_a_permutation_holds_every_number_once() -> None:
    assert sorted(run(paddle.randperm(7))[0].tolist()) == list(range(7))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("paddle.rand(3.0)", TypeError, "'shape'"),
        ("paddle.randint(5, 2)", ValueError, "low must be less than high"),
        ("paddle.randint(0)", ValueError, "low must be less than high"),
        ("paddle.randperm(-1)", ValueError, "must not be negative"),
        ("paddle.randperm(2.5)", TypeError, "'n'"),
        ("paddle.bernoulli(0.5)", TypeError, "'x'"),
        ("paddle.randint_like(1, 0, 2)", TypeError, "'x'"),
    ],
)
def test_wrong_arguments(call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        eval(call, {"paddle": paddle})

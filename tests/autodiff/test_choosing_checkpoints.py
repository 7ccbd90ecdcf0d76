"""Checkpoints chosen for the caller: how memory grows, budgets, and that the estimate is what a run holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.autodiff.checkpoints import BudgetError, choose, estimate
from gradtool.paddle._dispatch import apply
from tests.autodiff.nets import main, mean

BATCH, WIDTH = 64, 32
UNIT = BATCH * WIDTH * 4
"""Bytes of one activation of :func:`mlp`."""


def mlp(count: int, batch: int = BATCH) -> tuple[Any, list[Any]]:
    """A loss over *count* relu layers, and what each of them makes."""
    h = paddle.static.data("x", [batch, WIDTH])
    outs = []
    for i in range(count):
        h = paddle.static.nn.fc(h, WIDTH, name=f"l{i}", activation="relu")
        outs.append(h)
    return mean(h), outs


def held(loss: Any, checkpoints: Any, feed: dict[str, Any] | None = None) -> int:
    """Bytes alive at the peak of a run of loss and the first gradient."""
    result = paddle.static.append_backward(loss, checkpoints=checkpoints)
    gradients = result[0] if checkpoints else result
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    values = feed if feed is not None else {"x": np.ones((BATCH, WIDTH), "float32")}
    return exe.peak(main(), values, [loss, gradients[0][1]]).nbytes


def test_what_a_run_holds_grows_with_the_number_of_layers_without_checkpoints() -> None:
    loss, _ = mlp(64)
    assert 64 * UNIT < held(loss, None) < 68 * UNIT


@pytest.mark.parametrize("count", [16, 64, 256])
def test_what_a_run_holds_grows_as_the_square_root_with_checkpoints(count: int) -> None:
    loss, outs = mlp(count)
    step = math.isqrt(count)
    assert held(loss, outs[step - 1 : -1 : step]) < (2 * step + 2) * UNIT


@pytest.mark.parametrize("count", [16, 64, 256])
def test_automatic_checkpoints_hold_less_than_every_nth(count: int) -> None:
    loss, _ = mlp(count)
    assert held(loss, "auto") < (math.sqrt(2 * count) + 4) * UNIT


def test_a_layer_costs_at_most_one_more_run_of_its_operators() -> None:
    loss, _ = mlp(64)
    forward = len(main().global_block().ops)
    paddle.static.append_backward(loss, checkpoints="auto")
    again = [o.repeats for o in main().global_block().ops if o.repeats is not None]
    assert len(set(again)) == len(again) < forward


def test_cuts_go_where_little_crosses() -> None:
    """Wide layers between narrow ones: the narrow ones are kept."""
    h = paddle.static.data("x", [BATCH, 8])
    for i in range(12):
        h = paddle.static.nn.fc(h, 512, name=f"wide{i}", activation="relu")
        h = paddle.static.nn.fc(h, 8, name=f"narrow{i}", activation="relu")
    choice = choose(mean(h))
    assert {v.name.split(".")[0].rstrip("0123456789") for v in choice.checkpoints} == {"narrow"}
    assert choice.peak < choice.without / 4


def test_uneven_layers_are_cut_by_bytes_and_not_by_number() -> None:
    """A few large layers among many small ones: better than segments of equal length."""
    h = paddle.static.data("x", [4096, 16])
    outs = []
    for i in range(48):
        h = paddle.static.nn.fc(h, 256 if 20 <= i < 28 else 16, name=f"l{i}", activation="relu")
        outs.append(h)
    loss = mean(h)
    assert choose(loss).peak < 0.9 * min(estimate(loss, outs[k - 1 : -1 : k]).peak for k in range(4, 13))


@pytest.mark.parametrize("way", ["none", "some", "auto"])
@pytest.mark.parametrize("model", ["mlp", "encoder"])
def test_the_estimate_is_what_a_run_holds(model: str, way: str) -> None:
    if model == "mlp":
        loss, outs = mlp(20)
        feed = {"x": np.ones((BATCH, WIDTH), "float32")}
    else:
        h, outs = paddle.static.data("x", [4, 16, 32]), []
        for _ in range(6):
            h = paddle.nn.TransformerEncoderLayer(32, 4, 128, dropout=0.1, normalize_before=True)(h)
            outs.append(h)
        loss = mean(h)
        feed = {"x": np.ones((4, 16, 32), "float32")}
    checkpoints: Any = {"none": None, "some": outs[1::4], "auto": "auto"}[way]
    chosen = choose(loss) if way == "auto" else estimate(loss, checkpoints or [])
    nbytes = held(loss, checkpoints, feed)
    assert abs(chosen.peak - nbytes) < 0.12 * nbytes
    if way == "none":
        assert chosen.peak == chosen.without


@pytest.mark.parametrize("part", [0.9, 0.6, 0.4])
def test_a_budget_is_met_with_as_little_as_can_be_run_again(part: float) -> None:
    loss, _ = mlp(64)
    without = choose(loss).without
    choice = choose(loss, budget=int(part * without))
    assert choice.peak <= part * without
    before = choice.checkpoints[-1].name
    layer = int(before[1:].split(".")[0])
    assert layer < 64 * (1 - part) * 1.5 + 4  # what is kept as it is fills most of the budget


def test_a_budget_that_is_large_enough_needs_no_checkpoints() -> None:
    loss, _ = mlp(8)
    choice = choose(loss, budget=1 << 30)
    assert (choice.checkpoints, choice.peak) == ([], choice.without)


def test_a_budget_that_is_too_small_says_what_is_needed() -> None:
    loss, _ = mlp(16)
    least = choose(loss).peak
    with pytest.raises(BudgetError, match=f"about {least} bytes") as caught:
        choose(loss, budget=1000)
    assert isinstance(caught.value, ValueError)
    assert choose(loss, budget=least).peak <= least


def test_an_open_dimension_counts_as_one_or_as_what_is_fed() -> None:
    loss, _ = mlp(16, batch=-1)
    one, fed = choose(loss), choose(loss, shapes={"x": (BATCH, WIDTH)})
    assert one.without * BATCH > fed.without > 16 * UNIT
    assert one.without < 100 * WIDTH * 4
    assert held(loss, fed.checkpoints) < fed.without / 2


def test_dimensions_that_follow_from_what_is_fed() -> None:
    x = paddle.static.data("x", [-1, 4, 8])
    x.stop_gradient = False
    h = apply("tanh", paddle.reshape(x, [-1, 8]))
    loss = mean(apply("tanh", h))
    assert estimate(loss, [], shapes={"x": (10, 4, 8)}).peak >= 2 * 40 * 8 * 4


def test_where_nothing_is_saved_nothing_is_kept() -> None:
    x = paddle.static.data("x", [3])
    x.stop_gradient = False
    loss = mean(apply("tanh", x))
    assert paddle.static.append_backward(loss, [x], checkpoints="auto")[1] == []


def test_random_values_and_cut_gradients() -> None:
    h = paddle.static.data("x", [BATCH, WIDTH])
    for i in range(12):
        h = F.dropout(paddle.static.nn.fc(h, WIDTH, name=f"l{i}"), 0.5)
    loss = mean(h)
    result, names = paddle.static.append_backward(loss, checkpoints="auto")
    assert len(result) == 24
    assert names
    stopped = choose(loss, stopped=[v.name for v in main().all_parameters()])
    assert stopped.without < choose(loss).without

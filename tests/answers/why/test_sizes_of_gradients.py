"""Gradients that are zero but for rounding, that vanish or explode with depth, and where a size is born."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.answers.why.levels import measure, scramble, smallest
from gradtool.engine.answers.why.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("dynamic")

F = paddle.nn.functional


def weight(*shape: int, scale: float = 1.0, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).normal(0.0, scale, shape).astype("float32")
    return paddle.create_parameter(list(shape), "float32", default_initializer=paddle.nn.initializer.Assign(values))


def data(*shape: int, seed: int = 1) -> Any:
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def why(loss: Any, *asked: Any) -> list[Answer]:
    return list(gradtool.why(loss, list(asked)))


def scaled(factor: float, layers: int) -> tuple[Any, list[Any]]:
    """A loss behind layers each of which passes *factor* on."""
    eye = np.eye(3, dtype="float32") * np.float32(factor)
    make = paddle.nn.initializer.Assign
    weights = [paddle.create_parameter([3, 3], "float32", default_initializer=make(eye)) for _ in range(layers)]
    h = data(2, 3)
    for w in weights:
        h = paddle.matmul(h * 0.0 + 1.0, w) + paddle.matmul(h, w)
    return h.mean(), weights


@pytest.mark.parametrize(("factor", "verdict"), [(0.05, Verdict.VANISHED), (40.0, Verdict.EXPLODED)])
def test_depth_says_the_factor_per_layer(factor: float, verdict: Verdict) -> None:
    with gradtool.watching():
        loss, weights = scaled(factor, 12)
        (told,) = why(loss, weights[0])
    assert told.verdict is verdict
    assert told.label == f"{verdict.value}: × {factor:.3g} per layer"
    assert told.finding


def test_a_gradient_through_many_residual_blocks_is_as_certain_as_its_parts() -> None:
    """Each block adds two parts that share their rounding: doubts that are added up would outgrow any gradient."""
    with gradtool.watching():
        w = weight(3)
        h = data(2, 3) * w
        for _ in range(60):
            h = h - (paddle.tanh(h) + paddle.sin(h)) * 0.15
        (told,) = why(h.mean(), w)
    assert told.gradient is not None
    assert told.gradient.norm > 1e-10
    assert not told.verdict.is_zero


def test_parts_that_cancel_behind_residual_blocks_are_still_zero() -> None:
    with gradtool.watching():
        w = weight(3)
        h = data(2, 3) * w
        for _ in range(20):
            h = h + h * -0.1
        (told,) = why((h * 0.3 + h * 0.6 - h * 0.9).mean(), w)
    assert (told.verdict, told.finding) == (Verdict.CANCELLED, True)


def test_a_product_below_the_smallest_number_has_vanished_and_is_not_multiplied_by_zero() -> None:
    with gradtool.watching():
        loss, weights = scaled(0.05, 60)
        (told,) = why(loss, weights[0])
    assert told.verdict is Verdict.VANISHED
    assert told.state == "grad = 0"
    assert "× 0.05 per layer" in told.label
    assert "smaller than any number" in told.said[-1]


def test_one_weight_used_again_and_again_is_told_by_steps() -> None:
    with gradtool.watching():
        w, start = weight(4, 4, scale=0.02), weight(2, 4)
        h = start
        for _ in range(40):
            h = paddle.tanh(paddle.matmul(h, w))
        (told,) = why((h - 1.0).square().mean(), start)
    assert told.verdict is Verdict.VANISHED
    assert "per step" in told.label


def test_layers_that_keep_sizes_are_no_finding() -> None:
    with gradtool.watching():
        loss, weights = scaled(1.0, 40)
        assert [a.verdict for a in why(loss, weights[0])] == [Verdict.OK]


def test_a_bias_before_a_norm_is_zero_by_structure() -> None:
    with gradtool.watching():
        fc, norm = paddle.nn.Linear(4, 6), paddle.nn.BatchNorm1D(6)
        loss = (norm(fc(data(32, 4))) * data(32, 6, seed=3)).mean()
        bias, w = why(loss, fc.bias, fc.weight)
    assert (bias.verdict, bias.label, bias.finding) == (Verdict.CANCELLED, "zero by structure", False)
    assert bias.gradient is not None
    assert bias.gradient.norm < 1e-6
    assert w.verdict is Verdict.OK


def test_everything_before_a_norm_whose_mean_is_the_loss_is_a_finding() -> None:
    with gradtool.watching():
        fc, norm = paddle.nn.Linear(4, 6), paddle.nn.BatchNorm1D(6)
        (told,) = why(norm(fc(data(32, 4))).mean(), fc.weight)
    assert (told.verdict, told.finding) == (Verdict.CANCELLED, True)


def test_a_shared_bias_of_a_difference_is_zero_by_structure_and_a_shared_weight_is_not() -> None:
    with gradtool.watching():
        w, b = weight(4, 3), weight(3)
        x, y = data(5, 4), data(5, 4, seed=2)
        bias, shared = why((paddle.matmul(x, w) + b - (paddle.matmul(y, w) + b)).sum(), b, w)
    assert (bias.label, bias.finding) == ("zero by structure", False)
    assert shared.verdict is Verdict.OK


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 1e12])
def test_what_is_rounding_does_not_depend_on_the_unit(size: float) -> None:
    with gradtool.watching():
        w, level = weight(4, 5), weight(1)
        probabilities = F.log_softmax(paddle.matmul(data(16, 4), w) + level)
        (told,) = why((probabilities[:, 2]).mean() * size, level)
    assert told.label == "zero by structure"


def test_a_small_gradient_that_is_no_rounding_is_not_called_zero() -> None:
    """The mean of many numbers of both signs: small, and not as small as rounding."""
    with gradtool.watching():
        b = weight(1)
        signs = paddle.to_tensor(np.array([1.0, -1.0] * 500 + [0.01], "float32"))
        (told,) = why(((data(1001) + b) * signs).mean(), b)
    assert told.verdict is Verdict.OK


def test_a_loss_of_an_empty_selection_is_at_no_minimum() -> None:
    with gradtool.watching():
        w = weight(4)
        chosen = paddle.masked_select(w * 2.0, w > 100.0)
        (told,) = why(chosen.sum(), w)
    assert told.verdict is not Verdict.AT_MINIMUM
    assert told.finding


BORN = {
    "factor": (lambda x, w: (paddle.matmul(x, w)).mean() * 1e6, "a constant factor of 1e+06 multiplies it"),
    "sum": (lambda x, w: (paddle.matmul(x.tile([20000, 1]), w)).abs().sum(), "reduce_sum adds up"),
    "data": (lambda x, w: (paddle.matmul(x * 1e6, w)).abs().mean(), "holds numbers up to"),
    "divisor": (
        lambda x, w: (paddle.matmul(x, w) / paddle.full([4, 3], 1e-7)).mean(),
        "it divides by numbers from 1e-07",
    ),
}


@pytest.mark.parametrize("kind", BORN)
def test_where_a_large_gradient_is_born(kind: str) -> None:
    loss, said = BORN[kind]
    with gradtool.watching():
        w = weight(5, 3)
        (told,) = why(loss(data(4, 5), w), w)
    assert told.verdict is Verdict.LARGE
    assert not told.finding
    assert said in told.said[-1]


def test_a_gate_that_is_shut_is_a_finding_and_a_residual_is_not() -> None:
    with gradtool.watching():
        w, v = weight(5, 3), weight(5, 3, seed=4)
        x = data(4, 5)
        shut = F.sigmoid(paddle.matmul(x, w) - 60.0)
        (gate,) = why((shut * 2.0).mean(), w)
        near = paddle.matmul(x, v) - paddle.matmul(x, v).detach() + 1e-12
        (residual,) = why(near.square().mean(), v)
    assert (gate.verdict, gate.finding) == (Verdict.SMALL, True)
    assert "100 % of its outputs are within 1 % of 0 or 1" in gate.said[-1]
    assert not residual.finding


def test_numbers_that_are_not_finite_are_a_finding() -> None:
    with gradtool.watching():
        w = weight(4)
        (told,) = why((w * float("inf")).mean(), w)
    assert (told.verdict, told.finding) == (Verdict.NOT_FINITE, True)


def test_long_lists_of_names_are_folded() -> None:
    assert fold_names(["a", "b"]) == "a, b"
    names = [f"net.{i}.{kind}" for i in range(2000) for kind in ("weight", "bias")]
    assert fold_names(names) == "net.0…1999.weight, net.0…1999.bias"
    assert fold_names([f"w{i}" for i in (1, 2, 3, 7, 9, 10, 11, 12, 20, 30)]) == "w1…3,7,9…12,20,…"
    assert fold_names([f"x{c}" for c in "abcdefghijkl"]).endswith(", and 4 more")


def test_levels() -> None:
    level = measure(np.array([3.0, -4.0], "float32"))
    assert (level.largest, level.total, level.norm, level.elements) == (4.0, 7.0, 5.0, 2)
    assert not level.dead
    assert level.doubt_by(1.0).dead
    assert measure(np.array([np.nan])).largest == np.inf
    assert measure(np.zeros(0)).dead
    pattern = scramble(np.array([0.0, 1e-40, -2e-40], "float32"), 2e-40)
    assert pattern[0] == 0
    assert 0.1 < abs(pattern[1]) < 1
    assert smallest(np.zeros(1, "float16")) == 2.0**-24

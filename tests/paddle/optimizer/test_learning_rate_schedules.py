"""Learning rates that change from step to step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from tests.paddle.optimizer.optimizer_programs import run, vector

optimizer = paddle.optimizer
SCHEDULES = json.loads(Path(__file__).with_name("schedule_values.json").read_text())
"""The first learning rates of Paddle 3.1.1, by the expression that makes the schedule."""


pytestmark = pytest.mark.usefixtures("fresh_names")


def schedule(expression: str) -> Any:
    return eval(expression, {n: getattr(optimizer.lr, n) for n in optimizer.lr.__all__})


@pytest.mark.parametrize("expression", SCHEDULES)
def test_schedule(expression: str) -> None:
    scheduler = schedule(expression)
    rates = [scheduler()]
    for _ in SCHEDULES[expression][1:]:
        scheduler.step()
        rates.append(scheduler())
    np.testing.assert_allclose(rates, SCHEDULES[expression], rtol=1e-8, atol=1e-12)
    jumped, loaded = schedule(expression), schedule(expression)
    jumped.step(9)
    assert jumped() == pytest.approx(rates[9])
    loaded.set_state_dict(jumped.state_dict())
    jumped.step()
    loaded.step()
    assert loaded() == jumped() == pytest.approx(rates[10])


def test_a_cycle_scaled_by_a_function() -> None:
    scheduler = optimizer.lr.CyclicLR(0.0, 1.0, 1, scale_fn=lambda step: step, scale_mode="iterations")
    rates = [scheduler()]
    for _ in range(4):
        scheduler.step()
        rates.append(scheduler())
    assert rates == [0.0, 1.0, 0.0, 3.0, 0.0]


def test_reduce_on_plateau() -> None:
    scheduler = optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=1, threshold=0.1)
    rates = []
    for metric in [1.0, 0.8, 0.79, 0.78, 0.77, 0.76, 0.75, 0.2, 0.2, 0.2, 0.2, 0.2]:
        scheduler.step(np.float32(metric))
        rates.append(scheduler())
    assert rates == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125]


def test_reduce_on_plateau_wants_more() -> None:
    scheduler = optimizer.lr.ReduceOnPlateau(
        1.0, mode="max", patience=0, threshold_mode="abs", threshold=0.5, min_lr=0.3
    )
    for metric, rate in [(1.0, 1.0), (1.4, 0.3), (1.6, 0.3), (9.0, 0.3)]:
        scheduler.step(metric)
        assert scheduler() == rate
    with pytest.raises(TypeError, match="one number"):
        scheduler.step("high")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("StepDecay('a', 2)", TypeError),
        ("StepDecay(-1.0, 2)", ValueError),
        ("StepDecay(0.1, 2.5)", TypeError),
        ("StepDecay(0.1, 2, 1.0)", ValueError),
        ("NoamDecay(0, 2)", ValueError),
        ("PolynomialDecay(0.1, 0)", AssertionError),
        ("LinearWarmup('a', 2, 0.0, 1.0)", TypeError),
        ("LinearWarmup(0.1, 2, 1.0, 0.5)", AssertionError),
        ("MultiStepDecay(0.1, 3)", TypeError),
        ("MultiStepDecay(0.1, [3, 2])", ValueError),
        ("MultiStepDecay(0.1, [2, 3], 1.5)", ValueError),
        ("LambdaDecay(0.1, 3)", TypeError),
        ("CosineAnnealingDecay(0.1, 0)", AssertionError),
        ("CosineAnnealingDecay(0.1, 2.0)", TypeError),
        ("CosineAnnealingWarmRestarts(0.1, 0)", ValueError),
        ("ExponentialDecay(0.1, 2.0)", AssertionError),
        ("PiecewiseDecay([1], [0.1])", ValueError),
        ("LinearLR(0.1, 3, 0.0)", ValueError),
        ("LinearLR(0.1, 0)", ValueError),
        ("LinearLR(0.1, 3, end_factor=2.0)", ValueError),
        ("ReduceOnPlateau(0.1, factor=1.0)", ValueError),
        ("ReduceOnPlateau(0.1, mode='x')", ValueError),
        ("NaturalExpDecay(0.1, -1.0)", AssertionError),
        ("OneCycleLR('a', 3)", TypeError),
        ("OneCycleLR(1.0, 0)", ValueError),
        ("OneCycleLR(1.0, 2.5)", TypeError),
        ("OneCycleLR(1.0, 3, end_learning_rate=-1.0)", ValueError),
        ("OneCycleLR(1.0, 3, phase_pct=0.6, three_phase=True)", ValueError),
        ("OneCycleLR(1.0, 3, anneal_strategy='x')", ValueError),
        ("OneCycleLR(1.0, 3).step(4)", ValueError),
        ("CyclicLR(0.1, 0.5, 0)", ValueError),
        ("CyclicLR(0.1, 0.5, 3, 0)", ValueError),
        ("CyclicLR(0.1, 0.5, 3, mode='x')", ValueError),
        ("CyclicLR(0.1, 0.5, 3, scale_fn=3)", TypeError),
        ("CyclicLR(0.1, 0.5, 3, scale_fn=abs, scale_mode='x')", ValueError),
    ],
)
def test_a_schedule_refuses(expression: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        schedule(expression)
    assert isinstance(caught.value, GradtoolError)


def test_a_state_must_be_whole() -> None:
    with pytest.raises(RuntimeError, match="last_epoch"):
        optimizer.lr.StepDecay(0.1, 2).set_state_dict({})
    warmup = optimizer.lr.LinearWarmup(optimizer.lr.StepDecay(0.5, 2), 4, 0.1, 0.4)
    state = warmup.state_dict()
    assert state["LinearWarmup_LR"] == {"last_epoch": 0, "last_lr": 0.5}
    del state["LinearWarmup_LR"]
    with pytest.raises(RuntimeError, match="LinearWarmup_LR"):
        warmup.set_state_dict(state)


def test_a_schedule_announces(capsys: pytest.CaptureFixture[str]) -> None:
    optimizer.lr.StepDecay(0.5, 1, verbose=True).step()
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 0: StepDecay set learning rate to 0.5.",
        "Epoch 1: StepDecay set learning rate to 0.05.",
    ]


def test_every_run_uses_the_rate_of_the_schedule() -> None:
    w = vector("w", [1.0, 2.0])
    rates = optimizer.lr.PiecewiseDecay([1, 2], [0.5, 0.25, 0.125])
    sgd = optimizer.SGD(rates)
    sgd.minimize(paddle.sum(w))
    copy = paddle.static.default_main_program().clone()
    seen = [run([w, "learning_rate_0"], startup=True)]
    rates.step()
    seen.append(run([w, "learning_rate_0"]))
    rates.step()
    seen.append(paddle.static.Executor().run(copy, fetch_list=["w", "learning_rate_0"]))
    assert [(a.tolist(), float(r)) for a, r in seen] == [
        ([0.5, 1.5], 0.5),
        ([0.25, 1.25], 0.25),
        ([0.125, 1.125], 0.125),
    ]
    assert sgd.get_lr() == 0.125

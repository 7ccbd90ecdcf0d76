"""Schedules of the learning rate: each way to misuse one is found and named, and its advice makes the finding go."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

SCRIPT = """\
import paddle
from paddle.optimizer import lr

EPOCHS, BATCHES = 4, 6
paddle.seed(0)
net = paddle.nn.Linear(4, 1)
rate = lr.{rate}
opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
data = paddle.io.TensorDataset([paddle.randn([4 * BATCHES, 4])])
for epoch in range(EPOCHS):
    for (x,) in paddle.io.DataLoader(data, batch_size=4):
        loss = (net(x) - 1).square().mean()
        loss.backward()
        {batch}
        opt.clear_grad()
    {epoch}
{end}
"""
STEP = "opt.step()"
BOTH = "opt.step(); rate.step()"
NEXT = "rate.step()"
COSINE = "CosineAnnealingDecay(0.1, {})"
ONE_CYCLE = "OneCycleLR(0.1, EPOCHS * BATCHES)"


def found(file: Path, rate: str, batch: str = STEP, epoch: str = "pass", end: str = "") -> list[Finding]:
    file.write_text(SCRIPT.format(rate=rate, batch=batch, epoch=epoch, end=end), encoding="utf-8")
    return findings(Request(str(file)), "train.py", Selection(select=("GT702", "GT715", "GT717")))


WRONG = {
    "never stepped": (("StepDecay(0.1, 2)",), "StepDecay is never stepped", ("StepDecay(0.1, 2)", STEP, NEXT)),
    "stepped at the end": (
        ("StepDecay(0.1, 2)", STEP, "pass", NEXT),
        "StepDecay is stepped only after the last of 4 passes over the data",
        ("StepDecay(0.1, 2)", STEP, NEXT),
    ),
    "before the optimizer": (
        ("ExponentialDecay(0.1, 0.9)", "rate.step(); opt.step()"),
        "ExponentialDecay is stepped before SGD: no step is made at its first rate, 0.1",
        ("ExponentialDecay(0.1, 0.9)", BOTH),
    ),
    "a cosine of epochs after each batch": (
        (COSINE.format("EPOCHS"), BOTH),
        "CosineAnnealingDecay is made for 4 steps and is stepped 24 times",
        (COSINE.format("EPOCHS"), STEP, NEXT),
    ),
    "a cosine that is too short": (
        (COSINE.format(2), STEP, NEXT),
        "CosineAnnealingDecay is made for 2 steps and is stepped 4 times",
        (COSINE.format("EPOCHS"), STEP, NEXT),
    ),
    "milestones of epochs after each batch": (
        ("MultiStepDecay(0.1, [2, 3], 0.5)", BOTH),
        "MultiStepDecay is made for 3 steps and is stepped 24 times",
        ("MultiStepDecay(0.1, [2, 3], 0.5)", STEP, NEXT),
    ),
    "one cycle of batches after each epoch": (
        (ONE_CYCLE, STEP, NEXT),
        "OneCycleLR is made for 24 steps and is stepped 4 times, once an epoch",
        (ONE_CYCLE, BOTH),
    ),
    "no rate": (
        ("LambdaDecay(0.1, lambda step: step // 100)", BOTH),
        "LambdaDecay sets the learning rate to 0 in all 24 steps of SGD",
        ("LambdaDecay(0.1, lambda step: 1 - step // 100)", BOTH),
    ),
    "the rate in place of a factor": (
        ("LambdaDecay(0.1, lambda step: 1e-4 * 0.9**step)", BOTH),
        "LambdaDecay leaves nearly no learning rate for 24 steps of SGD",
        ("LambdaDecay(0.1, lambda step: 0.9**step)", BOTH),
    ),
    "a decay of epochs after each batch": (
        ("ExponentialDecay(0.1, 0.5)", BOTH),
        "ExponentialDecay leaves nearly no learning rate for 14 of 24 steps of SGD",
        ("ExponentialDecay(0.1, 0.5)", STEP, NEXT),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_misuse_is_named_at_the_line_of_the_schedule(tmp_path: Path, case: str) -> None:
    wrong, told, right = WRONG[case]
    (finding,) = found(tmp_path / "train.py", *wrong)
    assert (finding.code, finding.message) == ("GT717", told)
    assert finding.spot is not None
    assert finding.spot.line == 7
    assert found(tmp_path / "train.py", *right) == []


RIGHT = {
    "a plateau": ("ReduceOnPlateau(0.1, patience=1)", STEP, "rate.step(loss)"),
    "warm restarts": ("CosineAnnealingWarmRestarts(0.1, 2)", STEP, NEXT),
    "a warm-up that is over": ("LinearLR(0.1, 3, start_factor=0.01)", BOTH),
    "a warm-up before a cosine": (f"LinearWarmup(lr.{COSINE.format(20)}, 4, 0.0, 0.1)", BOTH),
    "waves": ("CyclicLR(0.001, 0.1, 4)", BOTH),
    "a step that is named": ("StepDecay(0.1, 2)", STEP, "rate.step(epoch)"),
    "a step that this run is too short for": ("StepDecay(0.1, 2)", STEP, "if epoch > 9: rate.step()"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_nothing_is_said_of_a_schedule_that_is_meant(tmp_path: Path, case: str) -> None:
    assert [f for f in found(tmp_path / "train.py", *RIGHT[case]) if f.severity is not Severity.NOTE] == []

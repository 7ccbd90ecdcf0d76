"""A bias before batch norm has a gradient of rounding alone: that no step moves it is no fault of the optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradtool

SCRIPT = """\
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), NORM, nn.ReLU(), nn.Linear(8, 1))
net[0].bias.set_value(paddle.ones([8]))
biases = paddle.optimizer.SGD(RATE, parameters=[net[0].bias])
others = paddle.optimizer.SGD(0.01, parameters=[p for p in net.parameters() if p is not net[0].bias])
for step in range(4):
    x, y = paddle.randn([16, 4]), paddle.randn([16, 1])
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    biases.step()
    others.step()
    biases.clear_grad()
    others.clear_grad()
"""


@pytest.mark.parametrize(
    ("norm", "rate", "codes"), [("nn.BatchNorm1D(8)", "0.01", []), ("nn.Identity()", "0.0", ["GT702"])]
)
def test_steps_that_leave_a_bias(tmp_path: Path, norm: str, rate: str, codes: list[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(SCRIPT.replace("NORM", norm).replace("RATE", rate), "utf-8")
    report = gradtool.check(path, select="GT702", jobs=0)
    assert [finding.code for finding in report.all] == codes

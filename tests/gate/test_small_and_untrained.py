"""Models that nobody trains, single scales, gradients that are 0 by underflow: what is said of each, and how loudly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.finding import Severity
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

TRAINED = """\
import paddle
import paddle.nn as nn

paddle.seed(0)
net = nn.Linear(4, 2)
{other}
opt = paddle.optimizer.SGD(0.1, parameters={parameters})
for i in range(3):
    loss = net(paddle.randn([6, 4])).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
OTHER = "other = nn.Linear(4, 2); out = other(paddle.randn([2, 4]))"
SCALED = """\
import paddle
import paddle.nn as nn

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return {result}


net = Net()
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for i in range(3):
    loss = (net(paddle.randn([6, 8])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


def found(text: str, tmp_path: Path) -> list[tuple[str, Severity]]:
    path = tmp_path / "model.py"
    path.write_text(text)
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1", "GT2")))
    return [(f.code, f.severity) for f in said]


@pytest.mark.parametrize(
    ("other", "parameters", "severity"),
    [
        (OTHER, "net.parameters()", Severity.NOTE),
        (OTHER, "net.parameters() + other.parameters()", Severity.ERROR),
    ],
)
def test_a_model_that_nobody_trains_is_a_note(other: str, parameters: str, severity: Severity, tmp_path: Path) -> None:
    assert found(TRAINED.format(other=other, parameters=parameters), tmp_path) == [("GT102", severity)]


def test_one_scale_with_a_small_gradient_is_its_own_affair(tmp_path: Path) -> None:
    assert found(SCALED.format(result="self.head(x) + 1e-9 * self.scale"), tmp_path) == []


@pytest.mark.parametrize("factor", ["1e-30", "1e-9"])
def test_a_factor_that_leaves_no_gradient_is_found(factor: str, tmp_path: Path) -> None:
    text = SCALED.format(result=f"self.head(x * self.scale) * {factor}").replace(" - 1).square", ").square")
    assert [code for code, _ in found(text, tmp_path)] == ["GT204"]


def test_a_use_that_is_multiplied_by_0_is_a_note(tmp_path: Path) -> None:
    text = SCALED.format(result="self.head(x * self.scale) + self.head(paddle.tanh(x * self.scale) * 0.0)")
    assert found(text, tmp_path) == [("GT112", Severity.NOTE)]


LEAST = SCALED.format(result="self.head(x * self.scale)").replace("loss = (net", "loss = F.relu((net")
LEAST = LEAST.replace("mean()\n", "mean() - {margin})\n").replace(
    "as nn\n", "as nn\nimport paddle.nn.functional as F\n"
)


def test_a_loss_that_is_least_in_every_step_is_found(tmp_path: Path) -> None:
    assert found(LEAST.format(margin="1e3"), tmp_path) == [("GT205", Severity.ERROR)]


def test_a_loss_that_becomes_least_is_silent(tmp_path: Path) -> None:
    assert found(LEAST.format(margin="(i > 0) * 1e3"), tmp_path) == []

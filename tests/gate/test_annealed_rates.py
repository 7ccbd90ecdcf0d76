"""Updates that a schedule of the learning rate makes too small to change anything: one finding, whoever stops first."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

SCRIPT = """\
import paddle

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))
rate = paddle.optimizer.lr.{rate}
opt = paddle.optimizer.Adam(rate, parameters=net.parameters())
x = paddle.randn([32, 8])
y = x.sum(1, keepdim=True)
for _ in range({steps}):
    loss = paddle.nn.functional.mse_loss(net(x), y)
    opt.clear_grad()
    loss.backward()
    opt.step()
    rate.step()
"""
FALLEN = """\
step 13: updates change nothing from here on: all 4 gradients; the learning rate has fallen from 0.01 to 1e-10 by then\
"""


@pytest.mark.parametrize(
    ("rate", "steps", "told"),
    [
        (
            "StepDecay(0.01, 3, 0.01)",
            30,
            [FALLEN],
        ),
        ("StepDecay(0.01, 12, 1e-8)", 13, []),
        ("CosineAnnealingDecay(0.01, 30)", 30, []),
        ("StepDecay(0.01, 20, 0.1)", 30, []),
    ],
    ids=["too-early", "at-the-end", "cosine", "usual"],
)
def test_a_rate_that_has_fallen_is_one_finding(tmp_path: Path, rate: str, steps: int, told: list[str]) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.format(rate=rate, steps=steps), encoding="utf-8")
    found = findings(Request(str(tmp_path / "train.py")), "train.py", Selection(select=("GT715",)))
    assert [f.message for f in found] == told

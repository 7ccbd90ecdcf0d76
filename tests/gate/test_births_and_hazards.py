"""A hazard that has struck is the birth of the NaN, and said once."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

SCRIPT = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 4)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    z = paddle.nn.functional.relu(net(paddle.randn([8, 4])))
    distance = (z.unsqueeze(1) - z.unsqueeze(0)).square().sum(-1).sqrt()
    loss = distance.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_root_at_zero_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(SCRIPT)
    found = [f for f in findings(Request(str(path)), "model", Selection()) if f.code in ("GT201", "GT202", "GT209")]
    assert [(f.code, f.spot and f.spot.line) for f in found] == [("GT202", 8)]
    assert any("GT209" in line for line in found[0].explanation)

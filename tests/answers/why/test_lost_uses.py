"""Uses that leave the graph as plain values and come back are notes; targets that do the same are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
body, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
opt = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *head.parameters()])
for _ in range(2):
    x, y = paddle.rand([8, 4]), paddle.rand([8, 1])
    h = paddle.tanh(body(x))
    {line}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

LOST = {
    "tolist": "g = paddle.to_tensor((h / h.sum()).tolist()); loss = F.mse_loss(head(h * g), y)",
    "numpy": "g = paddle.to_tensor((h / h.sum()).numpy()); loss = F.mse_loss(head(h * g), y)",
    "to_tensor": "g = paddle.to_tensor(h * 2); loss = F.mse_loss(head(h + g), y)",
}
MEANT = {
    "a target": "t = paddle.to_tensor(head(h).numpy()); loss = F.mse_loss(head(h + 0.1), t)",
    "a target of a list": "t = paddle.to_tensor(head(h).tolist()); loss = F.mse_loss(head(h + 0.1), t)",
    "a printed list": "kept = h.tolist(); loss = F.mse_loss(head(h), y)",
}


def found(line: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(line=line))
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT112",)))
    return [f.spot.text for f in said if f.spot is not None]


@pytest.mark.parametrize("name", LOST)
def test_a_use_that_comes_back_as_plain_values_is_a_note(name: str, tmp_path: Path) -> None:
    assert [text.strip() for text in found(LOST[name], tmp_path)] == [LOST[name]]


@pytest.mark.parametrize("name", MEANT)
def test_values_that_are_compared_with_or_looked_at_are_none(name: str, tmp_path: Path) -> None:
    assert found(MEANT[name], tmp_path) == []

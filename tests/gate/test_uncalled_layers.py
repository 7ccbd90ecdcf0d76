"""Layers without parameters that are held and never called are a note; those that one object calls are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Block(nn.Layer):
    def __init__(self, last):
        super().__init__()
        self.fc, self.last = nn.Linear(4, 4), last
        self.act = {layer}

    def forward(self, x):
        x = self.fc(x)
        return {result}


net = nn.Sequential(Block(False), Block(True), nn.Linear(4, 1))
for step in range(3):
    loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.ones([8, 1]))
    loss.backward()
"""


@pytest.mark.parametrize(
    ("layer", "result", "count"),
    [
        ("nn.ReLU()", "x", 1),
        ("nn.Dropout(0.1)", "F.relu(x)", 1),
        ("nn.ReLU()", "self.act(x)", 0),
        ("nn.ReLU()", "x if self.last else self.act(x)", 0),
        ("nn.ReLU()", "self.act(x) if step == 1 else x", 0),
        ("nn.Identity()", "x", 0),
        ("nn.Sequential(nn.ReLU())", "self.act(x)", 0),
        ("nn.LayerNorm(4)", "x", 0),
    ],
)
def test_layers_that_nothing_calls(layer: str, result: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(layer=layer, result=result))
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT114",)))
    assert [f.severity.value for f in said] == ["note"] * count
    assert all(f.spot is not None and f.spot.text.strip() == f"self.act = {layer}" for f in said)

"""Reshapes that stand for a transpose are found; those that shift padded rows or join steps are not."""

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


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.pool = nn.Linear(4, 4), nn.Conv1D(4, 4, 1)
        self.joined, self.head = nn.Linear({joined}, 4), nn.Linear(4, 1)

    def forward(self, x):
        b, t, c = x.shape
        h = self.body(x)
        {line}
        return self.head(h)


net = Net()
loss = F.mse_loss(net(paddle.rand([{batch}, {steps}, 4])).mean([1, 2]), paddle.ones([{batch}]))
loss.backward()
"""

WRONG = {
    "for a convolution": "h = self.pool(h.reshape([b, c, t])).transpose([0, 2, 1])",
    "of scores": "h = paddle.matmul(F.softmax(paddle.matmul(h, h.reshape([b, c, t])), -1), h)",
    "steps before samples": "h = F.tanh(h.reshape([t, b, c])).transpose([1, 0, 2])",
    "heads": "h = h.reshape([b, t, 2, 2]).reshape([b, 2, t, 2]).transpose([0, 2, 1, 3]).flatten(2)",
    "a view": "h = self.pool(h.view([b, c, t])).transpose([0, 2, 1])",
}
RIGHT = {
    "transposed": "h = self.pool(h.transpose([0, 2, 1])).transpose([0, 2, 1])",
    "heads": "h = h.reshape([b, t, 2, 2]).transpose([0, 2, 1, 3]).transpose([0, 2, 1, 3]).reshape([b, t, 4])",
    "rows shifted": (
        "s = paddle.matmul(h, h.transpose([0, 2, 1])); z = paddle.zeros([b, t, 1]); "
        "s = paddle.concat([z, s], -1).reshape([b, t + 1, t])[:, 1:]; h = paddle.matmul(F.softmax(s, -1), h)"
    ),
    "flattened and back": "h = h.reshape([b * t, c]).reshape([b, t, c])",
    "steps joined": "h = self.joined(h.reshape([b, t // 2, 2 * c]))",
    "steps joined for a recurrent layer": "h = self.joined(F.dropout(h.reshape([b, t // 2, 2 * c]), 0.1))",
    "of data": "h = h + paddle.rand([b, c, t]).reshape([b, t, c])",
}


def found(line: str, tmp_path: Path, steps: int, batch: int = 3, joined: int = 8) -> list[str]:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(line=line, steps=steps, batch=batch, joined=joined))
    lines = path.read_text().splitlines()
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT606",)))
    return [lines[f.spot.line - 1].strip() for f in said if f.spot is not None]


@pytest.mark.parametrize("steps", [6, 8])
@pytest.mark.parametrize("name", WRONG)
def test_a_reshape_that_stands_for_a_transpose_is_found(name: str, steps: int, tmp_path: Path) -> None:
    assert found(WRONG[name], tmp_path, steps) == [WRONG[name]]


@pytest.mark.parametrize("name", RIGHT)
def test_other_reshapes_are_silent(name: str, tmp_path: Path) -> None:
    assert found(RIGHT[name], tmp_path, 8) == []

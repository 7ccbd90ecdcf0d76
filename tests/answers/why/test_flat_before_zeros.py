"""A zero that a flat operator before it explains: the cause is the flat one, whatever the values after it do."""

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
body, side, head = nn.Linear(4, 32), nn.Linear(32, 32), nn.Linear(32, 3)
x, y = paddle.randn([8, 4]), paddle.randint(0, 3, [8])
h = paddle.tanh(body(x))
{line}
loss = {loss}
loss.backward()
"""

PLAIN = "F.cross_entropy(head(F.relu(side(h))), y)"
CAUSES = {
    "integers before a dead relu": ("GT104", 'h = h.astype("int32").astype("float32")', PLAIN),
    "integers before a square": ("GT104", 'h = h.astype("int32").astype("float32")', "(h**2).mean()"),
    "steps before a dead relu": ("GT104", "h = paddle.floor(h * 0.1 + 0.5)", "F.relu(h - 0.5).sum()"),
    "a factor of 0 before a clip": ("GT205", "h = h * 0.0", "paddle.clip(h, 1e-6, 1.0).log().mean()"),
    "a clip before what cancels": ("GT205", "h = paddle.clip(h, 1e6, 2e6)", "F.softmax(h).sum()"),
    "a dead relu before another one": ("GT206", "h = F.relu(h - 1e3)", PLAIN),
    "a flat tanh behind a relu": ("GT206", "h = paddle.tanh(F.relu(h) * 1e6)", "F.cross_entropy(head(h), y)"),
}


def found(line: str, loss: str, tmp_path: Path) -> list[tuple[str, str, str]]:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(line=line, loss=loss))
    lines = path.read_text().splitlines()
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1", "GT2")))
    return [(f.subject, f.code, lines[f.spot.line - 1]) for f in said if f.spot is not None]


@pytest.mark.parametrize("name", CAUSES)
def test_the_first_flat_operator_on_the_way_is_the_cause(name: str, tmp_path: Path) -> None:
    code, line, loss = CAUSES[name]
    assert ("body.weight", code, line) in found(line, loss, tmp_path)


def test_a_relu_that_is_dead_by_itself_stays_the_cause(tmp_path: Path) -> None:
    loss = "F.cross_entropy(head(paddle.tanh(F.relu(h - 1e3))), y)"
    assert ("body.weight", "GT206", f"loss = {loss}") in found("h = h * 2", loss, tmp_path)

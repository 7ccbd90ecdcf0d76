"""Values that get zeros alone while parameters behind them learn otherwise; and zeros that another step has not."""

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
body, head = nn.Linear(4, 8), nn.Linear(8, 3)
x, y = paddle.randn([8, 4]), paddle.randint(0, 3, [8])
h = body(x)
{line}
loss.backward()
"""

FLAT = {
    "sign": ("GT104", "h = h + paddle.sign(h * 2)"),
    "round": ("GT104", "h = h + paddle.round(h * 2)"),
    "integers": ("GT104", 'h = h + (h * 0.1).astype("int32").astype("float32")'),
    "integers of a term": ("GT104", 'extra = ((h * 0.01).astype("int64").astype("float32") ** 2).mean()'),
    "integers that round": ("GT104", 'extra = 4.5 * h.abs().mean().astype("int32").astype("float32")'),
    "floor of a term": ("GT104", "extra = paddle.floor((h**2).mean())"),
    "relu": ("GT206", "h = h + F.relu(h - 1e3)"),
    "tanh": ("GT206", "h = h + paddle.tanh(h * 1e9)"),
    "sigmoid": ("GT206", "h = h + F.sigmoid(h + 1e3)"),
    "clip": ("GT205", "h = h + paddle.clip(h * 2, 1e6, 2e6) * 1e-6"),
    "clip of a number": ("GT205", "extra = paddle.clip((h**2).mean(), 1e6, 2e6)"),
    "sigmoid of a number": ("GT206", "extra = F.sigmoid(h.mean() + 1e3)"),
    "tanh of a number": ("GT206", "extra = paddle.tanh(h.mean() - 1e3)"),
    "relu in a term": ("GT206", "extra = F.relu(h * 2 - 1e3).mean()"),
}
SILENT = {
    "alive": "h = h + F.relu(h)",
    "straight through": "s = h * 2; h = h + s + (paddle.round(s) - s).detach()",
    "a fraction": "h = h + (h - paddle.floor(h))",
    "signed root": "h = h + paddle.sign(h) * paddle.sqrt(paddle.abs(h) + 1e-3)",
    "a hinge that is fulfilled": "extra = F.relu(h.abs() - 4).mean()",
    "a number that is sure": "extra = F.sigmoid((h**2).mean() + 20.0)",
    "a ratio that is clipped": "extra = paddle.clip(paddle.exp(h.mean()) + 0.5, 0.8, 1.2)",
    "free bits far off": "extra = paddle.clip(h.abs().mean() * 1e-3, min=3.0)",
    "free bits": "extra = paddle.clip((h**2).mean(), min=5.0)",
    "a mask of integers": 'h = h * (h > 0).astype("int32").astype("float32")',
    "of data": "h = h * paddle.round(x.mean(-1, keepdim=True) * 4)",
    "for logging": "kept = paddle.round(h).mean()",
}


def found(line: str, tmp_path: Path) -> list[tuple[str, str]]:
    path = tmp_path / "model.py"
    loss = "loss = F.cross_entropy(head(h), y)" + (" + extra" if line.startswith("extra") else "")
    path.write_text(MODEL.format(line=f"{line}\n{loss}"))
    lines = path.read_text().splitlines()
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1", "GT2")))
    return [(f.code, lines[f.spot.line - 1]) for f in said if f.spot is not None]


@pytest.mark.parametrize("name", FLAT)
def test_a_value_that_gets_zeros_alone_is_found(name: str, tmp_path: Path) -> None:
    code, line = FLAT[name]
    assert found(line, tmp_path) == [(code, line)]


@pytest.mark.parametrize("name", SILENT)
def test_what_another_step_would_change_or_is_meant_is_silent(name: str, tmp_path: Path) -> None:
    assert found(SILENT[name], tmp_path) == []

"""A number that is not finite comes of an enormous or tiny factor further up: its line is named as well."""

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
loss = F.cross_entropy(head(h), y)
loss.backward()
"""

FACTORS = {
    "enormous": "h = h * 1e30\nh = h.unsqueeze(0).squeeze(0)\nh = h * h",
    "tiny divisor": "s = h.abs() * 1e-30\nh = h / s.clip(max=1.0)\nh = h * h",
}
OTHERS = {
    "a mask": "h = h + (x.sum(1, keepdim=True) > 99).astype('float32') * -1e9\nh = h / (h - h)",
    "none": "h = paddle.log(h * 0.0)",
}


def cause(line: str, tmp_path: Path) -> str:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(line=line))
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT201", "GT202")))
    return " ".join(said[0].explanation)


@pytest.mark.parametrize("name", FACTORS)
def test_the_factor_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    assert "is on the way there, model.py:9" in cause(FACTORS[name], tmp_path)


@pytest.mark.parametrize("name", OTHERS)
def test_usual_factors_are_not(name: str, tmp_path: Path) -> None:
    assert "is on the way there" not in cause(OTHERS[name], tmp_path)

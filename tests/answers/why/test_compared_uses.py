"""Comparisons that the loss computes with as numbers are notes; masks, labels and straight-through values are none."""

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
body, side, head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)
x, y = paddle.randn([8, 4]), paddle.rand([8, 1])
h = paddle.tanh(body(x))
{line}
loss = F.mse_loss(out, y)
loss.backward()
"""

NUMBERS = {
    "read by a layer": 'q = (h > 0).astype("float32"); out = head(h) + side(q).mean(1, keepdim=True)',
    "of another layout": 'q = (h.unsqueeze(1) > 0).astype("float32"); out = head(h + (q @ side.weight)[:, 0])',
    "added": 'out = head(h + (h * 2 > 0).astype("float32"))',
}
MASKS = {
    "multiplied": 'out = head(h * (h > 0).astype("float32"))',
    "of scores": 'out = head(F.softmax(h + (h < 0).astype("float32") * -1e9, axis=-1))',
    "straight through": 's = side(h); out = head(s + ((s > 0).astype("float32") - s).detach())',
    "chosen by": "out = head(paddle.where(h > 0, h, h * 0.1))",
    "of data": 'out = head(h + side((x > 0).astype("float32") @ side.weight[:4]))',
    "labels": 'out = head(h); out = out + F.binary_cross_entropy_with_logits(out, (out > 0).astype("float32"))',
}


def found(line: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(line=line))
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1",)))
    return [f"{f.code} {f.spot.text.strip()}" for f in said if f.spot is not None]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_comparison_that_is_a_number_is_a_note(name: str, tmp_path: Path) -> None:
    assert f"GT112 {NUMBERS[name]}" in found(NUMBERS[name], tmp_path)


@pytest.mark.parametrize("name", MASKS)
def test_a_comparison_that_chooses_is_none(name: str, tmp_path: Path) -> None:
    assert [f for f in found(MASKS[name], tmp_path) if f.startswith("GT112")] == []

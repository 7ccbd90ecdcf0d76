"""``gradcheck`` of gradients that are zero, and of which rounding leaves something."""

from __future__ import annotations

from pathlib import Path

import gradtool

MODEL = """\
import paddle
from paddle import nn

paddle.seed(3)
linear, norm = nn.Linear(3, 4), nn.BatchNorm1D(4)
total = (norm(linear(paddle.randn([16, 3]))) * paddle.randn([16, 4])).sum()
loss = total - {offset}
"""


def statuses(folder: Path, offset: str) -> dict[str, str]:
    (folder / "model.py").write_text(MODEL.format(offset=offset), encoding="utf-8")
    return {e.name: e.status for e in gradtool.load(folder / "model.py").gradcheck().story.entries}


def test_a_bias_before_batch_norm_is_right_however_small_the_loss(tmp_path: Path) -> None:
    assert set(statuses(tmp_path, "total.item()").values()) == {"ok"}


def test_what_is_no_rounding_stays_wrong(tmp_path: Path) -> None:
    told = statuses(tmp_path, "total.detach()")
    assert told == {"linear.weight": "wrong", "linear.bias": "ok", "norm.weight": "wrong", "norm.bias": "wrong"}

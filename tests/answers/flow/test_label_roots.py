"""What a label was made of: data that it was decided by may be read, too; the label itself may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

SCRIPT = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
x, noise = paddle.randn([16, 4]), paddle.randn([16, 3])
net, other = paddle.nn.Linear({width}, 3), paddle.nn.Linear(4, 3)
y = {label}
loss = F.cross_entropy(net({read}), y)
loss.backward()
"""
LABELS = {
    "a comparison": "(x[:, 0] > 0).astype('int64')",
    "a choice": "(x[:, :3] * 2 + noise).argmax(1)",
    "a choice of another network": "other(x).detach().argmax(1)",
}


def found(path: Path, label: str, read: str, width: int) -> list[str]:
    path.write_text(SCRIPT.format(label=label, read=read, width=width))
    selection = Selection(select=("GT605",))
    return [f.code for f in findings(Request(str(path)), path.stem, selection) if f.code == "GT605"]


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_a_label_that_was_decided_by_data_leaks_where_it_is_read_itself(tmp_path: Path, label: str) -> None:
    assert found(tmp_path / "right.py", label, "x", 4) == []
    column = "paddle.concat([x, y.astype('float32').unsqueeze(1)], 1)"
    assert found(tmp_path / "wrong.py", label, column, 5) == ["GT605"]

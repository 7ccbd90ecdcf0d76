"""Statements of a file run in their own order, also those that stand behind its guard."""

from __future__ import annotations

from pathlib import Path

import gradtool

AFTER = """\
import paddle

order = ["before"]
w = paddle.to_tensor([2.0], stop_gradient=False)

if __name__ == "__main__":
    order.append("guarded")
    loss = (w * w).sum()
    loss.backward()

order.append("after")
assert order == ["before", "guarded", "after"], order
"""

DEFINED_AFTER = """\
import paddle

def build():
    w = paddle.to_tensor([2.0], stop_gradient=False)
    return scaled(w).sum()

if __name__ == "__main__":
    raise SystemExit("nobody asked for it")

def scaled(x):
    return 3.0 * x
"""


def test_what_stands_behind_the_guard_runs_after_it(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(AFTER, encoding="utf-8")
    (row,) = gradtool.load(file).backward().rows
    assert row.values is not None
    assert row.values.norm == 4.0


def test_definitions_behind_the_guard_leave_it_quiet(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(DEFINED_AFTER, encoding="utf-8")
    (row,) = gradtool.load(file).backward().rows
    assert row.values is not None
    assert round(row.values.norm, 4) == 3.0

"""A zero that a run was fed is a finding where every run was fed it, and none where another run was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.finding import Severity
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import numpy as np
import paddle

paddle.enable_static()
paddle.seed(0)
x, y = paddle.static.data("x", [None, 4]), paddle.static.data("y", [None, 1])
flag = paddle.static.data("flag", [1])
h = paddle.static.nn.fc(x, 8, activation="tanh")
out, extra = paddle.static.nn.fc(h, 1), paddle.static.nn.fc(h, 1)
loss = paddle.mean((out - y) ** 2) + paddle.mean(flag * paddle.mean((extra - y) ** 2))
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for fed in {flags}:
    rows = {{"x": np.random.rand(4, 4).astype("float32"), "y": np.ones([4, 1], "float32")}}
    exe.run(feed={{**rows, "flag": np.array([fed], "float32")}}, fetch_list=[loss])
"""


@pytest.mark.parametrize(("flags", "codes"), [("(1.0, 0.0)", []), ("(1.0, 0.5)", []), ("(0.0, 0.0)", ["GT205"])])
def test_a_flag_that_switches_a_branch_off(flags: str, codes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(flags=flags))
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1", "GT2")))
    assert [f.code for f in said if f.severity is not Severity.NOTE] == codes

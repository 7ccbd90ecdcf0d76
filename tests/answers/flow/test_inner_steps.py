"""An inner step of meta-learning goes over all samples of a task, on purpose."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

SCRIPT = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
w, b = paddle.create_parameter([1, 16], "float32"), paddle.create_parameter([16], "float32", is_bias=True)
v, c = paddle.create_parameter([16, 1], "float32"), paddle.create_parameter([1], "float32", is_bias=True)
weights = [w, b, v, c]


def predict(x, w, b, v, c):
    return F.tanh(x @ w + b) @ v + c


total = 0.0
for task in range(3):
    scale, x = paddle.rand([1]) * 2, paddle.rand([10, 1]) * 4 - 2
    inner = F.mse_loss(predict(x, *weights), scale * paddle.sin(x))
    slopes = paddle.grad(inner, weights, create_graph=True)
    fast = [p - 0.01 * slope for p, slope in zip(weights, slopes)]
    other = paddle.rand([10, 1]) * 4 - 2
    total = total + F.mse_loss(predict(other, *fast), scale * paddle.sin(other))
(total / 3).backward()
"""


def test_samples_of_a_task_may_meet(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(SCRIPT)
    assert [
        f.message for f in findings(Request(str(path)), "model", Selection(select=("GT6",))) if f.code == "GT601"
    ] == []

"""What backward reads and others have written since is found; what is written before or after is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

BEGIN = """\
import ctypes

import numpy as np
import paddle
from paddle.autograd import PyLayer


class Square(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return 2 * x * g


paddle.seed(0)
w = paddle.rand([4])
w.stop_gradient = False
buffer = np.ones(4, "float32")
x = paddle.utils.dlpack.from_dlpack(buffer)
"""

CHANGED = {
    "a result": ("y = w.exp()\nloss = y.sum()\nnp.from_dlpack(y.detach())[1] = 5.0\nloss.backward()", "exp", 1),
    "all of a result": (
        "y = paddle.tanh(w)\nloss = y.sum()\nnp.copyto(np.from_dlpack(y.detach()), 3.0)\nloss.backward()",
        "tanh",
        4,
    ),
    "by out=": (
        "y = paddle.tanh(w)\nloss = y.sum()\na = np.from_dlpack(y.detach())\nnp.add(a, 1, out=a)\nloss.backward()",
        "tanh",
        4,
    ),
    "by a view of memory": (
        "y = w.exp()\nloss = y.sum()\nmemoryview(np.from_dlpack(y.detach()))[2] = 5.0\nloss.backward()",
        "exp",
        1,
    ),
    "an operand": ("loss = (w * x).sum()\nbuffer[:2] = 0\nloss.backward()", "elementwise_mul", 2),
    "a slice": (
        "y = w.exp()\nloss = (y.reshape([2, 2]) ** 2).sum()\nnp.from_dlpack(y.detach()[:2])[:] = 7\nloss.backward()",
        "pow",
        2,
    ),
    "in the second pass": (
        "loss = (w * x).sum()\nloss.backward(retain_graph=True)\nbuffer[:] = 0\nloss.backward()",
        "elementwise_mul",
        4,
    ),
    "at an address": (
        "y = w.exp()\nloss = y.sum()\nctypes.memset(y.data_ptr(), 0, 8)\nloss.backward()",
        "exp",
        2,
    ),
    "at an address of an operand": (
        "at = x.data_ptr()\nloss = (w * x).sum()\nctypes.memset(at, 0, 12)\nloss.backward()",
        "elementwise_mul",
        3,
    ),
    "by the user's own operator": (
        "y = w * 1\nloss = Square.apply(y).sum()\nnp.from_dlpack(y.detach())[0] = 3\nloss.backward()",
        "PyLayer_Square",
        1,
    ),
}

UNCHANGED = {
    "after backward": "for i in range(3):\n    loss = (w * x).sum()\n    loss.backward()\n    buffer[:] = i",
    "before forward": "for i in range(3):\n    buffer[:] = i\n    loss = (w * x).sum()\n    loss.backward()",
    "with the same numbers": "y = w.exp()\nloss = y.sum()\na = np.from_dlpack(y.detach())\na[:] = a\nloss.backward()",
    "what no gradient reads": "loss = (w + x).sum()\nbuffer[:] = 0\nloss.backward()",
    "of what takes no gradient": "y = (w * w).detach()\nloss = (w * 2).sum() + (y * y).sum()\n"
    "np.from_dlpack(y)[0] = 3\nloss.backward()",
    "addresses that are compared": "assert w.data_ptr() != x.data_ptr()\nloss = (w * x).sum()\nloss.backward()",
    "a copy": "y = w.exp()\nloss = y.sum()\ny.numpy()[0] = 5\nnp.asarray(y)[0] = 5\nloss.backward()",
}


def look(folder: Path, text: str) -> list[Finding]:
    file = folder / "model.py"
    file.write_text(BEGIN + text, encoding="utf-8")
    return list(findings(Request(str(file)), file.name, Selection(select=("GT305",))))


@pytest.mark.parametrize("case", CHANGED)
def test_what_was_written_since_is_found(tmp_path: Path, case: str) -> None:
    text, operator, count = CHANGED[case]
    (finding,) = look(tmp_path, text)
    assert finding.message.startswith(f"step {2 if 'retain_graph' in text else 1}: {operator} keeps what it ")
    assert f"and {count} of 4 elements had changed" in finding.message


@pytest.mark.parametrize("case", UNCHANGED)
def test_what_is_written_at_another_time_is_none(tmp_path: Path, case: str) -> None:
    assert look(tmp_path, UNCHANGED[case]) == []


def test_one_write_is_one_finding_with_all_that_kept_it(tmp_path: Path) -> None:
    text = "y = paddle.tanh(w)\nloss = (y * y).sum()\nnp.from_dlpack(y.detach())[1] = 5.0\nloss.backward()"
    (finding,) = look(tmp_path, text)
    line = len(BEGIN.splitlines())
    assert finding.spot is not None
    assert (finding.spot.line, finding.subject) == (line + 2, "elementwise_mul")
    assert finding.explanation[:2] == (
        f"__dlpack__() at model.py:{line + 3} shares its memory with an array",
        f"tanh at model.py:{line + 1} keeps it, too",
    )

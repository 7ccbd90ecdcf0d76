"""A loss without a graph that somebody made a leaf of: the cut is where its graph ended, and not the loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.rand([8, 4]), paddle.rand([8, 1])
for _ in range(2):
    {loss}
    loss.stop_gradient = False
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

CUTS = {
    "detached": ("out = net(x).detach()", "loss = F.mse_loss(out, y)"),
    "computed under no_grad": ("with paddle.no_grad():", "    loss = F.mse_loss(net(x), y)"),
}
TWO = """\
real, other = paddle.nn.Linear(4, 1), paddle.nn.Linear(4, 1)
first = paddle.optimizer.SGD(0.1, parameters=real.parameters())
second = paddle.optimizer.SGD(0.1, parameters=other.parameters())
x, y = paddle.rand([8, 4]), paddle.rand([8, 1])
for _ in range(2):
    made = other(x)
    loss = F.mse_loss(real(x) + made.detach(), y)
    loss.backward()
    first.step()
    first.clear_grad()
    loss = paddle.zeros_like(F.mse_loss(real(x) + made, y))
    loss.backward()
    second.step()
    second.clear_grad()
"""


def found(text: str, tmp_path: Path) -> list[tuple[str, str]]:
    path = tmp_path / "model.py"
    path.write_text(text)
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1",)))
    return [(f.message.partition(": ")[2], f.spot.text.strip()) for f in said if f.spot is not None]


@pytest.mark.parametrize("verdict", CUTS)
def test_a_loss_that_was_made_a_leaf_is_cut_where_its_graph_ended(verdict: str, tmp_path: Path) -> None:
    lines = CUTS[verdict]
    assert found(MODEL.format(loss="\n    ".join(lines)), tmp_path) == [(verdict, lines[0])]


@pytest.mark.filterwarnings("ignore")
def test_a_loss_without_a_graph_comes_before_what_another_one_leaves_out(tmp_path: Path) -> None:
    head = MODEL.partition("net =")[0]
    assert [line for _, line in found(head + TWO, tmp_path)] == [
        "loss = paddle.zeros_like(F.mse_loss(real(x) + made, y))"
    ]

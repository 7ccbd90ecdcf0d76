"""Looks at earlier passes of a script that LBFGS calls and that is made of cells: they end, and change nothing."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.recorders.recorded.events import OperatorCalled
from gradtool.engine.recorders.recorded.tensors import Tensors
from gradtool.engine.request.request import Request
from gradtool.viz.report import checkup
from gradtool.viz.report.findings import Noting, apply_rules

SCRIPT = """\
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.LSTMCell(1, 4), nn.Linear(4, 1)
data = torch.sin(torch.arange(8.0)[None] / 2 + torch.rand(6, 1))
opt = torch.optim.LBFGS([*cell.parameters(), *head.parameters()], lr=0.8, max_iter=3)


def closure():
    opt.zero_grad()
    h, c, out = torch.zeros(6, 4), torch.zeros(6, 4), []
    for x in data[:, :-1].split(1, dim=1):
        h, c = cell(x, (h, c))
        out.append(head(h))
    loss = nn.functional.mse_loss(torch.cat(out, 1), data[:, 1:])
    loss.backward()
    passes.append(loss.item())
    return loss


passes = []
for _ in range(3):
    opt.step(closure)
with open("passes.txt", "w") as file:
    file.write(" ".join(map(repr, passes)))
"""


def test_each_pass_of_lbfgs_is_looked_at_once(tmp_path, monkeypatch) -> None:
    file = tmp_path / "model.py"
    file.write_text(SCRIPT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(SCRIPT, "plain.py", "exec"), {"__name__": "__main__"})
    plain = Path("passes.txt").read_text("utf-8").split()
    called: list[str] = []
    sink = Tensors.sink

    def hear(self, event):
        if isinstance(event, OperatorCalled):
            called.append(event.operator)
        sink(self, event)

    monkeypatch.setattr(Tensors, "sink", hear)
    request = Request.create(str(file), unfinished=True)
    results = checkup.view(apply_rules(request, None, Noting()), request).data["results"]
    assert [r["code"] for r in results if r["severity"] != "note"] == []
    # One mean of squares for each call of the closure, and none of what is computed to look at it.
    assert [n for n in called if "mse_loss" in n and "backward" not in n] == ["mse_loss"] * len(plain)
    assert len(plain) > 6

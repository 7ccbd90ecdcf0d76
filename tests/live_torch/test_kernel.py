"""A real kernel that trains with PyTorch: ``%load_ext gradtool``, then ``%why loss``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.notebooks import execute, notebook

_NETWORK = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 3), nn.Linear(3, 1)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)).detach())

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

_TRAINING = """\
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.randn(5, 4)).square().mean()
    loss.backward()
    optimizer.step()
"""


def _said(folder: Path, cells: Sequence[str]) -> list[str]:
    """Run cells; what each of them shows, errors included."""
    texts = []
    for cell in execute(notebook(cells), folder).cells:
        shown = [
            o.get("text") or o.get("data", {}).get("text/plain") or "\n".join(o.get("traceback", ()))
            for o in cell.outputs
        ]
        texts.append("\n".join(shown))
    return texts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def test_a_notebook_that_trains(folder: Path) -> None:
    cells = [
        *("%load_ext gradtool", _NETWORK, _TRAINING, "%why loss", "%stats loss", "%backward loss", "%gradtool loss"),
        *("%gdebug loss", "%gstep", "import gradtool\nprint(gradtool.why(loss))", "%unload_ext gradtool"),
        "torch.Tensor.detach.__name__, torch.autograd.backward.__module__, torch.optim.SGD.zero_grad.__name__",
    ]
    said = dict(zip(cells, _said(folder, cells), strict=True))
    why = said["%why loss"]
    assert "net.body.weight   grad = None   verdict: DETACHED" in why
    assert "In[2]:9    return self.head(torch.tanh(self.body(x)).detach())" in why
    assert "2 of 4 parameters get a gradient · 1 finding" in why
    assert "net.head.weight" in said["%stats loss"]
    assert "cut: detached, In[2]:9" in said["%backward loss"]
    assert "error GT103  net.body.weight has grad = None: detached" in said["%gradtool loss"]
    assert "mean_grad.0   In[3]:3" in said["%gdebug loss"]
    assert "pow_grad.0   In[3]:3" in said["%gstep"]
    assert "verdict: DETACHED" in said[cells[9]]
    assert said[cells[-1]] == "('detach', 'torch.autograd', 'zero_grad')"


def test_a_recording_in_a_cell(folder: Path) -> None:
    training = "import gradtool\nwith gradtool.recording() as run:\n" + _TRAINING.replace("\n", "\n    ").join(
        ("    ", "")
    )
    cells = [_NETWORK, training, "print(run.why())", "print(run.saved())"]
    _, _, why, saved = _said(folder, cells)
    assert "return self.head(torch.tanh(self.body(x)).detach())" in why
    assert "verdict: DETACHED" in why
    assert "kept for backward" in saved


def test_what_was_computed_before_the_extension_came(folder: Path) -> None:
    cells = [_NETWORK, "loss = net(torch.randn(5, 4)).mean()", "%load_ext gradtool", "%why loss", "%stats loss"]
    cells += ["loss.backward()", "%why loss"]
    *_, before, sizes, _, after = _said(folder, cells)
    assert "net.body.weight   grad = None   verdict: NOT IN THE GRAPH: THE CAUSE WAS NOT SEEN" in before
    assert "unused, detached and computed under no_grad look alike in a graph" in before
    assert "net.head.weight" in sizes
    assert "net.body.weight" in after

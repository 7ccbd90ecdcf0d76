"""Real runs of pytest whose tests train with PyTorch: the fixture, the marker, the claims, and ``--gradtool``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_NETWORK = """
import pytest, torch
from torch import nn
from gradtool.testing import assert_all_parameters_get_gradients, assert_gradcheck, assert_no_nan

class Net(nn.Module):
    def __init__(self, cut):
        super().__init__()
        self.body, self.head, self.cut = nn.Linear(4, 3), nn.Linear(3, 1), cut
    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.head(h.detach() if self.cut else h)

@pytest.fixture(params=[False, True], ids=["right", "cut"])
def net(request):
    torch.manual_seed(0)
    return Net(request.param)

def step(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(5, 4)
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    loss.backward()
    optimizer.step()
    return loss
"""

_CLAIMS = """
def test_claim(net):
    assert_all_parameters_get_gradients(net(torch.randn(5, 4)).mean())

def test_spared(net):
    assert_all_parameters_get_gradients(net(torch.randn(5, 4)).mean(), except_="net.body.*")

def test_function(net):
    assert_gradcheck(lambda: net(torch.randn(5, 4)).mean(), unchecked=True)
    assert_no_nan(lambda: net(torch.randn(5, 4)).mean())

def test_nan():
    w = torch.zeros(3, requires_grad=True)
    assert_no_nan(torch.sqrt(w).sum())

def test_nan_forward():
    w = torch.full((3,), -1.0, requires_grad=True)
    assert_no_nan(torch.log(w).sum())
"""

_ASKING = """
def test_fixture(gradients, net):
    loss = step(net)
    (found,) = gradients.why(loss) or [None]
    assert (found is not None) is net.cut
    assert found is None or found.name == "net.body.weight"
    assert len(gradients.stats(loss).story.parameters) == 4

@pytest.mark.gradtool
def test_marked(net):
    step(net)
"""


def _run(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest in a folder; the exit code and what it says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_claims_about_losses(tmp_path: Path) -> None:
    (tmp_path / "test_net.py").write_text(_NETWORK + _CLAIMS, encoding="utf-8")
    code, said = _run(tmp_path)
    assert code == 1
    assert "3 failed, 5 passed" in said, said
    assert "net.body.weight   grad = None   verdict: DETACHED" in said
    assert "return self.head(h.detach() if self.cut else h)" in said
    assert "BIRTH  backward  sqrt_grad.0   w@GRAD  inf 3/3" in said
    assert "BIRTH  forward  log.0" in said


def test_the_fixture_and_the_marker(tmp_path: Path) -> None:
    (tmp_path / "test_net.py").write_text(_NETWORK + _ASKING, encoding="utf-8")
    code, said = _run(tmp_path)
    assert code == 1
    assert "1 failed, 3 passed" in said, said
    assert "GT103 detached · error: net.body.weight has grad = None: detached" in said


@pytest.mark.parametrize(("cut", "code"), [(False, 0), (True, 1)])
def test_a_training_script_is_a_test(tmp_path: Path, cut: bool, code: int) -> None:
    script = _NETWORK.replace("import pytest, torch", "import torch").replace("from gradtool", "# from gradtool")
    script = script.partition("@pytest")[0] + "def step" + script.partition("def step")[2]
    (tmp_path / "train.py").write_text(
        script + f"torch.manual_seed(0)\nnet = Net({cut})\nstep(net)\n", encoding="utf-8"
    )
    found, said = _run(tmp_path, "--gradtool", "--gradtool-select", "GT1", "train.py")
    assert found == code, said
    assert ("GT103" in said) is cut

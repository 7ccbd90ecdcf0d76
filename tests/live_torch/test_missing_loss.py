"""A script whose gradients nobody can listen to is told why no loss was seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GRADIENTS = """\
import torch
from torch.func import functional_call, grad, vmap

net = torch.nn.Linear(3, 1)
parameters = {name: p.detach() for name, p in net.named_parameters()}
each = vmap(grad(lambda p, x: functional_call(net, p, (x,)).sum()), in_dims=(None, 0))
print(each(parameters, torch.ones(2, 3))["weight"].shape)
"""

PROCESSES = """\
import torch
import torch.multiprocessing as mp


def train(rank):
    torch.nn.Linear(3, 1)(torch.ones(2, 3)).mean().backward()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""


@pytest.mark.parametrize(
    ("script", "reason"), [(GRADIENTS, "torch.func computes gradients here"), (PROCESSES, "it starts processes")]
)
def test_what_computes_gradients_unseen_is_named(tmp_path: Path, script: str, reason: str) -> None:
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "gradtool", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "train.py defines no loss" in done.stderr
    assert reason in done.stderr
    assert "not seen" in done.stderr

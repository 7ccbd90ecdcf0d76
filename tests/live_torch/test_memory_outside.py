"""What others write into the memory of a tensor of PyTorch between forward and backward is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

BEGIN = """\
import ctypes

import numpy as np
import torch

torch.manual_seed(0)
w = torch.rand(3, requires_grad=True)
x = torch.rand(3)
buffer = np.random.rand(4, 3).astype("float32")
"""

CHANGED = {
    "numpy": "y = w.exp(); loss = y.sum(); y.detach().numpy()[1] = 5; loss.backward()",
    "asarray": "y = w.exp(); loss = y.sum(); np.asarray(y.detach())[1] = 5; loss.backward()",
    "DLPack": "y = w.sigmoid(); loss = y.sum(); np.from_dlpack(y.detach())[1] = 5; loss.backward()",
    "memoryview": "y = w.exp(); loss = y.sum(); memoryview(y.detach().numpy())[1] = 5; loss.backward()",
    "copyto": "y = w.exp(); loss = y.sum(); np.copyto(y.detach().numpy(), 5); loss.backward()",
    "data": "y = w.tanh(); loss = y.sum(); y.data.mul_(0); loss.backward()",
    "data.numpy": "y = w.tanh(); loss = y.sum(); y.data.numpy()[...] = 0; loss.backward()",
    "data of a leaf": "loss = (w * w).sum(); loss.backward(retain_graph=True); w.data -= 0.1; loss.backward()",
    "from_numpy": "net = torch.nn.Linear(3, 2); loss = net(torch.from_numpy(buffer)).square().sum()\n"
    "buffer[:] = 0; loss.backward()",
    "frombuffer": "raw = bytearray(12); y = torch.frombuffer(raw, dtype=torch.float32); loss = (w * y).sum()\n"
    "raw[:] = bytes(range(12)); loss.backward()",
    "storage": "y = w.exp(); loss = y.sum(); y.untyped_storage().fill_(0); loss.backward()",
    "an element of a storage": "y = w.exp(); loss = y.sum(); y.untyped_storage()[3] = 7; loss.backward()",
    "storage that is held": "y = w * 1; s = y.untyped_storage(); loss = (y * y).sum(); s.fill_(0); loss.backward()",
    "address": "y = w.exp(); loss = y.sum(); ctypes.memset(y.data_ptr(), 0, 12); loss.backward()",
    "address of a view": "y = w.exp(); loss = y.sum(); ctypes.memset(y.detach()[1:].data_ptr(), 0, 8); loss.backward()",
    "from_address": "y = w.exp(); loss = y.sum()\n"
    "(ctypes.c_float * 3).from_address(y.data_ptr())[1] = 4; loss.backward()",
    "address of a storage": "y = w.exp(); loss = y.sum(); ctypes.memset(y.untyped_storage().data_ptr(), 0, 12)\n"
    "loss.backward()",
    "address before it is read": "at = x.untyped_storage().data_ptr(); loss = (w * x).sum(); ctypes.memset(at, 0, 12)\n"
    "loss.backward()",
    "address before set_": "y = torch.empty(0); y.set_(x.untyped_storage()); loss = (w * y).sum()\n"
    "ctypes.memset(x.data_ptr(), 0, 12); loss.backward()",
    "of a Function": "class Square(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n"
    "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return 2 * x * g\n"
    "y = w * 1; loss = Square.apply(y).sum(); y.detach().numpy()[0] = 3; loss.backward()",
}

UNCHANGED = {
    "after backward": "for i in range(3):\n    loss = (x * w).sum(); loss.backward(); x.numpy()[:] = i",
    "before forward": "a = x.numpy()\nfor i in range(3):\n    a[:] = i; loss = (x * w).sum(); loss.backward()",
    "what no gradient reads": "loss = (x * w).sum(); w.detach().numpy()[0] = 9; loss.backward()",
    "addresses compared": "net, tied = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3); tied.weight = net.weight\n"
    "for i in range(3):\n    assert tied.weight.data_ptr() == net.weight.data_ptr()\n"
    "    loss = tied(net(x)).square().sum(); loss.backward(); net.weight.data -= 0.1 * net.weight.grad",
    "sizes of storages": "y = w.exp(); assert y.untyped_storage().nbytes() == 12; loss = y.sum(); loss.backward()",
    "running statistics": "net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))\n"
    "for i in range(3):\n    y = torch.from_numpy(buffer); loss = net(y).square().mean() + net(y).abs().mean()\n"
    "    loss.backward(); [b.numpy() for b in net.buffers()]; buffer[:] = np.random.rand(4, 3)",
}


def look(folder: Path, text: str) -> list[str]:
    file = folder / "model.py"
    file.write_text(BEGIN + text + "\n", encoding="utf-8")
    return [f.message for f in findings(Request(str(file)), file.name, Selection(select=("GT305",)))]


@pytest.mark.parametrize("case", CHANGED)
def test_what_was_written_since_is_found(tmp_path: Path, case: str) -> None:
    (message,) = look(tmp_path, CHANGED[case])
    assert "elements had changed when backward read them" in message


@pytest.mark.parametrize("case", UNCHANGED)
def test_what_is_written_at_another_time_is_none(tmp_path: Path, case: str) -> None:
    assert look(tmp_path, UNCHANGED[case]) == []

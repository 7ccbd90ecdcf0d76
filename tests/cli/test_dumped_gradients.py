"""``gradtool graph --dump --grads``: the gradients of one run, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PROGRAM = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [3, 2])
loss = paddle.static.nn.fc(x, 1, weight_attr="w", bias_attr="b").sum()
"""
TENSORS = """\
import paddle
w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
loss = (w * w).sum()
"""


def test_gradients_of_a_program(gradtool: Any, model: Callable[[str], str], folder: Path) -> None:
    np.savez(folder / "feed.npz", x=np.arange(6, dtype="float32").reshape(3, 2))
    done = gradtool("graph", "--dump", "out", model(PROGRAM), "--feed", "feed.npz")
    assert done.code == 0, done.err
    with np.load(folder / "out" / "grads.npz") as arrays:
        assert {n: arrays[n].ravel().tolist() for n in arrays.files} == {"w": [6.0, 9.0], "b": [3.0]}
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert "grads.npz" in manifest["files"]
    assert manifest["files"] == sorted(p.name for p in (folder / "out").iterdir() if p.name != "manifest.json")
    first = (folder / "out" / "grads.npz").read_bytes()
    assert gradtool("graph", "--dump", "out", "model.py", "--feed", "feed.npz").code == 0
    assert (folder / "out" / "grads.npz").read_bytes() == first


def test_gradients_of_a_tape(gradtool: Any, model: Callable[[str], str], folder: Path) -> None:
    done = gradtool("graph", "--dump", "out", model(TENSORS), "--grads", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["files"]["grads.npz"] == (folder / "out" / "grads.npz").stat().st_size
    with np.load(folder / "out" / "grads.npz") as arrays:
        assert arrays["w"].tolist() == [6.0, 8.0]
    refused = gradtool("graph", "--dump", "other", "model.py", "--feed", "feed.npz")
    assert refused.code == 2
    assert "works in dynamic mode" in refused.err
    assert not (folder / "other").exists()


def test_a_dump_without_them_has_none(gradtool: Any, model: Callable[[str], str], folder: Path) -> None:
    assert gradtool("graph", "--dump", "out", model(TENSORS)).code == 0
    assert not (folder / "out" / "grads.npz").exists()

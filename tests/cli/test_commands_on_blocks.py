"""The command line on a program with branches and loops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODEL = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3], "float32")
h = paddle.static.nn.fc(x, size=3, name="a")
h = paddle.static.nn.cond(paddle.mean(h) > 0.0, lambda: paddle.static.nn.fc(h, 3, name="t"), lambda: paddle.tanh(h))
i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
w = paddle.static.create_parameter([3, 3], "float32", name="w")
i, h = paddle.static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(h @ w)], [i, h])
loss = paddle.mean(h)
"""


Run = Callable[..., str]


@pytest.fixture
def run(gradtool: Callable[..., Any], model: Callable[[str], str]) -> Run:
    """What a command prints on the model above."""
    model(MODEL)

    def call(*arguments: str) -> str:
        done = gradtool(*arguments)
        assert done.code == 0, done.err
        return str(done.out)

    return call


def test_backward(run: Run) -> None:
    shown = run("backward", "model.py", "--run")
    assert re.search(r"t\.w_0 .* conditional_block_grad\.1 .* ok", shown)
    assert re.search(r"w +3×3 +w@GRAD +while_grad\.0 .* ok", shown)
    assert "5 of 5 parameters get a gradient" in shown


def test_program(run: Run) -> None:
    assert "block_idx:1" not in run("program", "model.py")
    shown = run("program", "model.py", "--blocks")
    assert [int(b) for b in re.findall(r"block_idx:(\d+)", shown)] == list(range(7))
    assert "sub_block = block[3]" in shown
    data = json.loads(run("program", "model.py", "--blocks", "--format", "json"))
    ops = [op for block in data["blocks"] for op in block["operators"]]
    assert [op["attributes"]["sub_block"] for op in ops if "sub_block" in op["attributes"]] == [
        {"block": b} for b in (1, 2, 3, 4, 5, 6)
    ]
    pairs = run("program", "model.py", "--pairs", "--blocks")
    assert re.search(r"= while\(.* ↔ +.*while_grad\(", pairs)
    assert re.search(r"matmul_v2\(.* ↔ +.*matmul_v2_grad\(", pairs)


def test_dump(run: Run, folder: Path) -> None:
    run("dump", "model.py", "graphs")
    text = (folder / "graphs" / "backward_graph.dot").read_text()
    frames = re.findall(r'frame_block_3a_(\d)_title \[label="([^"]+)"', text)
    assert sorted(frames) == [
        ("4", "block 4 of while_grad.0"),
        ("5", "block 5 of conditional_block_grad.0"),
        ("6", "block 6 of conditional_block_grad.1"),
    ]
    assert text.count("{") == text.count("}")
    forward = (folder / "graphs" / "ref_forward_graph.dot").read_text()
    assert sorted(re.findall(r"frame_block_3a_(\d)_title", forward)) == ["1", "2", "3"]


def test_a_backward_part_in_the_file_is_taken_out_first(run: Run, model: Callable[[str], str]) -> None:
    shown = run("backward", "model.py")
    model(MODEL + "paddle.static.append_backward(loss)\n")
    assert run("backward", "model.py") == shown

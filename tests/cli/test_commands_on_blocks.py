"""The command line on a program with branches and loops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gradtool.cli

SCHEMAS = Path(gradtool.cli.__file__).parent / "schemas"

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
    assert re.search(r"t\.w_0 .* conditional_block_grad\.1 .* pruned branch", shown)
    assert re.search(r"w +3×3 +w@GRAD +while_grad\.0 .* ok", shown)
    assert "5 of 5 parameters get a gradient" in shown


def test_program(run: Run) -> None:
    assert "block_idx:1" not in run("graph", "--text", "model.py")
    shown = run("graph", "--text", "model.py", "--blocks")
    assert [int(b) for b in re.findall(r"block_idx:(\d+)", shown)] == list(range(7))
    assert "sub_block = block[3]" in shown
    data = json.loads(run("graph", "--text", "model.py", "--blocks", "--format", "json"))
    ops = [op for block in data["blocks"] for op in block["operators"]]
    assert [op["attributes"]["sub_block"] for op in ops if "sub_block" in op["attributes"]] == [
        {"block": b} for b in (1, 2, 3, 4, 5, 6)
    ]
    pairs = run("graph", "model.py", "--pairs", "--blocks")
    assert re.search(r"= while\(.* ↔ +.*while_grad\(", pairs)
    assert re.search(r"matmul_v2\(.* ↔ +.*matmul_v2_grad\(", pairs)


def test_dump(run: Run, folder: Path) -> None:
    run("graph", "--dump", "graphs", "model.py")
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


def data(run: Run, *arguments: str) -> Any:
    """What a command says in JSON, which fits its schema."""
    answer = json.loads(run(*arguments, "--format", "json", "-q"))
    schema = json.loads((SCHEMAS / f"{answer['schema'].split('/')[1]}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(answer)
    return answer


THIRD = [{"operator": "while.0", "iteration": 3}]


def test_stats(run: Run) -> None:
    rows = {r["name"]: r for r in data(run, "stats", "model.py", "--by", "op")["rows"]}
    loop = [r for name, r in rows.items() if name.startswith("tanh_grad") and len(r["runs"]) == 3]
    assert [n["inside"][0]["iteration"] for n in loop[0]["runs"]] == [1, 2, 3]
    assert loop[0]["runs"][2]["inside"] == THIRD
    shown = run("stats", "model.py", "--by", "op", "-q")
    assert re.search(r"tanh_grad\.\d .* ok +3 \S{3} +model.py:10", shown)


def test_saved(run: Run) -> None:
    answer = data(run, "stats", "--memory", "model.py")
    buffers = [b for b in answer["buffers"] if b["inside"] == THIRD]
    assert [b["source"]["line"] for b in buffers] == [10]
    shown = run("stats", "--memory", "model.py", "-q")
    assert re.search(r" 144 +3 of 4×3 .* 3 runs", shown)
    assert not re.search(r" +$", shown, re.MULTILINE)


def test_profile(run: Run, folder: Path) -> None:
    groups = {
        g["name"] for g in data(run, "stats", "--time", "model.py", "--by", "iteration", "--repeats", "2")["groups"]
    }
    assert {f"{part} iteration {n} of while.0" for part in ("forward", "backward") for n in (1, 2, 3)} <= groups
    run("stats", "--time", "model.py", "--repeats", "1", "--flame", "stacks.json")
    stacks = json.loads((folder / "stacks.json").read_text())
    frames = [f["name"] for f in stacks["shared"]["frames"]]
    [profile] = stacks["profiles"]
    named = [[frames[i] for i in sample] for sample in profile["samples"]]
    assert any(s[-4:] == ["model.py:10", "while", "model.py:10", "matmul_v2"] for s in named)
    assert profile["endValue"] == sum(profile["weights"])


def test_nan_and_gradcheck(run: Run) -> None:
    answer = data(run, "nan", "model.py")
    assert (answer["births"], answer["clean"]) == ([], None)  # a branch was not searched
    assert len(answer["unchecked"]) == 1
    assert "in a branch that was not taken (model.py:7)" in answer["unchecked"][0]
    checked = data(run, "gradcheck", "model.py", "--order", "2")
    assert checked["passed"]
    assert len(checked["entries"]) == 10


def test_a_birth_in_an_iteration(gradtool: Callable[..., Any], model: Callable[[str], str]) -> None:
    model(MODEL.replace("paddle.tanh(h @ w)]", "paddle.sqrt(paddle.abs(h @ w) * (2 - i).astype('float32'))]"))
    done = gradtool("nan", "model.py", "-q")
    assert done.code == 1
    lines = done.out.splitlines()
    assert re.match(r"BIRTH +backward +sqrt_grad\.0 ", lines[0])
    assert lines[1].split() == ["inside", "iteration", "3", "of", "while.0"]
    assert lines[-1].startswith("next: gradtool graph --where sqrt_grad.0 model.py · ")
    table = gradtool("nan", "model.py", "-q", "--format", "tsv").cells
    assert dict(zip(*table, strict=True))["inside"] == "iteration 3 of while.0"
    marked = gradtool("nan", "model.py", "-q", "--format", "markdown").out
    assert marked.startswith("```\nBIRTH ")
    assert "| iteration 3 of while.0 |" in marked


def test_where(run: Run) -> None:
    [spot] = data(run, "graph", "--where", "matmul_v2.0", "model.py")["operators"]
    assert spot["inside"] == ["while.0"]
    shown = run("graph", "--where", "matmul_v2_grad.0", "model.py")
    assert shown.startswith("matmul_v2_grad.0   backward   ↔ matmul_v2.0   inside while_grad.0\n")


def test_ascii_columns_fit(run: Run) -> None:
    shown = run("stats", "model.py", "--by", "op", "-q", "--ascii").splitlines()
    assert shown[0].isascii()
    column = shown[0].index("verdict")
    assert {line[column:].split()[0] for line in shown[1:3]} == {"ok"}


def test_a_backward_part_in_the_file_is_taken_out_first(run: Run, model: Callable[[str], str]) -> None:
    shown = run("backward", "model.py")
    model(MODEL + "paddle.static.append_backward(loss)\n")
    assert run("backward", "model.py") == shown

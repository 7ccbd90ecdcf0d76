"""``gradtool flow``: which values depend on which, in both modes, and by which operators."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool
import gradtool.cli as command_line
from tests.cli.conftest import Run, Write

EAGER = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(3, 2)
x, y, unused = paddle.rand([4, 3]), paddle.rand([4, 3]), paddle.rand([2])
h = F.softmax(net(x), axis=0)
frozen = (y * 2).detach()
loss = (h + net(frozen)).sum() + 0 * unused.sum()
"""
STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
y = paddle.static.data("y", [4, 3])
h = paddle.tanh(paddle.static.nn.fc(x, 3))
loss = paddle.mean(h * y)
"""


def answer(gradtool: Run, *words: str) -> dict[str, object]:
    done = gradtool("flow", *words, "--format", "json")
    assert done.code == 0, done.err
    data: dict[str, object] = json.loads(done.out)
    schema = Path(command_line.__file__).parent / "schemas" / "flow.json"
    jsonschema.validate(data, json.loads(schema.read_text(encoding="utf-8")))
    return data


def test_elements_reach_elements_by_operators(gradtool: Run, model: Write) -> None:
    file = model(EAGER)
    done = gradtool("flow", file, "--from", "x[0]", "--to", "h[1]")
    assert done.code == 0
    assert "softmax.0" in done.out
    assert "model.py:7" in done.out
    data = answer(gradtool, file, "--from", "x[0]", "--to", "h[1]")
    (pair,) = data["pairs"]  # type: ignore[misc]
    assert (pair["influence"], pair["differing"], pair["elements"]) == ("yes", 2, 2)
    assert [step["operator"] for step in pair["path"]] == ["matmul_v2.0", "elementwise_add.0", "softmax.0"]


def test_what_a_program_keeps_is_not_given(gradtool: Run, model: Write) -> None:
    """Statistics of batch norm, constants of an exported model: pairs begin at what is fed, unless they are named."""
    normed = STATIC.replace("paddle.tanh(", "paddle.static.nn.batch_norm(")
    assert normed != STATIC
    data = answer(gradtool, model(normed))
    assert [pair["from"] for pair in data["pairs"]] == ["x", "y"]  # type: ignore[misc,attr-defined]
    data = answer(gradtool, model(normed), "--from", "batch_norm_0.w_1")
    assert len(data["pairs"]) == 1  # type: ignore[arg-type]


def test_changes_pass_what_gradients_do_not_and_end_where_they_end(gradtool: Run, model: Write) -> None:
    data = answer(gradtool, model(EAGER), "--from", "y", "--from", "unused", "--to", "loss")
    first, second = data["pairs"]  # type: ignore[misc]
    assert first["influence"] == "yes"
    assert second["influence"] == "no"
    assert second["end"]["operator"].startswith("scale.")


def test_without_words_every_input_is_asked_about_the_loss(gradtool: Run, model: Write) -> None:
    rows = gradtool("flow", model(STATIC), "--format", "tsv").cells[1:]
    assert [row[:3] for row in rows] == [["x", "mean_0.tmp_0", "yes"], ["y", "mean_0.tmp_0", "yes"]]
    data = answer(gradtool, "model.py", "--from", "x[0]", "--to", "h[1]")
    (pair,) = data["pairs"]  # type: ignore[misc]
    assert (pair["influence"], pair["why"]) == ("no", "other elements of it differ, and not those asked for")


def test_what_a_layer_calls_its_arguments_names_them(gradtool: Run, model: Write) -> None:
    text = "import paddle\nnet = paddle.nn.Linear(3, 2)\nloss = net(paddle.rand([4, 3])).sum()\n"
    data = answer(gradtool, model(text), "--from", "input[1]", "--to", "out[1]", "--to", "out[0]")
    assert [pair["influence"] for pair in data["pairs"]] == ["yes", "no"]  # type: ignore[attr-defined]


def test_what_cannot_run_again_is_unknown(gradtool: Run, model: Write) -> None:
    text = (
        "import paddle\np = paddle.full([4], 0.5)\nw = paddle.create_parameter([4], 'float32')\n"
        "loss = (w * paddle.bernoulli(p * 1.0)).sum()\n"
    )
    (pair,) = answer(gradtool, model(text), "--from", "p")["pairs"]  # type: ignore[misc]
    assert (pair["influence"], pair["end"]["operator"]) == ("unknown", "bernoulli.c0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "z"], "unknown value 'z'"),
        (["--from", "x[9]"], "x[9]: x has the shape [4, 3]"),
        (["--from", "x[3:3]"], "x[3:3] has no elements"),
        (["--from", "x[a]"], "expected numbers, slices or ... in the brackets"),
    ],
)
def test_what_is_refused(gradtool: Run, model: Write, words: list[str], said: str) -> None:
    done = gradtool("flow", model(EAGER), *words)
    assert done.code == 2
    assert said in done.err


def test_python_asks_the_same(folder: Path) -> None:
    (folder / "model.py").write_text(EAGER, encoding="utf-8")
    asked = gradtool.load("model.py").flow(from_="x[0]", to="h[:2]")
    assert asked.data["pairs"][0]["influence"] == "yes"
    assert "softmax.0" in str(asked)

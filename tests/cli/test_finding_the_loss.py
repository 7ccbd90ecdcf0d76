"""Loading models: where the loss, the program and the feed are found."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import DOCUMENT, Outcome, Run, Write

HEAD = "import paddle\npaddle.enable_static()\nx = paddle.static.data('x', [None, 3])\n"


def loss_of(done: Outcome) -> str:
    assert done.code == 0, done.err
    name = json.loads(done.out)["loss"]["name"]
    assert isinstance(name, str)
    return name


def ask(gradtool: Run, *arguments: str) -> str:
    return loss_of(gradtool("backward", *arguments, "--format", "json", "-q"))


def test_a_module_level_loss(gradtool: Run, model: Write) -> None:
    assert ask(gradtool, model("")) == "mean_0.tmp_0"


def test_the_end_of_the_program_without_a_usual_name(gradtool: Run, model: Write) -> None:
    text = HEAD + "a = paddle.mean(paddle.static.nn.fc(x, 1))\nb = paddle.mean(paddle.static.nn.fc(x, 1))\nc = a + b\n"
    assert ask(gradtool, model(text)) == "tmp_0"


def test_a_usual_name_wins(gradtool: Run, model: Write) -> None:
    text = HEAD + "h = paddle.static.nn.fc(x, 1)\nmetric = paddle.mean(h * h)\nloss = paddle.mean(h)\n"
    assert ask(gradtool, model(text)) == "mean_1.tmp_0"
    assert ask(gradtool, "model.py", "--loss", "metric") == "mean_0.tmp_0"
    assert ask(gradtool, "model.py", "--loss", "mean_0.tmp_0") == "mean_0.tmp_0"


def test_a_program_built_inside_a_function_without_a_result(gradtool: Run, model: Write) -> None:
    text = HEAD + "def go():\n    paddle.mean(paddle.static.nn.fc(x, 1))\ngo()\n"
    assert ask(gradtool, model(text)) == "mean_0.tmp_0"


@pytest.mark.parametrize(
    "result", ["loss", "loss, {}", "paddle.static.default_main_program()", "(h, loss)", "None", "[loss, h]"]
)
def test_what_build_may_return(gradtool: Run, model: Write, result: str) -> None:
    text = HEAD + f"def build():\n    h = paddle.static.nn.fc(x, 2)\n    loss = paddle.mean(h)\n    return {result}\n"
    assert ask(gradtool, model(text)) == "mean_0.tmp_0"


def test_functions_by_name_with_arguments(gradtool: Run, model: Write) -> None:
    text = HEAD + (
        "def build(n=1, name='fc'):\n"
        "    h = x\n"
        "    for i in range(n):\n"
        "        h = paddle.static.nn.fc(h, 2, name=f'{name}{i}')\n"
        "    return paddle.mean(h)\n"
        "def other():\n"
        "    return paddle.mean(paddle.static.nn.fc(x, 5, name='other'))\n"
    )
    listed = gradtool("backward", model(text), "--arg", "n=3", "--arg", "name=layer", "--format", "tsv")
    assert [row[0] for row in listed.cells[1::2]] == ["layer0.w_0", "layer1.w_0", "layer2.w_0"]
    listed = gradtool("backward", "model.py:other", "--format", "tsv")
    assert [row[0] for row in listed.cells[1:]] == ["other.w_0", "other.b_0"]


def test_a_module_and_stdin(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("", encoding="utf-8")
    body = HEAD + "def build():\n    return paddle.mean(paddle.static.nn.fc(x, 1))\n"
    (folder / "package" / "net.py").write_text(body, encoding="utf-8")
    assert ask(gradtool, "package.net:build") == "mean_0.tmp_0"

    class Stdin:
        buffer = io.BytesIO(DOCUMENT.encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    done = gradtool("backward", "-", "--stdin-filename", "piped.py", "--format", "tsv")
    assert {row[5] for row in done.cells[1:]} == {"piped.py:8", "piped.py:9"}


def test_a_file_imports_its_neighbours_and_prints_to_stderr(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "neighbour_of_the_model.py").write_text("SIZE = 7\n", encoding="utf-8")
    text = HEAD + "import sys\nfrom neighbour_of_the_model import SIZE\nprint('hello', len(sys.argv), __name__)\n"
    before = list(sys.path), sys.argv
    done = gradtool("backward", model(text + "loss = paddle.mean(paddle.static.nn.fc(x, SIZE))\n"), "--format", "tsv")
    assert "neighbour_of_the_model" not in sys.modules
    assert done.cells[1][1] == "3×7"
    assert done.err == "hello 1 __gradtool_model__\n"
    assert (list(sys.path), sys.argv) == before
    assert "paddle" not in sys.modules


@pytest.mark.parametrize(
    "call",
    [
        "paddle.static.append_backward(avg_loss)",
        "for _ in range(3): paddle.static.append_backward(avg_loss)",
        "paddle.static.gradients([y_predict], [x_emb])",
    ],
)
def test_a_backward_part_of_the_files_own_is_not_doubled(gradtool: Run, model: Write, call: str) -> None:
    plain = json.loads(gradtool("backward", model(""), "--format", "json").out)
    done = gradtool("backward", model(DOCUMENT + call + "\n"), "--format", "json")
    data = json.loads(done.out)
    left_out = data["operators"].pop("left_out")
    assert left_out > 0
    assert f"{left_out} operators skipped" in done.err
    assert plain["operators"].pop("left_out") == 0
    assert data == plain


def test_the_loss_of_the_files_own_append_backward(gradtool: Run, model: Write) -> None:
    text = HEAD + (
        "h = paddle.static.nn.fc(x, 1)\n"
        "first, second = paddle.mean(h), paddle.mean(h * h)\n"
        "pairs = paddle.static.append_backward(second)\n"
        "norm = paddle.mean(pairs[0][1])\n"
    )
    assert ask(gradtool, model(text)) == "mean_1.tmp_0"


def test_a_loss_that_contains_gradients_keeps_them(gradtool: Run, model: Write) -> None:
    text = HEAD + (
        "x.stop_gradient = False\n"
        "h = paddle.static.nn.fc(x, 4, activation='tanh', name='f')\n"
        "(slope,) = paddle.static.gradients(h, x)\n"
        "loss = paddle.mean(slope * slope)\n"
        "paddle.static.append_backward(loss)\n"
    )
    done = gradtool("backward", model(text), "--format", "tsv", "--run")
    assert {row[0]: row[8] for row in done.cells[1:]} == {"f.w_0": "ok", "f.b_0": "ok"}
    assert "tanh_grad_grad" in gradtool("graph", "--text", "model.py", "--part", "bwd").out


FEEDS: dict[str, tuple[str, str]] = {
    "returned": ("def build(): return loss, {'x': np.ones((1, 3), 'float32')}\n", "build()"),
    "module": ("feed = {'x': np.ones((1, 3), 'float32')}\n", "feed in model.py"),
    "run": (
        (
            "exe = paddle.static.Executor()\nexe.run(paddle.static.default_startup_program())\n"
            "exe.run(feed={'x': np.zeros((1, 3), 'float32')}, fetch_list=[loss])\n"
            "exe.run(feed={'x': np.ones((1, 3), 'float32')}, fetch_list=[loss])\n"
        ),
        "the last Executor.run in model.py",
    ),
}


@pytest.mark.parametrize("case", sorted(FEEDS))
def test_where_the_feed_comes_from(gradtool: Run, model: Write, case: str) -> None:
    extra, said = FEEDS[case]
    one = "default_initializer=paddle.nn.initializer.Constant(2.0)"
    network = f"w = paddle.static.create_parameter([3], 'float32', name='w', {one})\nloss = paddle.mean(x * w)\n"
    done = gradtool("backward", model("import numpy as np\n" + HEAD + network + extra), "--run", "--format", "json")
    data: dict[str, Any] = json.loads(done.out)
    assert data["loss"]["value"] == 2.0
    assert done.err == f"feed: x from {said}\n"


def test_parameters_keep_the_values_that_the_file_gave_them(gradtool: Run, model: Write) -> None:
    text = HEAD + (
        "w = paddle.static.create_parameter([3], 'float32', name='w')\n"
        "loss = paddle.mean(w)\n"
        "paddle.static.Executor().run(paddle.static.default_startup_program())\n"
        "paddle.static.global_scope().find_var('w').get_tensor().set([7.0, 7.0, 7.0], None)\n"
    )
    data = json.loads(
        gradtool(
            "backward",
            model(text.replace("[7.0, 7.0, 7.0]", "__import__('numpy').full(3, 7.0, 'float32')")),
            "--run",
            "--format",
            "json",
        ).out
    )
    assert data["loss"]["value"] == 7.0


def test_programs_of_the_files_own(gradtool: Run, model: Write) -> None:
    text = (
        "import paddle\npaddle.enable_static()\n"
        "main, startup = paddle.static.Program(), paddle.static.Program()\n"
        "with paddle.static.program_guard(main, startup):\n"
        "    x = paddle.static.data('x', [None, 3])\n"
        "    loss = paddle.mean(paddle.static.nn.fc(x, 2, name='own'))\n"
    )
    done = gradtool("backward", model(text), "--run", "--format", "tsv")
    assert [row[0] for row in done.cells[1:]] == ["own.w_0", "own.b_0"]


def test_mode_static_stands_for_enable_static(gradtool: Run, model: Write) -> None:
    text = "import paddle\nx = paddle.static.data('x', [None, 3])\nloss = paddle.mean(paddle.static.nn.fc(x, 1))\n"
    refused = gradtool("backward", model(text))
    assert refused.code == 4
    assert "paddle.enable_static()" in refused.err
    assert ask(gradtool, "model.py", "--mode", "static") == "mean_0.tmp_0"

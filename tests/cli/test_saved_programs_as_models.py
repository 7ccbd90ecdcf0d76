"""Saved programs as MODEL: JSON, the printed text, and containers with their values beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Program
from tests.cli.conftest import Run


@pytest.fixture
def saved(folder: Path) -> Path:
    """A folder with one trained program in all its forms."""
    main, startup = Program(), Program()
    with paddle.static.scope_guard(paddle.static.Scope()):
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [2, 3])
            out = paddle.static.nn.fc(x, 4, name="body")
            loss = paddle.mean(out)
            paddle.optimizer.Adam(0.1).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        paddle.static.save(main, "net")
        paddle.static.save_inference_model("infer", [x], [out], exe, program=main)
    (folder / "net.json").write_text(main.to_json())
    (folder / "net.txt").write_text(str(main))
    (folder / "other.json").write_text('{"schema": "other"}')
    (folder / "broken.txt").write_text("{ // block_idx:0 and so on")
    return folder


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize("file", ["net.pdmodel", "net.json", "net.txt"])
def test_every_form_is_a_model(gradtool: Run, file: str) -> None:
    done = gradtool("backward", file, "--format", "tsv")
    assert done.code == 0
    assert [row[:4] for row in done.cells[1:]] == [
        ["body.w_0", "3×4", "body.w_0@GRAD", "mul_grad.0"],
        ["body.b_0", "4", "body.b_0@GRAD", "elementwise_add_grad.0"],
    ]
    assert "made a backward part itself" in done.err
    assert {row[-1].partition(":")[0] for row in done.cells[1:]} == {
        "–" if file == "net.txt" else "test_saved_programs_as_models.py"
    }


@pytest.mark.usefixtures("saved")
def test_values_beside_a_container_are_used(gradtool: Run) -> None:
    assert gradtool("backward", "net.pdmodel", "--run").code == 0
    done = gradtool("gradients", "infer.pdmodel", "--target", "body.tmp_1", "--inputs", "body.w_0", "--run")
    assert done.code == 0
    assert "body.w_0@GRAD" in done.out
    done = gradtool("backward", "net.json", "--run")
    assert done.code == 4
    assert "has not been initialized" in done.err
    assert "hint  the file holds no values: static.save(program, NAME)" in done.err


@pytest.mark.usefixtures("saved")
def test_of_a_program_for_inference_the_outputs_are_summed(gradtool: Run) -> None:
    done = gradtool("backward", "infer.pdmodel", "--run")
    assert done.code == 0
    assert "infer.pdmodel has no loss: the sum of its output body.tmp_1 is taken" in done.err
    assert "2 of 2 parameters get a gradient" in done.out


@pytest.mark.usefixtures("saved")
def test_other_commands_take_it(gradtool: Run, saved: Path) -> None:
    assert "mul_grad(" in gradtool("graph", "net.json", "--pairs").out
    assert gradtool("graph", "--dump", "graphs", "net.pdmodel").code == 0
    assert (saved / "graphs" / "manifest.json").is_file()


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (["other.json"], "other.json holds no program: the program: expected a program"),
        (["broken.txt"], "broken.txt holds no program: line 1"),
        (["net.pdparams"], "net.pdparams holds no program: the bytes: expected a program, but it holds a dict"),
        (["net.json:build"], "net.json holds a program: it has no functions"),
        (["net.json", "--arg", "n=1"], "net.json holds a program: it has no functions"),
        (["net.json", "--mode", "eager"], "net.json holds a static program\n  hint  remove --mode eager"),
    ],
)
def test_what_does_not_fit_is_said(gradtool: Run, arguments: list[str], about: str) -> None:
    done = gradtool("backward", *arguments)
    assert done.code == 2
    assert about in done.err
    assert done.out == ""

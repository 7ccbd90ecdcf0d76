"""Every command answers about a program that Paddle saved, with the lines of the script that built it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.files import messages
from tests.cli.conftest import Run
from tests.paddle_files import archives


@pytest.fixture
def saved(folder: Path) -> Path:
    return archives.unpacked("classic_3.1.1", "s013_mlp_tanh_sigmoid", folder)


def test_backward_finds_the_loss_and_the_lines(gradtool: Run, saved: Path) -> None:
    done = gradtool("backward", "train.pdmodel", "--run")
    assert done.code == 0
    assert "s013_mlp_tanh_sigmoid.py:" in done.out
    assert "loss mean_0.tmp_0" in done.out
    assert "made a backward part itself" in done.err


def test_backward_takes_a_named_loss(gradtool: Run, saved: Path) -> None:
    done = gradtool("backward", "infer.pdmodel", "--loss", "mean_0.tmp_0")
    assert done.code == 0
    assert "loss mean_0.tmp_0" in done.out


@pytest.mark.parametrize(
    "words",
    [
        "why",
        "nan",
        "graph --format text",
        "graph --pairs",
        "stats",
        "stats --memory",
        "gradcheck",
        "check",
        "stats --time --repeats 1",
    ],
)
def test_commands_answer(gradtool: Run, saved: Path, words: str) -> None:
    command, *options = words.split()
    done = gradtool(command, "train.pdmodel", *options)
    assert done.code in (0, 1), done.err


def test_where_tells_the_line_that_the_file_holds(gradtool: Run, saved: Path) -> None:
    done = gradtool("graph", "--where", "mean_0.tmp_0", "train.pdmodel")
    assert 'File "/home/user/' in done.out
    assert "F.mse_loss(o, y)" in done.out


def test_operators_that_are_lacking_are_told_all_at_once(gradtool: Run, saved: Path) -> None:
    strange(saved / "train.pdmodel")
    done = gradtool("backward", "train.pdmodel")
    assert done.code == 0
    assert "2 operators that gradtool does not have" in done.err
    assert "alien at s013_mlp_tanh_sigmoid.py:" in done.err
    assert "sigmoid at s013_mlp_tanh_sigmoid.py:" in done.err
    assert "attribute strength = 7" in done.err
    assert "fc_0.w_0@GRAD" in done.out
    done = gradtool("backward", "train.pdmodel", "--run")
    assert done.code != 0
    assert "the program cannot run: gradtool does not have 2 of its operators: " in done.err


def strange(path: Path) -> None:
    """Make one operator of another type, and give another an attribute that it has not."""
    message = messages.parse("Program", path.read_bytes(), "train.pdmodel", "a program")
    ops = {op.type: op for op in message.blocks[0].ops}
    ops[b"sigmoid"].attrs.add(name=b"strength", type=0, i=7)
    ops[b"tanh"].type = b"alien"
    path.write_bytes(message.SerializeToString())


def test_without_protobuf_it_is_told_what_to_install(
    gradtool: Run, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "google.protobuf", None)
    messages._classes.cache_clear()
    done = gradtool("backward", "train.pdmodel")
    assert done.code != 0
    assert "gradtool[paddle]" in done.err
    monkeypatch.undo()
    messages._classes.cache_clear()

"""``--feed FILE[ROWS]``: rows of a file are fed to programs, and functions of dynamic mode are called with them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gradtool.cli import commands
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.data import row_syntax
from gradtool.engine.data.row_subset import Portion
from gradtool.engine.sweeps.point import Point
from gradtool.engine.sweeps.spec import Spec
from tests.cli.conftest import Run

EAGER = """\
import paddle


def build(x, scale=1.0):
    w = paddle.ones([1])
    w.stop_gradient = False
    return (paddle.log(x).sum() * scale * w).sum()
"""
STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 4])
loss = (paddle.log(x.sum(axis=-1, keepdim=True)) - paddle.static.nn.fc(x, 1)).square().mean()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with data of which row 7 of 9 has logarithms of 0."""
    monkeypatch.chdir(tmp_path)
    x = np.full((9, 4), 2, "float32")
    x[7] = 0
    np.savez("data.npz", x=x)
    (tmp_path / "eager.py").write_text(EAGER)
    (tmp_path / "static.py").write_text(STATIC)
    return tmp_path


@pytest.mark.parametrize("model", ["eager.py", "static.py"])
def test_the_command_below_a_sweep_asks_about_the_smallest_rows(gradtool: Run, folder: Path, model: str) -> None:
    swept = gradtool("sweep", "nan", model, "--rows", "data.npz:3")
    assert f"next: gradtool nan {model} --feed 'data.npz[7]'" in swept.out
    alone = gradtool("nan", model, "--feed", "data.npz[7]")
    assert alone.code == 1
    assert "log(0)" in alone.out
    assert f"gradtool stats {model} --feed 'data.npz[7]'" in alone.out
    assert gradtool("nan", model, "--feed", "data.npz[0:7]").code == 0
    assert gradtool("nan", model, "--feed", "data.npz[:]").code == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted({*commands.every()} - {"debug", "gradients"}))
def test_every_command_that_is_fed_takes_rows(gradtool: Run, folder: Path, name: str) -> None:
    """Without them ``build`` misses an argument. ``debug`` is a session; the others know programs alone."""
    command = commands.load(name)
    if not any(p.name == "feed" for p in command.params):
        return
    more = {"report": ["--md", "r.md"], "graph": ["-o", "g.dot"], "diff": ["eager.py"]}.get(name, [])
    called = {"graph --where": "graph --where=log"}.get(name, name)
    said = gradtool(called, "eager.py", *more, "--feed", "data.npz[2:4]")
    assert said.code == 0, said.err


def test_a_debugged_function_is_called_with_rows(gradtool: Run, folder: Path) -> None:
    (folder / "verbs").write_text("stats log.c0\nquit\n")
    said = gradtool("debug", "eager.py", "--feed", "data.npz[7]", "-x", "verbs")
    assert said.code == 0, said.err
    assert "inf" in said.out


def test_rows_are_words_and_back(folder: Path) -> None:
    x = np.load("data.npz")["x"]
    for portion, chosen, word, rows in (
        (Portion("data.npz"), None, "data.npz[:]", x),
        (Portion("data.npz", (7, 8)), None, "data.npz[7]", x[7:8]),
        (Portion("data.npz", (3, 9)), None, "data.npz[3:9]", x[3:]),
        (Portion("data.npz", (3, 9)), (8, 7, 7), "data.npz[8,7,7]", x[[8, 7, 7]]),
    ):
        assert row_syntax.rows_word(portion, chosen) == word
        assert row_syntax.is_of_rows(word)
        assert np.array_equal(row_syntax.take(word)["x"], rows)
    assert row_syntax.rows_word(Portion("data.npz"), range(1000)) is None
    assert np.array_equal(row_syntax.take("data.npz[8:]")["x"], x[8:])


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("data.npz[9]", "the rows of data.npz are 0 to 8"),
        ("data.npz[3,9]", "the rows of data.npz are 0 to 8"),
        ("data.npz[5:5]", "the rows of data.npz are 0 to 8"),
        ("data.npz[0:10]", "the rows of data.npz are 0 to 8"),
        ("data.npz[-1]", "'-1' says no rows"),
        ("data.npz[]", "'' says no rows"),
        ("none.npz[1]", "no such file: none.npz"),
        ("model.py[1]", "arrays are read from .npz"),
    ],
)
def test_rows_that_are_not_there(folder: Path, word: str, said: str) -> None:
    with pytest.raises(CommandError, match=re.escape(said)):
        row_syntax.take(word)


def test_a_file_of_that_very_name_is_a_file(folder: Path) -> None:
    (folder / "data.npz").rename("data[1].npz")
    assert not row_syntax.is_of_rows("data[1].npz")
    (folder / "data[1].npz").rename("data.npz[1]")
    assert not row_syntax.is_of_rows("data.npz[1]")


def test_what_no_word_says_has_no_command(folder: Path) -> None:
    point = Point("eager.py", 0, (), Portion("data.npz", (0, 3)))
    assert Spec(question="nan").words(point) is not None
    assert Spec(question="nan", dtype="float64").words(point) is None
    assert Spec(question="check").words(point) == ["gradtool", "check", "eager.py", "--feed", "data.npz[0:3]"]

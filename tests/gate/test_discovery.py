"""Which models are found, what they are called, and how they are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool.cli.configuration import gate
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.gate import subject
from gradtool.engine.gate.discovery import Models
from gradtool.engine.gate.subject import Subject
from gradtool.engine.request.limits import ALL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Marked models, one with two lines, and what is none."""
    texts = {
        "a.py": "# gradtool: model\n",
        "b.py": "x = 1\n# gradtool: model build seed=3 arg='n=1 2' arg=m=2 arguments='--lr 3' steps=all\n"
        "#gradtool:model\n",
        "plain.py": "# gradtool: models are elsewhere\n  # gradtool: model\n",
        "sub/c.py": "# gradtool: model name=see feed=c.npz\n",
        ".hidden/d.py": "# gradtool: model\n",
        "env/pyvenv.cfg": "",
        "env/e.py": "# gradtool: model\n",
    }
    for name in texts:
        (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / ".git").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*words: str, **more: Any) -> list[Subject]:
    return Models(**more).select(words)


def names(*words: str, **more: Any) -> list[str]:
    return [s.name for s in found(*words, **more)]


def test_folders_have_the_models_that_say_so(folder: Path) -> None:
    assert names() == ["a.py", "b.py:build", "b.py", "see"]
    assert names(".") == names()
    assert names("sub") == names(str(folder / "sub")) == ["see"]
    _, build, _, see = found()
    assert (build.target, see.target, see.feed) == ("b.py:build", "sub/c.py", "sub/c.npz")
    assert build.options == {"seed": 3, "arg": ["n=1 2", "m=2"], "script": ["--lr", "3"], "steps": ALL}
    assert build.request().run.arg == ("n=1 2", "m=2")
    assert build.request().record.unfinished


def test_files_and_globs_need_no_line(folder: Path) -> None:
    assert names("plain.py", "a.py", "plain.py", "./a.py") == ["plain.py", "a.py"]
    assert names("*.py") == ["a.py", "b.py:build", "b.py", "plain.py"]
    assert names("**/*.py")[-1] == "see"
    assert names("plain.py:build", "json") == ["plain.py:build", "json"]


def test_configured_models_come_with_their_settings(folder: Path) -> None:
    tables = [{"target": "plain.py", "seed": 5}, {"target": "plain.py", "seed": 6}, {"target": "a.py:build"}]
    assert names(tables=tables) == ["plain.py", "plain.py (2)", "a.py:build"]
    assert [s.options["seed"] for s in found("plain.py", tables=tables)] == [5, 6]
    assert names(".", tables=tables) == ["a.py:build", "b.py:build", "b.py", "plain.py", "plain.py (2)", "see"]
    stronger = found("plain.py", tables=tables, options={"seed": 9, "mode": "auto"}, said=frozenset({"seed"}))
    assert [s.options["seed"] for s in stronger] == [9]
    beside = found(tables=[{"target": "c.py", "feed": "f.npz"}], folder=str(folder / "sub"))
    assert (beside[0].target, beside[0].feed, beside[0].name) == ("sub/c.py", "sub/f.npz", "sub/c.py")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sed=1", "m.py:2: unknown key of a model 'sed'"),
        ("seed=x", "m.py:2: seed: expected an integer, came 'x'"),
        ("steps=0", "steps: expected a number from 1, or all"),
        ("a b", "'b' is not KEY=VALUE"),
        ("a-b", "'a-b' is neither the name of a function"),
        ("arg=x", "arg: expected NAME=VALUE"),
        ("mode=dynamic", "mode: expected auto, static or eager"),
        ("name='x", "no closing quotation"),
    ],
)
def test_a_line_that_says_what_it_cannot_is_refused(folder: Path, line: str, said: str) -> None:
    (folder / "m.py").write_text(f"\n# gradtool: model {line}\n", encoding="utf-8")
    with pytest.raises(CommandError, match=said.replace("(", "[(]")):
        found("m.py")


@pytest.mark.parametrize(
    ("word", "said"), [("no.py", "no such file"), (".git", "no models in .git"), ("x*.py", "no file matches")]
)
def test_what_is_not_there_is_refused(folder: Path, word: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        found("a.py", word)


def test_a_line_and_a_table_have_the_same_keys() -> None:
    assert set(gate.MODEL.members) == set(subject.KEYS)


def test_a_package_that_runs_as_a_module_is_no_folder_to_search(folder: Path) -> None:
    (folder / "sub" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "sub" / "__main__.py").write_text("from . import c\n", encoding="utf-8")
    assert [s.target for s in found("sub", "sub.c", options={"as_module": True})] == ["sub", "sub.c"]
    for word in ("sub.d", "env"):
        with pytest.raises(CommandError, match=f"-m {word}"):
            found(word, options={"as_module": True})

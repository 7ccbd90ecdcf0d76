"""Help ends with examples that run, with exit codes and a page; manual pages are made of the same."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from gradtool.cli import commands
from gradtool.cli.guide import cookbook, examples, manual, samples
from tests.cli.conftest import Run

PAGES = {question.page for question in cookbook.every()} | {"README"}


def test_every_command_has_guidance() -> None:
    assert set(examples.TABLE) == set(commands.every())


@pytest.mark.parametrize("name", commands.every())
def test_help_ends_with_examples_codes_and_a_page(name: str, gradtool: Run) -> None:
    done = gradtool(*("missing_gradient.py" if name == commands.OF_A_MODEL else name).split(), "--help")
    guidance = examples.TABLE[name]
    assert done.code == 0
    for example in guidance.examples:
        assert f"gradtool {example}\n" in done.out
        assert example.startswith(name) or name == commands.OF_A_MODEL
    assert "Exit codes: 0 answered" in done.out
    assert f"Cookbook: docs/cookbook/{guidance.page}.md" in done.out
    assert guidance.page in PAGES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", commands.every())
def test_examples_run(name: str, gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for sample in map(samples.sample, samples.names()):
        (folder / sample.file).write_text(sample.text, encoding="utf-8")
    guidance = examples.TABLE[name]
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "kept"))  # what the user has compiled is not deleted
    for example in guidance.examples:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        done = gradtool(*shlex.split(example))
        assert done.code in ((0, 1) if guidance.failed else (0,)), done.err


def test_a_page_of_the_manual_has_every_option(gradtool: Run) -> None:
    text = gradtool("self", "man", "why").out
    assert text.startswith('.TH "GRADTOOL-WHY" "1" ')
    for param in commands.load("why").params:
        for option in param.opts:
            assert option.startswith("--") is False or getattr(param, "hidden", False) or _escaped(option) in text
    assert _escaped("gradtool why missing_gradient.py") in text
    assert "\x08" not in text


def _escaped(text: str) -> str:
    return text.replace("-", "\\-")


def test_all_pages_are_written(gradtool: Run, folder: Path) -> None:
    assert gradtool("self", "man", "-o", "share/man1").code == 0
    written = {file.name for file in (folder / "share/man1").iterdir()}
    assert written == {"gradtool.1", *(f"{manual.name(name)}.1" for name in commands.every())}
    assert {"gradtool-stats.1", "gradtool-stats-memory.1", "gradtool-self-man.1"} <= written
    whole = (folder / "share/man1/gradtool.1").read_text(encoding="utf-8")
    assert all(f".B {name}\n" in whole for name in commands.names())
    assert gradtool("self", "man", "whyy").code == 2


def test_no_line_of_a_page_is_a_macro_by_accident() -> None:
    macros = {".TH", ".SH", ".B", ".PP", ".nf", ".fi", ".TP"}
    for name in ["", *commands.every()]:
        text = manual.page(name)
        assert {line.split()[0] for line in text.splitlines() if re.match(r"[.']", line)} <= macros

"""The corpus of training scripts: the command that a user would run first finds the cause, its line and the affected.

Each script says in its header what is asked (``command``), what is to be said (``verdict``, ``line``, ``affected``),
the words after ``--`` (``arguments``) and the exit code (``exit``). The scripts in ``correct`` are right.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Outcome, Run
from tests.sampling import sampled

HERE = Path(__file__).parent
SCRIPTS = sorted(file for file in HERE.rglob("*.py") if file.read_text(encoding="utf-8").startswith("# "))
CORRECT = [file for file in SCRIPTS if file.parent.name == "correct"]
BROKEN = [file for file in SCRIPTS if file.parent.name != "correct"]


def header(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+) +(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))


def name(file: Path) -> str:
    return file.relative_to(HERE).with_suffix("").as_posix()


def asked(gradtool: Run, command: str, file: Path, *options: str) -> Outcome:
    said = header(file)
    model = ["-m", said["module"]] if "module" in said else [file.name]
    after = ["--", *said["arguments"].split()] if "arguments" in said else []
    return gradtool(command, *model, "-q", *options, *after)


@pytest.fixture
def beside(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script, with the working folder that its author has."""
    file: Path = request.param
    monkeypatch.chdir(file.parents[1] if "module" in header(file) else file.parent)
    return file


@pytest.mark.sampled(5)
@pytest.mark.parametrize("beside", BROKEN, ids=name, indirect=True)
def test_the_cause_the_line_and_the_affected_are_said(gradtool: Run, beside: Path) -> None:
    expected = header(beside)
    done = asked(gradtool, expected["command"], beside)
    assert done.code == int(expected.get("exit", "1" if expected["command"] == "nan" else "0")), done.err
    assert expected["verdict"].lower() in done.out.lower()
    assert expected["line"] in done.out
    for tensor in expected.get("affected", "").split():
        assert tensor in done.out


@pytest.mark.parametrize("beside", sampled(BROKEN, lambda f: f"blindly {name(f)}", 10), ids=name, indirect=True)
def test_whoever_asks_blindly_is_led_to_the_cause(gradtool: Run, beside: Path) -> None:
    line = header(beside)["line"]
    told = (asked(gradtool, command, beside) for command in ("why", "nan", "stats", "backward"))
    assert any(line in done.out + done.err for done in told)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("beside", CORRECT, ids=name, indirect=True)
def test_nothing_is_found_in_what_is_right(gradtool: Run, beside: Path) -> None:
    for command in sampled(("why", "nan"), lambda command: f"{command} {name(beside)}", one_in=2):
        done = asked(gradtool, command, beside, "--format", "json")
        assert done.code == 0, done.err
        assert command == "nan" or [answer for answer in _answers(done) if answer["finding"]] == []


def _answers(done: Outcome) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = json.loads(done.out)["answers"]
    return answers


def test_the_corpus_is_large() -> None:
    assert len(SCRIPTS) >= 80
    assert len(CORRECT) >= 30

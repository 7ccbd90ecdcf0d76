"""The corpus of models: for each broken one the command that a user would run first finds the cause and the line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

CORPUS = Path(__file__).parents[1] / "corpus"
BROKEN = sorted((CORPUS / "connectivity").glob("*.py"))
CORRECT = sorted((CORPUS / "correct").glob("*.py"))


def header(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+) +(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", BROKEN, ids=lambda p: p.stem)
def test_the_cause_and_the_line_are_found(gradtool: Run, file: Path) -> None:
    expected = header(file)
    done = gradtool(*shlex.split(expected["command"]), str(file), "--format", "json", "-q")
    assert done.code == int(expected.get("exit", "0")), done.err
    answers = json.loads(done.out)["answers"]
    verdicts = [(a["verdict_text"], a["code"]) for a in answers if a["finding"] or a["verdict"] == "frozen"]
    assert (expected["verdict"], expected["line"]) in verdicts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", CORRECT, ids=lambda p: p.stem)
def test_nothing_is_found_in_what_is_right(gradtool: Run, file: Path) -> None:
    done = gradtool("why", str(file), "--format", "json", "-q")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    assert [a for a in data["answers"] if a["finding"]] == []
    assert data["findings"] == 0


def test_the_corpus_is_large() -> None:
    assert len(BROKEN) >= 70
    assert len(CORRECT) >= 20

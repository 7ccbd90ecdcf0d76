"""Models side by side: what one does is a finding about that one, and what is told is in the order of the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate import rules
from gradtool.engine.gate.check import Check
from gradtool.engine.gate.check_result import CheckedModel
from gradtool.engine.gate.finding import Finding, Severity, Spot
from gradtool.engine.gate.subject import Subject
from gradtool.engine.gate.waivers import Waiver

GOOD = rules.every()["GT103"].right
SEGFAULT = "import os, signal\nprint('on the way')\nos.kill(os.getpid(), signal.SIGSEGV)\n"
MODELS = {
    "one": GOOD + "import helper\nhelper.seen.append(1)\nprint('one', helper.seen)\n",
    "two": "import sys\nsys.modules['paddle_is_gone'] = None\n" + rules.every()["GT103"].wrong,
    "ends": SEGFAULT,
    "none": "x = 1\n",
    "four": GOOD + "import helper, sys\nprint('four', helper.seen, 'paddle_is_gone' in sys.modules)\n",
}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    (tmp_path / "helper.py").write_text("seen = []\n", encoding="utf-8")
    for name, text in MODELS.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return [Subject(name=name, target=f"{name}.py") for name in MODELS]


@pytest.mark.usefixtures("own_modules")
def test_each_has_a_process_of_its_own(models: list[Subject], capsys: pytest.CaptureFixture[str]) -> None:
    report = Check(jobs=2).ask(models)
    told = [(f.model, f.code, f.message) for f in report.results]
    assert told == [
        ("two", "GT103", "encoder.weight has grad = None: detached"),
        ("ends", "GT904", "the process that ends ran in ended with SIGSEGV"),
        ("none", "GT903", next(f.message for f in report.results if f.model == "none")),
    ]
    assert report.results[1].explanation == ("last it printed: on the way",)
    printed = capsys.readouterr().err.splitlines()
    assert [line for line in printed if line[:3] in ("one", "fou", "on ")] == [
        *["one [1]"] * printed.count("one [1]"),
        "on the way",
        *["four [] False"] * printed.count("four [] False"),
    ]
    here = Check(jobs=0).ask([m for m in models if m.name != "ends"])
    assert [(f.model, f.code, f.message) for f in here.results] == [t for t in told if t[0] != "ends"]
    assert here.results[0] == report.results[0]


def test_results_go_from_process_to_process_whole() -> None:
    spot = Spot("/f.py", 3, 1, "x = y")
    waiver = Waiver("f.py", 1, 2, 1, 1, ("GT103",), "# gradtool: ignore[GT103]")
    finding = Finding("GT103", "detached", Severity.NOTE, "m", "w", "said", spot, ("v",), ("because",), "try")
    whole = CheckedModel(
        findings=[finding, Finding("GT901", "n", Severity.ERROR, "m", "", "s")], waivers=[waiver], said="x"
    )
    assert CheckedModel.read(whole.data()) == whole

"""``gradtool MODEL`` and ``gradtool check MODEL`` find the same, on the scripts of all corpora."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradtool.engine.gate.check_result import Job
from gradtool.engine.gate.checking import check_model
from gradtool.engine.gate.finding import Finding
from gradtool.engine.gate.judging import report_models
from gradtool.engine.gate.policy import Policy
from gradtool.engine.gate.subject import Subject
from gradtool.viz.report.findings import Noting, apply_rules
from tests.sampling import sampled
from tests.scripts.test_scripts import header

pytestmark = [pytest.mark.usefixtures("no_rule_raises"), pytest.mark.filterwarnings("ignore")]

TESTS = Path(__file__).parents[1]
SCRIPTS = sorted(
    file
    for pattern in ("scripts/*/*.py", "corpus/*/*.py", "torch/runs/*.torchrun", "reports/runs/*.torchrun")
    for file in TESTS.glob(pattern)
    if not file.stem.startswith("_")
)


def _name(file: Path) -> str:
    return str(file.relative_to(TESTS))


def found_by_check(subject: Subject) -> list[Finding]:
    """What ``check`` reports of a model."""
    job = Job(subject=subject, selection=Policy().selection_for(subject))
    return list(report_models([job], [check_model(job)], Policy(), os.getcwd()).results)


def found_by_the_bare_command(subject: Subject) -> list[Finding]:
    """What ``gradtool MODEL`` reports of it."""
    report = apply_rules(subject.request(), None, Noting()).report
    assert report is not None
    return list(report.results)


@pytest.mark.parametrize("script", sampled(SCRIPTS, _name, 120, lambda file: file.parent.name), ids=_name)
def test_the_findings_of_both_commands_are_the_same(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(script.parent)
    words = header(script).get("arguments", "").split() if script.suffix == ".py" else []
    subject = Subject(name=script.name, target=script.name, options={"script": words})
    assert found_by_the_bare_command(subject) == found_by_check(subject)

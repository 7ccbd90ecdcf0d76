"""Every form of a report: names of any characters, nothing found, findings without a place."""

from __future__ import annotations

import json

import pytest

from gradtool.models.gate import rules
from gradtool.models.gate.finding import Finding, Severity, Spot
from gradtool.models.gate.report import Report
from gradtool.viz import gate

STRANGE = 'w["a b"] <&> \t\n\x1b[31m'
FINDINGS = [
    Finding(
        "GT103",
        "detached",
        Severity.ERROR,
        "train.py",
        STRANGE,
        f"{STRANGE} has no gradient",
        Spot("/repo/src/train.py", 7, 5, STRANGE),
        ("v", STRANGE),
        ("because",),
        "take it off",
    ),
    Finding("GT901", "not-checked", Severity.NOTE, "train.py", "", "stopped after 50 passes"),
]


def report(*findings: Finding) -> Report:
    return Report(findings, ["train.py"], list(rules.every().values()), "/repo")


@pytest.mark.parametrize("form", gate.names())
def test_every_form_holds_every_finding(form: str) -> None:
    text = gate.rendered(report(*FINDINGS), form)
    for finding in FINDINGS:
        assert finding.code in text
    assert "src/train.py" in text
    assert "\x1b" not in text
    assert "/repo" not in text
    assert gate.rendered(report(*FINDINGS), form) == text


@pytest.mark.parametrize("form", gate.names())
def test_nothing_found_is_a_text_of_its_own(form: str) -> None:
    assert "GT103" not in gate.rendered(report(), form) or form == "json"


def test_concise_counts() -> None:
    assert gate.rendered(report(*FINDINGS), "concise").splitlines()[-1] == "Found 1 error and 1 note in 1 model."
    assert gate.rendered(report(), "jsonl") == ""
    assert json.loads(gate.rendered(report(), "json"))["results"] == []

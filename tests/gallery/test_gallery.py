"""The gallery of silent mistakes: each one is found, with its operator and line, and its right version has no finding.

A file is a short model. A line that ends in ``# right: …`` is the mistake, and those words are the line without it. The
finding stands at the line with ``# here``, else at that one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

HERE = Path(__file__).parent
MODELS = sorted(f for f in HERE.glob("*.py") if f.name != Path(__file__).name)
_MISTAKE = re.compile(r"^( *).*# right:(.*)$", re.MULTILINE)


def header(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+) +(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))


def found(file: Path, code: str) -> list[Finding]:
    return findings(Request(str(file)), file.name, Selection(extend=(code,)))


@pytest.mark.parametrize("model", MODELS, ids=lambda file: file.stem)
def test_a_mistake_is_found_at_its_line(model: Path) -> None:
    said = header(model)
    results = [f for f in found(model, said["code"]) if f.code == said["code"]]
    assert results, "nothing was found"
    told = " ".join((results[0].message, *results[0].explanation))
    assert said["told"] in told
    lines = model.read_text(encoding="utf-8").splitlines()
    marks = [i for i, line in enumerate(lines, 1) if line.endswith("# here")]
    marks = marks or [i for i, line in enumerate(lines, 1) if "# right:" in line]
    assert results[0].spot is not None
    assert results[0].spot.line in marks


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", MODELS, ids=lambda file: file.stem)
def test_the_right_version_has_no_finding(model: Path, tmp_path: Path) -> None:
    text = _MISTAKE.sub(lambda line: f"{line[1]}{line[2].strip()}", model.read_text(encoding="utf-8"))
    file = tmp_path / model.name
    file.write_text(text, encoding="utf-8")
    assert [f for f in found(file, header(model)["code"]) if f.severity is not Severity.NOTE] == []

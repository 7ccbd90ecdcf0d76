"""Findings in the Test Anything Protocol, version 14: a test for each finding, one for each rule that found nothing.

What is waived or known is a test that was skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gradtool.engine.gate.finding import Finding
from gradtool.engine.gate.report import Report

from ..text import printable


def text(report: Report) -> str:
    """The stream; findings that do not make the gate fail are tests that pass, with the same diagnostic."""
    findings = [*report.results, *(s.finding for s in report.suppressed)]
    told = {(f.model, f.code) for f in findings}
    clean = [(m, r) for m in report.models for r in report.rules if (m, r.code) not in told]
    lines = ["TAP version 14", f"1..{len(findings) + len(clean)}"]
    for number, finding in enumerate(report.results, 1):
        lines += _point(report, finding, number)
    for number, suppressed in enumerate(report.suppressed, len(report.results) + 1):
        finding = suppressed.finding
        name = _name(f"{finding.model}: {finding.code} {finding.rule} {finding.subject}".rstrip())
        lines.append(f"ok {number} - {name} # SKIP {_name(suppressed.reason or suppressed.kind)}")
    for number, (model, rule) in enumerate(clean, len(findings) + 1):
        lines.append(f"ok {number} - {_name(f'{model}: {rule.code} {rule.name}')}")
    return "\n".join(lines) + "\n"


def _point(report: Report, finding: Finding, number: int) -> Iterator[str]:
    ok = "not ok" if finding.severity.reaches(report.fail_on) else "ok"
    yield f"{ok} {number} - {_name(f'{finding.model}: {finding.code} {finding.rule} {finding.subject}'.rstrip())}"
    yield "  ---"
    facts: dict[str, str | int] = {"message": finding.message, "severity": finding.severity.value}
    if finding.spot is not None:
        facts |= {
            "file": finding.spot.relative_path(report.root),
            "line": finding.spot.line,
            "column": finding.spot.column,
        }
    if finding.advice:
        facts["advice"] = finding.advice
    # JSON's texts and numbers are YAML's.
    yield from (f"  {name}: {json.dumps(value)}" for name, value in facts.items())
    yield "  ..."


def _name(text: str) -> str:
    """A description: ``#`` would begin a directive, for some readers behind a backslash, too."""
    return printable(text).replace("\\", "\\\\").replace("#", "\\\\x23")

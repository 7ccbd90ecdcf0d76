"""Findings as JUnit XML: a suite for each model, a case for each finding, and one for each rule that found nothing.

What is waived or known is a case that was skipped.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from gradtool.engine.gate.finding import EXTERNAL, IN_SOURCE, Finding, Suppressed
from gradtool.engine.gate.report import Report

from ..text import printable


def text(report: Report) -> str:
    """The document; findings that do not make the gate fail are cases that pass and say so."""
    root = ET.Element("testsuites", name="gradtool")
    for model in report.models:
        root.append(_suite(report, model))
    for count in ("tests", "failures", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report, model: str) -> ET.Element:
    findings = [f for f in report.results if f.model == model]
    suppressed = [s for s in report.suppressed if s.finding.model == model]
    told = {f.code for f in findings} | {s.finding.code for s in suppressed}
    clean = [r for r in report.rules if r.code not in told]
    failures = sum(f.severity.reaches(report.fail_on) for f in findings)
    counts = {"tests": len(findings) + len(suppressed) + len(clean), "failures": failures, "skipped": len(suppressed)}
    suite = ET.Element("testsuite", {"name": printable(model), "errors": "0", **{k: str(n) for k, n in counts.items()}})
    for f in findings:
        suite.append(_case(report, f))
    for s in suppressed:
        suite.append(_skip_case(report, s))
    for rule in clean:
        ET.SubElement(suite, "testcase", classname=printable(model), name=f"{rule.code} {rule.name}")
    return suite


def _case(report: Report, finding: Finding) -> ET.Element:
    case = _open_case(report, finding)
    spot = finding.spot
    lines = [] if spot is None else [f"{spot.relative_path(report.root)}:{spot.line}:{spot.column}", spot.text]
    lines += [*finding.explanation, *([f"try {finding.advice}"] if finding.advice else [])]
    body = "\n".join(map(printable, lines))
    if finding.severity.reaches(report.fail_on):
        failure = ET.SubElement(case, "failure", type=finding.severity.value, message=printable(finding.message))
        failure.text = body
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity.value}: {printable(finding.message)}\n{body}"
    return case


def _skip_case(report: Report, suppressed: Suppressed) -> ET.Element:
    case = _open_case(report, suppressed.finding)
    where = {IN_SOURCE: "waived", EXTERNAL: "in the baseline"}[suppressed.kind]
    said = f"{where}: {suppressed.reason}" if suppressed.reason else where
    ET.SubElement(case, "skipped", message=printable(f"{said}: {suppressed.finding.message}"))
    return case


def _open_case(report: Report, finding: Finding) -> ET.Element:
    """A case without an outcome, at the line of the finding."""
    name = f"{finding.code} {finding.rule} {finding.subject}".rstrip()
    case = ET.Element("testcase", classname=printable(finding.model), name=printable(name))
    if finding.spot is not None:
        case.set("file", printable(finding.spot.relative_path(report.root)))
        case.set("line", str(finding.spot.line))
    return case

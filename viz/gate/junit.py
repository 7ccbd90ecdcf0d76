"""Findings as JUnit XML: a suite for each model, a case for each finding, and one for each rule that found nothing."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from gradtool.models.gate.finding import Finding
from gradtool.models.gate.report import Report

from ..text import printable


def text(report: Report) -> str:
    """The document; findings that do not make the gate fail are cases that pass and say so."""
    root = ET.Element("testsuites", name="gradtool")
    for model in report.models:
        root.append(_suite(report, model))
    for count in ("tests", "failures"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report, model: str) -> ET.Element:
    findings = [f for f in report.results if f.model == model]
    told = {f.code for f in findings}
    clean = [r for r in report.rules if r.code not in told]
    failures = sum(f.severity.reaches(report.fail_on) for f in findings)
    tests = len(findings) + len(clean)
    suite = ET.Element("testsuite", name=printable(model), tests=str(tests), failures=str(failures), errors="0")
    for f in findings:
        suite.append(_case(report, f))
    for rule in clean:
        ET.SubElement(suite, "testcase", classname=printable(model), name=f"{rule.code} {rule.name}")
    return suite


def _case(report: Report, finding: Finding) -> ET.Element:
    name = f"{finding.code} {finding.rule} {finding.subject}".rstrip()
    case = ET.Element("testcase", classname=printable(finding.model), name=printable(name))
    spot = finding.spot
    lines = [] if spot is None else [f"{spot.beneath(report.root)}:{spot.line}:{spot.column}", spot.text]
    lines += [*finding.explanation, *([f"try {finding.advice}"] if finding.advice else [])]
    if spot is not None:
        case.set("file", printable(spot.beneath(report.root)))
        case.set("line", str(spot.line))
    body = "\n".join(map(printable, lines))
    if finding.severity.reaches(report.fail_on):
        failure = ET.SubElement(case, "failure", type=finding.severity.value, message=printable(finding.message))
        failure.text = body
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity.value}: {printable(finding.message)}\n{body}"
    return case

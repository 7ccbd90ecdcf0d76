"""Findings as SARIF 2.1.0 (OASIS), with the rules' texts and fingerprints: what code scanning reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gradtool import __version__
from gradtool.engine.gate import rules
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def text(report: Report) -> str:
    """The log, with one run; paths are relative to ``%SRCROOT%``."""
    told = {f.code for f in report.results} | {s.finding.code for s in report.suppressed}
    known = [r for r in rules.every().values() if r in report.rules or r.code in told]
    index = {rule.code: n for n, rule in enumerate(known)}
    run = {
        "tool": {"driver": {"name": "gradtool", "version": __version__, "rules": [_rule(r) for r in known]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the folder in which gradtool ran"}}},
        "results": [*_results(report, index)],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _results(report: Report, index: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield what counts, then what is waived or known; either all results say whether they are suppressed, or none
    does.
    """
    for finding in report.results:
        yield {**_result(finding, index[finding.code], report.root), "suppressions": []}
    for left_out in report.suppressed:
        finding = left_out.finding
        why = {"kind": left_out.kind, "status": "accepted"}
        why |= {"justification": left_out.reason} if left_out.reason else {}
        yield {**_result(finding, index[finding.code], report.root), "suppressions": [why]}


def _rule(rule: Rule) -> dict[str, Any]:
    examples = f"Wrong:\n\n{_fence(rule.wrong)}\n\nRight:\n\n{_fence(rule.right)}"
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {rule.why}"},
        "help": {"text": f"{rule.why}\n\n{examples}", "markdown": f"{rule.why}\n\n{examples}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _fence(source: str) -> str:
    return f"```python\n{source.rstrip()}\n```"


def _result(finding: Finding, index: int, root: str) -> dict[str, Any]:
    sentences = [finding.message, *finding.explanation]
    if finding.sharers:
        sentences.append(f"The same holds for {', '.join(finding.sharers)}.")
    if finding.advice:
        sentences.append(f"Try: {finding.advice}")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(sentences)},
        "partialFingerprints": {"gradtool/v1": finding.fingerprint},
    }
    if finding.spot is None:
        path, region = finding.model, None
    else:
        path, region = (
            finding.spot.relative_path(root),
            {"startLine": finding.spot.line, "startColumn": finding.spot.column},
        )
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path, errors="surrogatepass"), "uriBaseId": "%SRCROOT%"}}
    if region is not None:
        place["region"] = region
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.subject:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.subject, "kind": "variable"}]
    return {**result, "locations": [location]}

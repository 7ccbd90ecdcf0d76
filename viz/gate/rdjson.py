"""Findings in reviewdog's diagnostic format (``rdjson``)."""

from __future__ import annotations

import json
from typing import Any

from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.report import Report

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def text(report: Report) -> str:
    """One result with a diagnostic for each finding."""
    result = {"source": {"name": "gradtool"}, "diagnostics": [_diagnostic(f, report.root) for f in report.results]}
    return json.dumps(result, indent=2, sort_keys=True) + "\n"


def _diagnostic(finding: Finding, root: str) -> dict[str, Any]:
    location: dict[str, Any] = {"path": finding.model}
    if finding.spot is not None:
        start = {"line": finding.spot.line, "column": finding.spot.column}
        location = {"path": finding.spot.relative_path(root), "range": {"start": start}}
    advice = f"\ntry {finding.advice}" if finding.advice else ""
    return {
        "message": f"{finding.message}{advice}",
        "location": location,
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }

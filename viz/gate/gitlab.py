"""Findings as a GitLab code quality report: a list of objects that merge requests show beside the lines."""

from __future__ import annotations

import json

from gradtool.engine.gate.finding import Severity
from gradtool.engine.gate.report import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def text(report: Report) -> str:
    """The list; GitLab asks for a path and a line, so what has no place stands at the model's first line."""
    issues = []
    for f in report.results:
        path = f.model if f.spot is None else f.spot.relative_path(report.root)
        issues.append(
            {
                "description": f"{f.code} {f.message}",
                "check_name": f.code,
                "fingerprint": f.fingerprint,
                "severity": _SEVERITIES[f.severity],
                "location": {"path": path, "lines": {"begin": 1 if f.spot is None else f.spot.line}},
            }
        )
    return json.dumps(issues, indent=2, sort_keys=True) + "\n"

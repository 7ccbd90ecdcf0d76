"""Findings as one JSON object, ``gradtool/check/1``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.gate.finding import Severity
from gradtool.engine.gate.report import Report

from ..views.view import to_json


def text(report: Report) -> str:
    """The object, keys sorted."""
    return to_json(data(report), "check")


def data(report: Report) -> dict[str, Any]:
    """The report in JSON's types."""
    return {
        "findings": report.findings,
        "results": [f.data(report.root) for f in report.results],
        "models": list(report.models),
        "rules": [r.code for r in report.rules],
        "fail_on": report.fail_on.value,
        "suppressed": [s.data(report.root) for s in report.suppressed],
        "waived": report.waiver_count,
        "known": report.baseline_count,
        "gone": report.gone,
        "clean": report.clean,
        "scopes": [{"model": name, **scope.data()} for name, scope in report.scopes.items()],
        "counts": {s.value: report.count(s) for s in Severity},
    }

"""Findings as JSON, an object a line."""

from __future__ import annotations

import json

from gradtool.engine.gate.report import Report


def text(report: Report) -> str:
    """A line for each finding; nothing where there is none."""
    return "".join(json.dumps(f.data(report.root), sort_keys=True, allow_nan=False) + "\n" for f in report.results)

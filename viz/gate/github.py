"""Findings as annotations of a GitHub workflow: commands on standard output that the runner turns into marks on lines.

The form is that of GitHub's "Workflow commands": ``::error file=…,line=…,col=…,title=…::message``.
"""

from __future__ import annotations

from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.gate.report import Report

from ..text import printable

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def text(report: Report) -> str:
    """A command for each finding."""
    return "".join(f"{_command(f, report.root)}\n" for f in report.results)


def _command(finding: Finding, root: str) -> str:
    spot = finding.spot
    properties = {"title": f"{finding.code} {finding.rule}"}
    if spot is not None:
        properties = {"file": spot.relative_path(root), "line": str(spot.line), "col": str(spot.column), **properties}
    told = ",".join(f"{name}={_escape(value, in_property=True)}" for name, value in properties.items())
    more = f" (and {len(finding.sharers)} more)" if finding.sharers else ""
    advice = f"\ntry {printable(finding.advice)}" if finding.advice else ""
    message = f"{printable(finding.message)}{more}{advice}"
    return f"::{_LEVELS[finding.severity]} {told}::{_escape(message)}"


def _escape(value: str, *, in_property: bool = False) -> str:
    """Escape *value* for the runner."""
    value = printable(value) if in_property else value
    escaped = value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C") if in_property else escaped

"""Findings as Markdown: the summary of a step of a GitHub workflow, or a comment."""

from __future__ import annotations

from gradtool.engine.gate.report import Report

from ..document import markdown
from . import concise


def text(report: Report) -> str:
    """Return the number of findings, and a table of them."""
    parts = [f"**{markdown.line(concise.summary(report))}**"]
    if report.results:
        rows = []
        for f in report.results:
            place = f.model if f.spot is None else f"{f.spot.relative_path(report.root)}:{f.spot.line}"
            more = f" (and {len(f.sharers)} more)" if f.sharers else ""
            rows.append([f.severity.value, f"{f.code} {f.rule}", place, f"{f.message}{more}", f.advice])
        parts.append(markdown.table(["severity", "rule", "place", "finding", "try"], rows))
    return "\n\n".join(parts) + "\n"

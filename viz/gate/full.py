"""Findings with the line that is the cause, the explanation, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.gate.finding import Finding
from gradtool.engine.gate.report import Report

from ..text import printable
from . import concise


def text(report: Report) -> str:
    """A paragraph for each finding, then how many there are."""
    lines = [line for finding in report.results for line in (*_paragraph(finding, report.root), "")]
    return "".join(f"{printable(line)}\n" for line in (*lines, concise.summary(report)))


def _paragraph(finding: Finding, root: str) -> Iterator[str]:
    spot = finding.spot
    yield f"{finding.code} {finding.rule} · {finding.severity.value}: {finding.message}"
    if spot is not None:
        yield f"  --> {spot.relative_path(root)}:{spot.line}:{spot.column}"
        if spot.text:
            yield f"   | {spot.text}"
    yield from (f"  {sentence}" for sentence in finding.explanation)
    if finding.sharers:
        yield f"  the same holds for {len(finding.sharers)} more: {fold_names(finding.sharers)}"
    if finding.advice:
        yield f"  try  {finding.advice}"

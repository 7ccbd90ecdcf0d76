"""``file:line:column: CODE message``, a line each: what problem matchers of editors read."""

from __future__ import annotations

from gradtool.engine.core.wording import count
from gradtool.engine.gate.finding import Finding
from gradtool.engine.gate.report import Report

from ..text import printable


def text(report: Report) -> str:
    """A line for each finding, then how many there are."""
    return "".join(
        f"{printable(line)}\n" for line in (*(line(f, report.root) for f in report.results), summary(report))
    )


def line(finding: Finding, root: str) -> str:
    """One finding in one line."""
    spot = finding.spot
    place = finding.model if spot is None else f"{spot.relative_path(root)}:{spot.line}:{spot.column}"
    place = f"./{place}" if place.startswith("::") else place  # no command of a workflow
    more = f" (and {len(finding.sharers)} more)" if finding.sharers else ""
    return f"{place}: {finding.code} {finding.message}{more}"


def summary(report: Report) -> str:
    """``Found 2 errors and 1 note in 3 models.``"""
    models = count(len(report.models), "model")
    counts = [(report.count(s), s.value) for s in type(report.fail_on)]
    told = [count(n, word) for n, word in counts if n]
    others = [
        f"{n} {what}" for n, what in ((report.waiver_count, "waived"), (report.baseline_count, "in the baseline")) if n
    ]
    more = f" ({', '.join(others)})" if others else ""
    if not told:
        return f"No findings{_scope(report)}: {models}, {count(len(report.rules), 'rule')}{more}."
    counted = " and ".join(told) if len(told) < 3 else f"{told[0]}, {told[1]} and {told[2]}"
    return f"Found {counted} in {models}{more}."


def _scope(report: Report) -> str:
    """Return the scope of a report without findings: passes of one model, or how many were seen in part."""
    scopes = [report.scopes.get(model) for model in report.models]
    if len(scopes) == 1 and scopes[0] is not None:
        return f" {scopes[0].words}"
    # Of several models those that were seen whole need no number of passes.
    part = sum(scope is not None and not scope.is_whole for scope in scopes)
    return f" in what was looked at, a part of {count(part, 'model')}" if part else ""

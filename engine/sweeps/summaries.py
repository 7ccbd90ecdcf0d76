"""The questions of a sweep: how each is asked, and what of its answer a row keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..core import source
from ..core.notes import Notes
from ..core.records import dataclass
from ..questions import question_class
from ..request.request import Request

OK: Final = "ok"
FINDING: Final = "finding"
UNCHECKED: Final = "unchecked"
"""Nothing is wrong with what was looked at, but not everything could be."""

MOST: Final = 3
"""Births that a row tells; how many there are, it says as well."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Part of an answer that a row keeps.

    Attributes:
        findings: how many things are wrong.
        answer: the numbers, in JSON's types.
        unchecked: whether something could not be looked at.
    """

    findings: int
    answer: Mapping[str, Any]
    unchecked: bool = False

    @property
    def status(self) -> str:
        """In one word."""
        if self.findings:
            return FINDING
        return UNCHECKED if self.unchecked else OK


Asked = Callable[[Request, Mapping[str, Any], Notes], Summary]


@dataclass(frozen=True, slots=True)
class SweepQuestion:
    """A question.

    Attributes:
        ask: asks it.
        options: the fields of the question that a sweep can set.
        about: what a row says, for people.
    """

    ask: Asked
    options: tuple[str, ...]
    about: str


def number(value: float | None) -> float | None:
    """A number as JSON has it: None where it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def _ask(name: str, request: Request, notes: Notes, **options: Any) -> Any:
    """Return the answer to the question of that name."""
    return question_class(name)(**options).ask(request, notes)


def _nan(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    answer = _ask("nan", request, notes, **options, steps=request.run.steps)
    story, names = answer.story, answer.names
    births = [
        {
            "kind": birth.kind,
            "part": birth.part,
            "operator": names.operator(birth),
            "tensor": names.tensor(birth),
            "bad": birth.count,
            "elements": birth.total,
            "source": source.short(birth.loc) or None,
            "cause": birth.cause,
            "step": birth.step,
        }
        for birth in story.births[:MOST]
    ]
    told = {
        "births": births,
        "victims": [names.display(v) for v in story.victims],
        "absorbed": len(story.absorbed),
        "unchecked": list(story.unchecked),
    }
    return Summary(answer.findings, told, bool(story.unchecked))


def _stats(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    answer = _ask("stats", request, notes, **options)
    lines = [
        {
            "name": line.name,
            "norm": None if line.gradient is None else number(line.size),
            "ratio": number(line.ratio),
            "zeros": None if line.gradient is None else line.gradient.zeros,
            "nonfinite": None if line.gradient is None else line.gradient.nonfinite,
            "elements": None if line.gradient is None else line.gradient.elements,
            "verdict": answer.verdict(line),
        }
        for line in answer.lines
    ]
    sizes = [line.size for line in answer.story.parameters if line.gradient is not None]
    bad = sum(line.gradient.nonfinite for line in answer.story.parameters if line.gradient is not None)
    whole = number(math.hypot(*sizes)) if sizes and not bad else None
    return Summary(answer.findings, {"norm": whole, "nonfinite": bad, "by": answer.by, "lines": lines})


def _why(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    answers = _ask("why", request, notes, **options)
    verdicts = [
        {
            "name": a.name,
            "verdict": a.verdict.name,
            "label": a.label,
            "source": str(a.source) or None,
            "also": [*a.also],
        }
        for a in answers
        if a.finding
    ]
    return Summary(answers.findings, {"verdicts": verdicts, "asked": answers.subjects})


def _gradcheck(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    answer = _ask("gradcheck", request, notes, **options)
    checked = [
        {"name": c.name, "status": c.status, "order": c.order, "error": number(c.error), "cause": c.cause}
        for c in answer.story.entries
    ]
    bad = [line for line, c in zip(checked, answer.story.entries, strict=True) if not c.is_passed]
    errors = [c.error for c in answer.story.entries if c.is_passed and math.isfinite(c.error)]
    told = {"checked": len(checked), "error": max(errors, default=None), "not_ok": bad}
    return Summary(answer.findings, told, not answer.story.is_passed)


def _check(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    from ..gate.check import check_request

    report = check_request(request, options.get("select", ()), options.get("ignore", ()), notes)
    told = [
        {
            "code": f.code,
            "rule": f.rule,
            "severity": f.severity.value,
            "subject": f.subject,
            "message": f.message,
            "source": None if f.spot is None else f"{source.last_part(f.spot.file)}:{f.spot.line}",
        }
        for f in report.results
    ]
    return Summary(report.findings, {"findings": told})


def _backward(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    table = _ask("backward", request, notes, run=True, **options)
    rows = [row for row in table.rows if row.counts]
    without = [
        {"name": row.shown, "status": row.status, "source": str(row.source) or None} for row in rows if row.lacking
    ]
    norms = {row.shown: number(row.values.norm) for row in rows if row.values is not None}
    bad = sum(row.values.nonfinite for row in rows if row.values is not None)
    told = {"parameters": len(rows), "with_gradient": len(rows) - len(without), "without": without, "norms": norms}
    return Summary(table.findings, {**told, "nonfinite": bad})


def _summarize_saved(request: Request, options: Mapping[str, Any], notes: Notes) -> Summary:
    story = _ask("saved", request, notes, **options).story
    told = {"bytes": story.total, "peak": story.peak, "buffers": len(story.kept), "held": story.held}
    return Summary(0, told)


KINDS: Final[Mapping[str, SweepQuestion]] = {
    "nan": SweepQuestion(_nan, ("big", "subnormal", "order"), "where NaN and infinity are born"),
    "stats": SweepQuestion(_stats, ("by",), "norms of the gradients"),
    "why": SweepQuestion(_why, ("params", "no_grad"), "why parameters get no gradient"),
    "gradcheck": SweepQuestion(_gradcheck, ("order",), "gradients compared with differences"),
    "check": SweepQuestion(_check, ("select", "ignore"), "findings of the gate's rules"),
    "backward": SweepQuestion(_backward, ("params", "no_grad"), "which parameters get a gradient"),
    "saved": SweepQuestion(_summarize_saved, (), "what backward keeps alive"),
}
"""Name -> question, as the commands are called."""

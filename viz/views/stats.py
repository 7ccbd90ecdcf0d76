"""View of the sizes of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from gradtool.engine.answers import numbers
from gradtool.engine.answers.numbers import Numbers
from gradtool.engine.answers.stats import Line, Trend
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, drop_lines, finite, number, remove_pass, shape
from gradtool.engine.kinds.names import Names, line_of, runs_data
from gradtool.engine.questions.stats import Sizes

from ..bars import course, histogram, log_bar
from .view import Table, View, failure_lines, other_losses

_HEADINGS = ("‖g‖", "log ‖g‖", "‖g‖/‖w‖", "max |g|", "zeros", "not finite", "verdict")

_ORDER = ("log ‖g‖", "max |g|", "parameters", "shape", "not finite", "source…", "zeros")


def view(answer: Sizes) -> View:
    """Norms, their ratio to the weights, zeros and numbers that are not finite: a row for each line."""
    about, lines, by = answer.about, answer.lines, answer.by
    look = {x.name for x in lines if answer.is_to_look_at(x)}
    wrong = len(look)
    nothing = about.scope.qualify_last("nothing to look at")
    bad = f"{count(wrong, 'row')} to look at" if wrong else nothing
    findings = count(answer.findings, "finding")
    judged = [bad] if not answer.findings else [findings] if not wrong else [bad, findings]
    told = [" · ".join([*_extent(answer), *judged])]
    told += _headlines(answer)
    scale = answer.story.scale
    if scale != 1.0:
        told.append(f"loss scale {scale:g}: sizes are those before a GradScaler divides by it, verdicts those after")
    trend = answer.story.trend
    if trend is not None:
        told.append(_trend_note(trend))
    others, others_data = other_losses(about, "stats")
    told += [*others, *drop_lines(about.dropped), *failure_lines(answer.failure)]
    data = {
        "model": about.file,
        "mode": about.mode,
        "by": by,
        "findings": answer.findings,
        "rows": [{**_row(x, answer.names), "verdict": answer.verdict(x)} for x in lines],
        "total": answer.total,
        "dropped": list(about.dropped),
        "trend": None if trend is None else _trend(trend),
        "loss_scale": scale,
        "others": others_data,
        "failure": None if answer.failure is None else answer.failure.data(),
        "scope": about.scope.data(),
    }
    more = ["gradtool", "stats", *about.words, "--by", "op", "--worst", "10"]
    blocks: list[str | Table] = [_table(answer, look), "\n".join(told)]
    marks = {bad: "warn" if wrong or answer.findings or about.scope.ended else "good", findings: "bad"}
    return View(
        "stats", data, blocks, [*_explain_commands(answer, look), command_line(*more)], marks=marks, records="rows"
    )


def _extent(answer: Sizes) -> list[str]:
    """Return how many rows there are, and how many parameters get a gradient, in the words of ``why``."""
    rows, total = len(answer.lines), answer.total
    if answer.by != "parameter":
        return [f"{rows} of {count(total, answer.by)}"]
    gets = "gets" if total == 1 else "get"
    arrived = f"{answer.with_gradient} of {count(total, 'parameter')} {gets} a gradient"
    return [arrived] if rows == total else [f"{rows} of {count(total, 'row')}", arrived]


def _explain_commands(answer: Sizes, look: Collection[str]) -> list[str]:
    """The commands that say where numbers come from, or why there are none."""
    words = answer.about.words
    if answer.failure is not None:
        return [command_line("gradtool", "why", *remove_pass(words))]
    nan = command_line("gradtool", "nan", *words)
    lacking = [x.name for x in answer.lines if x.verdict in (numbers.ZERO, numbers.NONE) and x.name in look]
    wild = any(x.verdict in numbers.NOT_FINITE for x in answer.lines)
    found = [a.name for a in answer.answers if a.finding and a.verdict is not Verdict.NOT_FINITE]
    first = [*(lacking if answer.by == "parameter" else []), *found][:1]
    if not first:
        return [nan]
    return [*([nan] if wild else []), command_line("gradtool", "why", first[0], *words)]


def _headlines(answer: Sizes) -> list[str]:
    """Return the words of ``why`` for gradients that are too large or too small, or that have no number: a line for
    each.
    """
    rows = {x.name for x in answer.lines if x.verdict != numbers.OK}
    return [
        " · ".join([f"{a.label}: {fold_names([a.name, *a.also])}", *_sentence(a), *filter(None, [a.source])])
        for a in answer.answers
        if (a.verdict.is_size and a.said) or (a.finding and rows.isdisjoint((a.name, *a.also)))
    ]


def _sentence(answer: Answer) -> Sequence[str]:
    """The sentence that says most: of sizes the last, which holds the numbers."""
    return answer.said[-1:] if answer.verdict.is_size else answer.said[:1]


def _table(answer: Sizes, look: Collection[str]) -> Table:
    """A row for each line: what it is of, numbers, what was asked for beside them, the place."""
    lines, by_layer = answer.lines, answer.by == "layer"
    low, high = _range(lines)
    asked: list[tuple[str, Callable[[Line], str]]] = []
    if any(x.runs for x in lines):
        asked.append(("runs", _runs))
    if answer.histogram:
        asked.append(("sizes", _sizes))
    headings = [answer.by, "parameters" if by_layer else "shape", *_HEADINGS, *(h for h, _ in asked), "source"]
    table = Table(headings, order=[*_ORDER, f"{answer.by}…", "‖g‖/‖w‖", "runs", "sizes", "source"], judged="verdict")
    table.tones = {i: _tone(answer.verdict(x), x.name in look) for i, x in enumerate(lines)}
    for x in lines:
        extent = str(len(x.members)) if by_layer else shape(x.shape)
        beside = [cell(x) for _, cell in asked]
        table.rows.append(
            [x.name, extent, *_cells(x, low, high), answer.verdict(x), *beside, source.short(x.loc) or NOTHING]
        )
    return table


def _tone(verdict: str, look: bool) -> str:
    if verdict == numbers.OK:
        return "good"
    return "bad" if look and verdict not in (numbers.ZERO, numbers.NONE) else "warn"


def _range(lines: Iterable[Line]) -> tuple[float, float]:
    """The least and the largest norm that is not 0."""
    norms = [x.gradient.norm for x in lines if x.gradient is not None]
    positive = [n for n in norms if n > 0]
    return min(positive, default=0.0), max(positive, default=0.0)


def _cells(x: Line, low: float, high: float) -> list[str]:
    """The numbers of a gradient, its norm also as a bar between the least and the largest one."""
    g = x.gradient
    if g is None:
        return [NOTHING, "", NOTHING, NOTHING, NOTHING, NOTHING]
    zeros = f"{100 * g.zeros / g.elements:.3g} %" if g.elements else NOTHING
    return [number(g.norm), log_bar(g.norm, low, high), number(x.ratio), number(g.largest), zeros, str(g.nonfinite)]


def _sizes(x: Line) -> str:
    """A histogram of the decades of the elements."""
    return histogram(x.gradient.decades) if x.gradient is not None and x.gradient.decades else NOTHING


def _trend_note(trend: Trend) -> str:
    per = trend.factor if trend.factor >= 1 else 1 / trend.factor
    way = "fall" if trend.kind == "vanishing" else "grow"
    ends = f"from {trend.last} back to {trend.first}"
    return f"{trend.kind} with depth: {ends} norms {way} {number(per)}× per parameter"


def _trend(trend: Trend) -> dict[str, Any]:
    return {"kind": trend.kind, "factor": trend.factor, "first": trend.first, "last": trend.last}


def _runs(x: Line) -> str:
    """Return how often an operator ran inside of branches and loops, and how its norm went from run to run."""
    if not x.runs:
        return NOTHING
    bars = course([math.nan if n.nonfinite else n.norm for _, n in x.runs])
    return f"{len(x.runs)} {bars}"


def _row(x: Line, names: Names) -> dict[str, Any]:
    g = x.gradient
    return {
        "name": x.name,
        "shape": list(x.shape),
        "members": x.members,
        "weight_norm": None if x.weight is None else finite(x.weight),
        "ratio": None if x.ratio is None else finite(x.ratio),
        "verdict": x.verdict,
        "source": line_of(x.loc),
        "gradient": None if g is None else _numbers(g),
        "runs": [{"inside": runs_data(names.runs(inside)), **_numbers(n)} for inside, n in x.runs],
    }


def _numbers(g: Numbers) -> dict[str, Any]:
    return {**g.data(), "decades": [[k, n] for k, n in g.decades.items()]}

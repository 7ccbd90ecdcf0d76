"""What is shown of the sizes of gradients."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.answers.stats import Line, Numbers
from gradtool.engine.core import source
from gradtool.models.names import Names, runs_data
from gradtool.models.questions.stats import Sizes
from gradtool.models.wording import NOTHING, command_line, count, finite, number, shape

from ..bars import course, histogram, log_bar
from .view import Table, View


def view(answer: Sizes) -> View:
    """Norms, their ratio to the weights, zeros and numbers that are not finite: a row for each line."""
    about, lines, by = answer.about, answer.lines, answer.by
    norms = [x.gradient.norm for x in lines if x.gradient is not None and x.gradient.norm > 0]
    low, high = min(norms, default=0.0), max(norms, default=0.0)
    headings = [by, "shape", "‖g‖", "log ‖g‖", "‖g‖/‖w‖", "max |g|", "zeros", "not finite", "verdict"]
    if by == "layer":
        headings[1] = "parameters"
    repeated = any(x.runs for x in lines)
    if repeated:
        headings.append("runs")
    if answer.histogram:
        headings.append("sizes")
    styles = {
        "ok": "good",
        "not finite": "bad",
        "large": "bad",
        "vanishing": "bad",
        "all zero": "warn",
        "no gra": "dim",
    }
    table = Table([*headings, "source"], styles=styles)
    rows = []
    for x in lines:
        g = x.gradient
        extent = str(len(x.members)) if by == "layer" else shape(x.shape)
        cells = [x.name, extent]
        if g is None:
            cells += [NOTHING, "", NOTHING, NOTHING, NOTHING, NOTHING]
        else:
            share = f"{100 * g.zeros / g.elements:.3g} %" if g.elements else NOTHING
            cells += [number(g.norm), log_bar(g.norm, low, high), number(x.ratio), number(g.largest), share]
            cells.append(str(g.nonfinite))
        cells.append(x.verdict)
        if repeated:
            cells.append(_runs(x) if x.runs else NOTHING)
        if answer.histogram:
            cells.append(histogram(g.decades) if g is not None and g.decades else NOTHING)
        where = source.short(x.loc)
        table.rows.append([*cells, where or NOTHING])
        rows.append(_row(x, where, answer.names))
    wrong = [x for x in lines if x.verdict not in ("ok", "no gradient")]
    bad = f"{count(len(wrong), 'row')} to look at" if wrong else "nothing to look at"
    last = f"{len(lines)} of {count(answer.total, by)} · {bad}"
    trend = answer.story.trend
    told = [last]
    if trend is not None:
        per = trend.factor if trend.factor >= 1 else 1 / trend.factor
        told.append(
            f"{trend.kind} with depth: from {trend.last} back to {trend.first} norms "
            f"{'fall' if trend.kind == 'vanishing' else 'grow'} {number(per)}× per parameter"
        )
    data = {
        "model": about.name,
        "mode": about.mode,
        "by": by,
        "rows": rows,
        "total": answer.total,
        "trend": None
        if trend is None
        else {"kind": trend.kind, "factor": trend.factor, "first": trend.first, "last": trend.last},
    }
    more = ["gradtool", "stats", *about.words, "--by", "op", "--worst", "10"]
    next_ = [command_line("gradtool", "nan", *about.words), command_line(*more)]
    return View("stats", data, [table, "\n".join(told)], next_)


def _runs(x: Line) -> str:
    """How often an operator ran inside of branches and loops, and how its norm went from run to run."""
    bars = course([math.nan if n.nonfinite else n.norm for _, n in x.runs])
    return f"{len(x.runs)} {bars}"


def _row(x: Line, where: str, names: Names) -> dict[str, Any]:
    g = x.gradient
    file, _, line = where.rpartition(":")
    return {
        "name": x.name,
        "shape": list(x.shape),
        "members": x.members,
        "weight_norm": None if x.weight is None else finite(x.weight),
        "ratio": None if x.ratio is None else finite(x.ratio),
        "verdict": x.verdict,
        "source": {"file": file, "line": int(line)} if file else None,
        "gradient": None if g is None else _numbers(g),
        "runs": [{"inside": runs_data(names.runs(inside)), **_numbers(n)} for inside, n in x.runs],
    }


def _numbers(g: Numbers) -> dict[str, Any]:
    return {
        "norm": finite(g.norm),
        "max_abs": finite(g.largest),
        "mean": finite(g.mean),
        "zeros": g.zeros,
        "nonfinite": g.nonfinite,
        "elements": g.elements,
        "decades": [[k, n] for k, n in g.decades.items()],
    }

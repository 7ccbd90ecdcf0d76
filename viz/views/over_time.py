"""View of gradients over the steps of a training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from gradtool.engine.answers.over_time import step_events as what
from gradtool.engine.answers.over_time.history import History, HistoryPoint, TrainingStep
from gradtool.engine.answers.over_time.sentences import sentence, size, together
from gradtool.engine.answers.over_time.step_events import Happening
from gradtool.engine.core import source
from gradtool.engine.core.source import Location
from gradtool.engine.core.wording import NOTHING, command_line, count, finite
from gradtool.engine.kinds.names import line_of
from gradtool.engine.questions.over_time import Row, Training
from gradtool.engine.request.limits import ENOUGH

from ..bars import trail
from .view import Table, View


def view(answer: Training) -> View:
    """A line of totals, a row for each parameter or layer, and what began at which step."""
    history = answer.history
    told = [f"step {h.step:<4} {describe(h, answer)}" for h in answer.happenings]
    blocks: list[str | Table] = ["\n".join(title_lines(answer)), totals(history), rows(answer)]
    blocks.append("\n".join([*told, _sum(answer)]))
    return View("over-time", data(answer), blocks, list(_next(answer)), records="rows", tells_its_end=True)


def title_lines(answer: Training) -> Iterator[str]:
    """Yield a description of a step, in numbers and lines."""
    history = answer.history
    passes = [*chain.from_iterable(s.passes for s in history.steps)]
    updates = [*chain.from_iterable(s.updates for s in history.steps)]
    yield f"over time  {answer.about.name} · {answer.about.mode} · {count(len(history.steps), 'step')}"
    yield f"a step     {_step_meaning(history)}"
    run = f"{count(len(passes), 'run')} of programs" if history.static else count(len(passes), "backward pass")
    yield f"backward   {run}, {_lines(p.loc for p in passes)}"
    if updates:
        names = ", ".join(dict.fromkeys(u.by or "the script itself" for u in updates))
        yield f"update     {len(updates)} by {names}, {_lines(u.loc for u in updates)}"
    if history.ended:
        yield f"until      {history.ended}"


def _step_meaning(history: History) -> str:
    run = "run of a program with a backward part" if history.static else "backward pass"
    if not history.is_update:
        return f"is a {run}: nothing was updated"
    return f"is a {run}, which updates" if history.static else "is an update with the backward passes before it"


def _lines(locations: Iterable[Location]) -> str:
    """The lines, each once, and each file once: ``train.py:31, :40``."""
    places: dict[str, None] = dict.fromkeys(source.short(loc) for loc in locations if loc)
    told: list[str] = []
    before = ""
    for place in places:
        file, _, line = place.rpartition(":")
        told.append(place if file != before else f":{line}")
        before = file
    return ", ".join(told) or "at no line of the file"


def totals(history: History) -> Table:
    """The course of what a step has one of."""
    several = any(len(s.passes) > 1 for s in history.steps)
    named: list[tuple[str, list[float | None]]] = [
        ("loss" if not several else "loss, last pass", [s.loss for s in history.steps]),
        ("‖g‖ of all", [what.total(s) for s in history.steps]),
        ("learning rate", [s.rate for s in history.steps]),
        ("clipping ×", [s.clip_factor for s in history.steps]),
    ]
    table = Table(["of a step", "course", "first", "last"], order=("first", "last"))
    for name, values in named:
        there = [v for v in values if v is not None]
        if there:
            table.rows.append([name, trail(values), size(there[0]), size(there[-1])])
    return table


def rows(answer: Training) -> Table:
    """A row for each parameter or layer."""
    points = chain.from_iterable(row.points for row in answer.rows)
    wrong = any(p is not None and p.gradient.nonfinite for p in points)
    moved = answer.history.is_update
    headings = [answer.by, "‖g‖", "first", "last", *(["‖Δw‖/‖w‖"] if moved else []), "zeros"]
    table = Table(
        [*headings, *(["not finite"] if wrong else [])],
        styles={"×": "bad"},
        order=("first", "zeros", "last", f"{answer.by}…", "‖Δw‖/‖w‖"),
    )
    for row in answer.rows:
        there = [p for p in row.points if p is not None]
        cells = [row.name, trail([norm(p) for p in row.points])]
        if not there:
            table.rows.append([*cells, *[NOTHING] * (len(table.headings) - 2)])
            continue
        cells += [size(norm(there[0])), size(norm(there[-1]))]
        if moved:
            cells.append(size(next((p.ratio for p in reversed(there) if p.ratio is not None), None)))
        cells.append(_zeros(there))
        if wrong:
            bad = sum(p.gradient.nonfinite > 0 for p in there)
            cells.append(f"× {bad}" if bad else "0")
        table.rows.append(cells)
    return table


def norm(point: HistoryPoint | None) -> float | None:
    """The norm of a gradient; NaN where an element is not finite."""
    if point is None:
        return None
    return math.nan if point.gradient.nonfinite else point.gradient.norm


def _zeros(points: Sequence[HistoryPoint]) -> str:
    """The share of zeros in the first and the last step, once where it is the same: ``48→78 %``."""
    ends = [100 * p.gradient.zeros / max(p.gradient.elements, 1) for p in (points[0], points[-1])]
    return "→".join(dict.fromkeys(f"{share:.0f}" for share in ends)) + " %"


# -- what happened ----------------------------------------------------------------------------------------------------


def describe(h: Happening, answer: Training) -> str:
    """Return what began at a step, to which parameters, and where."""
    return sentence(h, [t.name for t in answer.parameters], len(answer.history.steps))


def _sum(answer: Training) -> str:
    everyone = [t.name for t in answer.parameters]
    nothing = _never_reached(answer)
    parts = [count(len(everyone), "parameter")]
    if answer.by == "layer":
        parts = [f"{count(len(answer.rows), 'layer')} of {parts[0]}"]
    if nothing:
        parts.append(f"no gradient in any step: {', '.join(together(nothing, everyone))}")
    if answer.findings or not _open(answer):
        scope = answer.about.scope
        unseen = "no findings" if scope.is_whole else f"no findings {scope.words}"
        parts.append(count(answer.findings, "finding") if answer.findings else unseen)
    else:
        parts.append("why says whether that is meant")
    return " · ".join(parts)


def _never_reached(answer: Training) -> list[str]:
    """Parameters that never got a gradient."""
    return [t.name for t in answer.parameters if not any(answer.history.points(t))]


def _open(answer: Training) -> bool:
    """Return whether something is told that may be wrong or meant, which these numbers do not show."""
    return bool(_never_reached(answer)) or any(h.kind in (what.ZERO, what.GONE, what.NEVER) for h in answer.happenings)


def _next(answer: Training) -> Iterator[str]:
    """Commands about the steps at which something began, then other forms of this answer."""
    words = answer.about.words
    kinds = {h.kind: h for h in reversed(answer.happenings)}
    if what.NOT_FINITE in kinds:
        yield command_line("gradtool", "nan", *words)
    asked = next((kinds[k] for k in (what.ZERO, what.GONE, what.NEVER, what.EMPTY, what.STALE) if k in kinds), None)
    if asked is not None:
        counted = asked.backward is not None and not answer.history.static
        chosen = ["--backward", str(asked.backward)] if counted else []
        yield command_line("gradtool", "why", *chosen, *words)
    elif _never_reached(answer):
        yield command_line("gradtool", "why", *words)
    if answer.folded:
        yield command(answer, "--by", "parameter")
    yield command(answer, "-o", "heat.svg")


def command(answer: Training, *options: str) -> str:
    """The command that gives this answer with other *options*, which go before the script's own words."""
    words = answer.about.words
    steps = [] if "--steps" in [*words, "--"][: [*words, "--"].index("--")] else ["--steps", str(ENOUGH)]
    return command_line("gradtool", "stats", *steps, *options, *words)


# -- JSON -------------------------------------------------------------------------------------------------------------


def data(answer: Training) -> dict[str, Any]:
    """The answer in JSON's types."""
    history = answer.history
    return {
        "model": answer.about.file,
        "mode": answer.about.mode,
        "by": answer.by,
        "findings": answer.findings,
        "step": "update" if history.is_update else "backward",
        "ended": history.ended or None,
        "steps": [_step(s) for s in history.steps],
        "rows": [_row(row) for row in answer.rows],
        "happenings": [_event_data(h, answer) for h in answer.happenings],
    }


def _step(s: TrainingStep) -> dict[str, Any]:
    return {
        "number": s.number,
        "backward": [{"number": p.number, "loss": _number(p.loss), "source": line_of(p.loc)} for p in s.passes],
        "updates": [
            {
                "by": u.by or None,
                "rate": _number(u.rate),
                "clipped": _number(u.clipped),
                "source": line_of(u.loc),
            }
            for u in s.updates
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "members": [t.name for t in row.members],
        "shape": list(row.members[0].shape) if len(row.members) == 1 else None,
        "source": line_of(row.loc),
        "points": [None if p is None else _point(p) for p in row.points],
    }


def _point(p: HistoryPoint) -> dict[str, Any]:
    return {
        "norm": finite(p.gradient.norm),
        "zeros": p.gradient.zeros,
        "nonfinite": p.gradient.nonfinite,
        "elements": p.gradient.elements,
        "passes": p.passes,
        "cleared": not p.stale,
        "weight": _number(p.weight),
        "update": _number(p.update),
        "clipped": _number(p.clipped),
        "changed": _number(p.changed),
    }


def _event_data(h: Happening, answer: Training) -> dict[str, Any]:
    return {
        "kind": h.kind,
        "step": h.step,
        "steps": h.count,
        "backward": h.backward,
        "parameters": [t.name for t in h.tracks],
        "numbers": [finite(n) for n in h.numbers],
        "source": line_of(h.loc),
        "text": describe(h, answer),
        "finding": h.wrong,
    }


def _number(value: float | None) -> float | None:
    return None if value is None else finite(value)

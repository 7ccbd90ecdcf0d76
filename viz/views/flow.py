"""View of the flow of information from one value to another."""

from __future__ import annotations

from typing import Any

from gradtool.engine.answers.flow.dependence import NO, UNKNOWN, YES, ValueInfluence
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, number
from gradtool.engine.questions.flow import Flows
from gradtool.engine.runs.timeline import Entry

from .view import Table, View

_TONES = {YES: "good", NO: "bad", UNKNOWN: "warning"}


def view(answer: Flows) -> View:
    """Each pair with its answer; of a single one the operators on the way."""
    about = answer.about
    table = Table(["from", "to", "influence", "largest change", "elements", "ends at", "source"], styles=_TONES)
    table.judged = "influence"
    table.order = ("elements", "largest change", "source…", "ends at")
    for a, b, found in answer.pairs:
        differing, of = found.elements
        end = found.end
        place = next((e.loc for e in ((end,) if end is not None else found.path[:1])), ())
        cells = [a.text, b.text, found.answer, number(found.change) if found.change is not None else NOTHING]
        table.rows.append(
            [*cells, f"{differing} of {of}" if of else NOTHING, end.name if end else NOTHING, source.short(place)]
        )
    blocks: list[str | Table] = [table]
    if len(answer.pairs) == 1:
        blocks += _one(answer.pairs[0][2])
    yes, known = (sum(f.answer in kinds for *_, f in answer.pairs) for kinds in ((YES,), (YES, NO)))
    unknown = len(answer.pairs) - known
    summary = f"{yes} of {count(len(answer.pairs), 'pair')} with influence"
    blocks += ["", summary + (f" · {unknown} not known" if unknown else "")]
    blocks += _not_looked_at(answer)
    next_ = [command_line("gradtool", "check", *about.words, "--select", "GT6")]
    data = {"model": about.name, "mode": about.mode, "pairs": [_data(a.text, b.text, f) for a, b, f in answer.pairs]}
    return View("flow", data, blocks, next_, listing=table, records="pairs")


def _not_looked_at(answer: Flows) -> list[str | Table]:
    """Return what cannot be repeated, each of it once, with the values that were not followed through it."""
    if len(answer.pairs) == 1:  # the answer itself says it
        return []
    starts: dict[str, list[str]] = {}
    for a, _, found in answer.pairs:
        if found.answer == UNKNOWN and found.why:
            starts.setdefault(found.why, []).append(a.text)
    return [f"not looked at: what {', '.join(dict.fromkeys(names))} leads to: {why}" for why, names in starts.items()]


def _one(found: ValueInfluence) -> list[str | Table]:
    """The operators on the way, and what ended it."""
    blocks: list[str | Table] = []
    if found.path:
        way = Table(["through", "source", "code"])
        way.rows = [[e.name, source.short(e.loc), _code(e)] for e in found.path]
        blocks += ["", way]
    if found.end is not None:
        how = "it is not followed beyond" if found.answer == UNKNOWN else "it ends at"
        blocks.append(f"{how} {found.end.name}   {source.short(found.end.loc)}   {_code(found.end)}".rstrip())
    if found.why:
        blocks.append(found.why)
    return blocks


def _code(entry: Entry) -> str:
    return source.text(*entry.loc[0]) if entry.loc else ""


def _data(start: str, end: str, found: ValueInfluence) -> dict[str, Any]:
    return {
        "from": start,
        "to": end,
        "influence": found.answer,
        "change": found.change,
        "differing": found.elements[0],
        "elements": found.elements[1],
        "path": [_operator(e) for e in found.path],
        "end": None if found.end is None else _operator(found.end),
        "why": found.why or None,
    }


def _operator(entry: Entry) -> dict[str, Any]:
    return {"operator": entry.name, "source": source.short(entry.loc) or None}

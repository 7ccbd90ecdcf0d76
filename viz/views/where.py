"""View of operators and where they come from."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count
from gradtool.engine.kinds.operator_places import OperatorSpot
from gradtool.engine.questions.where import Places

from .view import Table, View

_WHOLE = 6
"""Operators that are shown with all that is known; of more than that there is a table."""


def view(answer: Places) -> View:
    """The operators, each with its source, its pair and its operands; many of them as a table."""
    about, spots = answer.about, answer.spots
    data = {"model": about.file, "asked": answer.what, "operators": [s.data() for s in spots]}
    table = Table(
        ["op", "part", "pair", "layer", "source", "code"], order=("code…", "layer", "part", "source…", "pair", "code")
    )
    for s in spots:
        code = source.text(*s.location[0]) if s.location else ""
        table.rows.append([s.name, s.part, s.pair or NOTHING, s.layer or NOTHING, source.short(s.location), code])
    next_ = [command_line("gradtool", "graph", *about.words, "--pairs")]
    if len(spots) > _WHOLE:
        return View("where", data, [count(len(spots), "operator"), table], next_, table, records="operators")
    lines: list[str] = []
    shown = None
    for s in spots:
        lines += [_head(s), *(_source(s) if s.location != shown else ()), *_operands(s), ""]
        shown = s.location
    return View("where", data, ["\n".join(lines[:-1])], next_, table, records="operators")


def _head(spot: OperatorSpot) -> str:
    pair = f"   ↔ {spot.pair}" if spot.pair else ""
    layer = f"   in {spot.layer}" if spot.layer else ""
    inside = f"   inside {' · '.join(spot.inside)}" if spot.inside else ""
    return f"{spot.name}   {spot.part}{pair}{layer}{inside}"


def _source(spot: OperatorSpot) -> Iterator[str]:
    """The lines around the one that made the operator, and who called it."""
    yield from (f"  {line}" for line in spot.excerpt)
    if len(spot.location) > 1:
        yield "  called by"
        yield from (f"    {line.strip()}" for line in spot.stack[:-2])


def _operands(spot: OperatorSpot) -> Iterator[str]:
    for side, operands in (("reads", spot.inputs), ("makes", spot.outputs)):
        for o in operands:
            note = f"  {o.note}" if o.note else ""
            yield f"  {side}  {o.slot:<8} {o.tensor}  {o.spec}{note}"

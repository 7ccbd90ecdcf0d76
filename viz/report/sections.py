"""From answers to a document: the answers of commands, the picture and the source as sections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.source import Location
from gradtool.engine.core.wording import command_line, count, number
from gradtool.engine.kinds import operator_places
from gradtool.engine.kinds.gradients import GradientTable
from gradtool.engine.kinds.operator_places import OperatorSpot, frames, lines_around
from gradtool.engine.questions.over_time import Training
from gradtool.engine.script.users_code import users_own
from gradtool.engine.view.graph import BACKWARD, FORWARD

from ..debugger.cell import Cell
from ..document import session
from ..document.blocks import Block, Commands, Data, Document, Excerpt, Figure, Lines, Prose, Section
from ..table import TextTable as Grid
from ..views import doctor
from ..views.view import Table, View, to_json
from .findings import Findings

MOST_PLACES = 40
"""Lines of source that a report shows; a larger model has more of them than anyone reads."""

KIND = "report"
_MOST_NAMED = 6
_MOST_LISTED = 100
"""Operators of one line that are named in a heading, and in JSON."""

TITLES = {
    "why": ("verdict", "Verdict"),
    "backward": ("gradients", "Parameters and their gradients"),
    "stats": ("sizes", "Sizes of the gradients"),
    "nan": ("nan", "NaN and infinity"),
}
"""Command -> name and title of its section."""


def document(
    findings: Findings,
    words: Sequence[str],
    *,
    title: str = "",
    cells: Iterable[Cell] = (),
    debugged: str = "",
    code: str = "",
    intro: str = "",
) -> Document:
    """The report.

    Args:
        words: those that load the model again.
        cells: of a saved session.
        debugged: the model with the session's options.
        code: the code cell that a notebook begins with; it makes ``report``.
        intro: what stands above it.
    """
    environment = doctor.view()
    places = _places(findings)
    sections = [
        _answer("why", findings),
        _answer("backward", findings),
        _picture(findings, words),
        _answer("stats", findings),
        *_sections_over_time(findings),
        _answer("nan", findings),
        _source(findings, places, words),
    ]
    cells = tuple(cells)
    if cells:
        sections.append(session.section(cells, debugged))
    sections.append(_section("environment", "Environment", _blocks(environment)[:1]))
    data = {"schema": f"gradtool/{KIND}/1", **_data(findings, places, cells, environment)}
    text = json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":")) + "\n"
    sections.append(_section("json", "JSON", [Data(text, f"everything above for programs (gradtool/{KIND}/1)")]))
    return Document(
        title or f"Backward report of {findings.name}", tuple(_facts(findings)), tuple(sections), code, intro, text
    )


def _section(name: str, title: str, blocks: Sequence[Block]) -> Section:
    return Section(name, title, tuple(blocks), f'report["{name}"]')


def _no_finding(findings: Findings) -> str:
    """Return that there is no finding, with the scope where that is not the whole file."""
    return f"no finding {findings.scope.words}" if findings.scope.ended else "no finding"


def _facts(findings: Findings) -> Iterator[tuple[str, str]]:
    yield "model", findings.name
    yield "mode", findings.mode
    if findings.loss:
        yield "loss", findings.loss + _value(findings)
    answer = findings.reports.get("why")
    if answer is not None:
        wrong = answer.data["findings"]
        yield "gradients", count(wrong, "finding") if wrong else findings.scope.qualify_last("no findings")
    story = findings.reports.get("nan")
    if story is not None:
        births = story.data["births"]
        yield "NaN and infinity", count(len(births), "finding") if births else _no_finding(findings)
    training = findings.answers.get("over-time")
    if training is not None:
        yield "over time", count(training.findings, "finding") if training.findings else _no_finding(findings)
    for i, note in enumerate(findings.notes, 1):
        yield f"note {i}" if len(findings.notes) > 1 else "note", note


def _value(findings: Findings) -> str:
    """Return the value of the loss, also where it is not finite; empty where it is not known."""
    table = findings.answers.get("backward")
    value = findings.value
    if value is None and isinstance(table, GradientTable):
        value = table.loss.value
    return "" if value is None else f" = {number(value)}"


# -- answers ----------------------------------------------------------------------------------------------------------


def _answer(kind: str, findings: Findings) -> Section:
    name, title = TITLES[kind]
    answer = findings.reports.get(kind)
    if answer is None:
        return _section(name, title, [Lines(findings.refused.get(kind, _NOT_ASKED))])
    return _section(name, title, _blocks(answer))


_NOT_ASKED = "Not asked: see the verdict."


def _blocks(answer: View) -> list[Block]:
    blocks: list[Block] = []
    for b in answer.blocks:
        if isinstance(b, Table):
            blocks.append(Grid("", b.headings, [list(r) for r in b.rows], b.styles))
        elif b.strip("\n"):
            blocks.append(Lines(b.strip("\n")))
    return [*blocks, Commands(tuple(answer.next))]


def _sections_over_time(findings: Findings) -> Iterator[Section]:
    """The heat map of a training, if the model is one, and its numbers."""
    answer = findings.answers.get("over-time")
    if not isinstance(answer, Training):
        return
    from ..over_time.heat import svg

    first, *others = _blocks(findings.reports["over-time"])
    what = f"{count(len(answer.rows), answer.by)} by {count(len(answer.history.steps), 'step')}"
    figure = Figure(svg(answer), f"{what}: as in the table", caption=f"Norms of gradients: {what}.")
    yield _section("over_time", "Over time", [first, figure, *others])


# -- the picture ------------------------------------------------------------------------------------------------------


def _picture(findings: Findings, words: Sequence[str]) -> Section:
    name, title = "picture", "Picture"
    if findings.view is None:
        return _section(name, title, [Lines(findings.refused.get("backward", _NOT_ASKED))])
    from ..fold import fold
    from ..mirror.layout import mirror
    from ..render import mermaid, svg, text

    view = fold(findings.view, "auto")
    before, after = len(findings.view.drawn()), len(view.drawn())
    whole = command_line("gradtool", "graph", *words, "-o", "graph.html")
    caption = f"{before} nodes, folded into {after}. " if after < before else ""
    chart = "" if mermaid.notes(view) else mermaid.render(view)
    figure = Figure(
        svg.render(mirror(view)),
        text.render(view),
        chart,
        f"{caption}Forward on the left, across from each operator the one that differentiates it.",
    )
    return Section(name, title, (figure, Commands((whole,))), f'report["{name}"]')


# -- source -----------------------------------------------------------------------------------------------------------


def _places(findings: Findings) -> dict[Location, list[OperatorSpot]]:
    """Lines of the user with the operators made there: those that findings are about first, then as they ran."""
    places: dict[Location, list[OperatorSpot]] = {location: [] for location in findings.places if location}
    seen: set[tuple[Location, str]] = set()
    for s in findings.spots:
        if not s.location or (s.location, s.name) in seen or (s.part == BACKWARD and s.pair):
            continue
        seen.add((s.location, s.name))
        if s.part in (FORWARD, BACKWARD):
            places.setdefault(s.location, []).append(s)
        elif s.location in places and s.part == operator_places.NOT_RECORDED:
            places[s.location].append(s)
    return places


def _source(findings: Findings, places: dict[Location, list[OperatorSpot]], words: Sequence[str]) -> Section:
    blocks: list[Block] = []
    for location, made in list(places.items())[:MOST_PLACES]:
        calls = tuple(source.stack(tuple(users_own(location))[1:]))
        line = location[0][1]
        blocks.append(Excerpt(source.short(location), _list_made(made), tuple(lines_around(location)), line, calls))
    left = len(places) - MOST_PLACES
    if left > 0:
        blocks.append(Prose(f"{count(left, 'more line')} made operators; request one of them:"))
        blocks.append(Commands((command_line("gradtool", "graph", "--where", "line:FILE:NUMBER", *words),)))
    if not places:
        blocks.append(Prose("No line is known that made an operator."))
    return _section("source", "Source and call stacks", blocks)


def _list_made(made: Sequence[OperatorSpot]) -> str:
    named = [f"{s.name} ↔ {s.pair}" if s.pair else s.name for s in made]
    more = len(named) - _MOST_NAMED
    return ", ".join(named[:_MOST_NAMED]) + (f", … {more} more" if more > 0 else "")


# -- JSON -------------------------------------------------------------------------------------------------------------


def _data(
    findings: Findings, places: dict[Location, list[OperatorSpot]], cells: Sequence[Cell], environment: View
) -> dict[str, Any]:
    answers = {kind: _schema_data(findings.reports.get(kind)) for kind in TITLES}
    if "over-time" in findings.reports:
        answers["over-time"] = _schema_data(findings.reports["over-time"])
    return {
        "model": findings.name,
        "mode": findings.mode,
        "loss": {"name": findings.loss, "value": findings.value},
        "notes": list(findings.notes),
        "answers": answers,
        "refused": {kind: text for kind, text in findings.refused.items() if text},
        "graph": _graph(findings),
        "source": [_place(location, made) for location, made in list(places.items())[:MOST_PLACES]],
        "source_left_out": max(0, len(places) - MOST_PLACES),
        "session": [_cell(c) for c in cells],
        "environment": _schema_data(environment),
    }


def _schema_data(answer: View | None) -> dict[str, Any] | None:
    """The answer as its command prints it in JSON."""
    findings: dict[str, Any] | None = None if answer is None else json.loads(to_json(answer.data, answer.kind))
    return findings


def _graph(findings: Findings) -> dict[str, int] | None:
    if findings.view is None:
        return None
    operators = [n for n in findings.view.nodes if n.kind == "op"]
    forward = sum(n.part == FORWARD for n in operators)
    return {"forward": forward, "backward": len(operators) - forward, "nodes": len(findings.view.drawn())}


def _place(location: Location, made: Sequence[OperatorSpot]) -> dict[str, Any]:
    return {
        "source": source.short(location).data(),
        "code": source.text(*location[0]),
        "operators": [{"name": s.name, "pair": s.pair or None} for s in made[:_MOST_LISTED]],
        "operators_left_out": max(0, len(made) - _MOST_LISTED),
        "stack": frames(tuple(users_own(location))),
    }


def _cell(c: Cell) -> dict[str, Any]:
    return {"number": c.number, "source": c.source, "text": c.text, "failed": c.failed, "note": c.note}

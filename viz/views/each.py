"""View of the answers about several backward passes of one file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.wording import command_line, count
from gradtool.engine.kinds.passes import LineOfCalls
from gradtool.engine.request.request import Request

from . import calls
from .view import Table, View

_MOST_NEXT = 3
"""Commands that are named in the end; the answers of a file with many losses name more."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The view of the answer about the passes of one line, and how many findings it holds."""

    line: LineOfCalls
    view: View
    findings: int


@dataclass(frozen=True, slots=True)
class PassRefusal:
    """Why there is no answer about the passes of one line."""

    line: LineOfCalls
    said: Sequence[str]


def view(entries: Sequence[Shown | PassRefusal], request: Request) -> View:
    """The answers one after another, each below the line that asked for the passes."""
    blocks: list[str | Table] = []
    for entry in entries:
        blocks.append(view_title(entry.line))
        blocks += [*entry.view.blocks, ""] if isinstance(entry, Shown) else ["\n".join(entry.said), ""]
    shown = [entry for entry in entries if isinstance(entry, Shown)]
    wrong = [entry for entry in shown if entry.findings]
    data = {
        "model": request.model,
        "answers": [_data(entry) for entry in entries],
        "findings": sum(entry.findings for entry in shown),
    }
    first = (wrong or shown)[:_MOST_NEXT]
    listing = command_line("gradtool", "backward", *replace(request, backward=None).words(), "--list")
    next_ = [*dict.fromkeys(command for entry in first for command in entry.view.next[:1]), listing]
    return View("each", data, [*blocks, _summary(entries, wrong)], next_, _join(shown))


def view_title(line: LineOfCalls) -> str:
    """``== backward 1-50 · d_loss · gan.py:43   d_loss.backward()``."""
    called = [f"{line.kind} {calls.numbers(line.numbers)}", line.loss, source.short(line.location)]
    code = f"   {source.text(*line.location[0])}" if line.location else ""
    return f"== {' · '.join(filter(None, called))}{code}"


def _summary(entries: Sequence[Shown | PassRefusal], wrong: Sequence[Shown]) -> str:
    total = sum(len(entry.line.numbers) for entry in entries)
    text = f"{len(entries)} distinct of {count(total, 'backward call')}, of each line the last"
    if not wrong:
        return text
    where = ", ".join(f"number {entry.line.last}" for entry in wrong)
    return f"{text} · {count(sum(entry.findings for entry in wrong), 'finding')}, in {where}"


def _data(entry: Shown | PassRefusal) -> dict[str, Any]:
    answer, error = None, None
    if isinstance(entry, Shown):
        answer = {"schema": f"gradtool/{entry.view.kind}/1", **entry.view.data}
    else:
        error = "\n".join(entry.said)
    return {"call": calls.row(entry.line), "number": entry.line.last, "answer": answer, "error": error}


def _join(shown: Sequence[Shown]) -> Table | None:
    """The tables of all answers as one, with a column that says which pass; None where they do not fit together."""
    tables = [(entry.line, table) for entry in shown for table in _tables(entry.view)]
    if not tables or any(table.headings != tables[0][1].headings for _, table in tables):
        return None
    rows: list[Sequence[str]] = [[str(line.last), *row] for line, table in tables for row in table.rows]
    return replace(tables[0][1], headings=["backward", *tables[0][1].headings], rows=rows, tones={})


def _tables(view: View) -> Iterable[Table]:
    return [view.table] if view.table is not None else [b for b in view.blocks if isinstance(b, Table)]

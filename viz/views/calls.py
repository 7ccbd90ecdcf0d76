"""View of the backward passes that a file requested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, finite, number
from gradtool.engine.kinds.names import line_of
from gradtool.engine.kinds.passes import CallList, LineOfCalls

from .view import Table, View

_ORDER = ("runs", "from", "code…", "times", "source…", "value", "code")
_MOST = 3
"""Numbers of calls that are written out where they are no range."""


def view(answer: CallList) -> View:
    """A row for each line that asks for backward passes."""
    about, lines = answer.about, answer.lines
    static = any(line.runs is not None for line in lines)
    unusual = any(_start(line) for line in lines)
    more = [*(["from"] if unusual else []), *(["runs"] if static else [])]
    table = Table(["number", "call", "loss", "value", "times", *more, "source", "code"], order=_ORDER)
    for line in lines:
        runs = [_start(line) or NOTHING] if unusual else []
        runs += [NOTHING if line.runs is None else str(line.runs)] if static else []
        loss, times = line.loss or NOTHING, str(len(line.numbers))
        table.rows.append(
            [numbers(line.numbers), line.kind, loss, _values(line), times, *runs, _place(line), _code(line)]
        )
    data = {
        "model": about.file,
        "mode": about.mode,
        "calls": [row(line) for line in lines],
        "total": answer.total,
        "asked_about": answer.asked,
        "stopped": None if answer.stopped is None else line_of(answer.stopped),
    }
    return View(
        "calls", data, [table, _summary(answer)] if lines else [_summary(answer)], _next(answer), records="calls"
    )


def numbers(of: Sequence[int]) -> str:
    """``1-50``; ``1, 3, … 99`` where others come between."""
    if len(of) > 1 and of[-1] - of[0] + 1 == len(of):
        return f"{of[0]}-{of[-1]}"
    if len(of) <= _MOST:
        return ", ".join(map(str, of))
    return f"{of[0]}, {of[1]}, … {of[-1]}"


def _values(line: LineOfCalls) -> str:
    """``2.31 → 0.412``: the first and the last."""
    return " → ".join(map(number, line.values)) or NOTHING


def _start(line: LineOfCalls) -> str:
    """``2 roots, gradients given``; empty for one loss with ones."""
    parts = [f"{line.roots} roots"] if line.roots > 1 else []
    parts += ["gradients given"] if line.gradients_given else []
    return ", ".join([*parts, *(["inside of another pass"] if line.nested else [])])


def _place(line: LineOfCalls) -> str:
    return source.short(line.location) or NOTHING


def _code(line: LineOfCalls) -> str:
    return source.text(*line.location[0]) if line.location else ""


def _summary(answer: CallList) -> str:
    if not answer.lines:
        return (
            f"{answer.about.name} asks for no backward pass itself: its loss is looked for among what it leaves behind"
        )
    text = f"{count(answer.total, 'call')} on {count(len(answer.lines), 'line')}"
    if answer.asked is not None:
        text += f" · selected is number {answer.asked}, unless --backward says otherwise"
    return text


def _next(answer: CallList) -> list[str]:
    words, lines = answer.about.words, answer.distinct()
    if not lines:
        return [command_line("gradtool", "backward", *words)]
    other = next((line for line in lines if answer.asked not in line.numbers), lines[0])
    one = command_line("gradtool", "why", *words, "--backward", str(other.last))
    return [one, command_line("gradtool", "why", *words, "--backward", "each")]


def row(line: LineOfCalls) -> dict[str, Any]:
    """A line in JSON's types."""
    return {
        "kind": line.kind,
        "loss": line.loss or None,
        "values": [finite(v) for v in line.values],
        "numbers": line.numbers,
        "times": len(line.numbers),
        "runs": line.runs,
        "source": line_of(line.location),
        "code": _code(line),
        "selectable": line.selectable,
        "roots": line.roots,
        "gradients_given": line.gradients_given,
        "nested": line.nested,
    }

"""Texts of the debugger: operators with their states, the line of source, tensors in a few words."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.engine.answers import magnitudes
from gradtool.engine.answers.numbers import NOT_FINITE, ZERO, Numbers
from gradtool.engine.core import source
from gradtool.engine.core.errors import message
from gradtool.engine.core.rows import RowArray
from gradtool.engine.runs.timeline import NOBODY, Entry

from ..text import cells
from .halt import Halt
from .session import Session

STATES = {
    "✓": "done",
    "▶": "next",
    "·": "pending",
    "●": "a breakpoint stops before it",
    "E": "edited: its results were changed or dropped",
    "~": "stale: depends on an edit and has not run again",
    "✗": "its results are not finite",
    "!": "it failed",
}


def states(session: Session, entries: Sequence[Entry]) -> dict[int, str]:
    """The state letters of entries."""
    edited = session.branch.entries_of_edits()
    broken = [s for s in session.stops if s.kind == "break" and s.enabled]
    failed = session.timeline.failed
    marks = {}
    for e in entries:
        letters = "✓" if e.index < session.cursor else "·"
        if e.index == session.cursor:
            letters = "▶"
        if any(s.matches(e) for s in broken):
            letters += "●"
        if e.index in edited:
            letters += "E"
        if session.branch.is_stale(e):
            letters += "~"
        elif failed is not None and failed[0] == e.index and not session.branch.edits:
            letters += "!"
        elif any(not finite(session.branch.make(n)) for n in e.made if session.branch.is_ready(n)):
            letters += "✗"
        marks[e.index] = letters
    return marks


def finite(value: Any) -> bool:
    """Return whether a value holds no NaN and no infinity."""
    if not (hasattr(value, "dtype") or isinstance(value, RowArray)):
        return True
    array = magnitudes.plain(value)
    return not magnitudes.holds_numbers(array) or bool(np.isfinite(array).all())


def dims(value: Any) -> str:
    """``3×4``; ``[]`` for a scalar."""
    return "×".join(map(str, np.shape(value))) if np.ndim(value) else "[]"


def gap(text: str) -> str:
    """Return the gap between ``Out[3]:`` and *text*: columns begin on their own line, so that they stay columns."""
    first, _, rest = text.partition("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest.split("\n") if line.strip()]
    beside = not indents or first.startswith(("■", "✗")) or (2 <= min(indents) <= 4 and not first.startswith(" "))
    return " " if beside else "\n"


def describe(value: Any) -> str:
    """``3×4  ‖·‖ 0.871``; what is wrong with it first."""
    if value is None:
        return "None"
    if not (hasattr(value, "dtype") or isinstance(value, RowArray)):
        return "frames of a block" if type(value).__name__.endswith("Frames") else type(value).__name__
    array = magnitudes.plain(value)
    if not magnitudes.holds_numbers(array):
        if array.size == 1:
            return f"{dims(value)}  {array.dtype.name}  {array.reshape(-1)[0]}"
        span = f"  {array.min()} … {array.max()}" if array.size and array.dtype.kind in "iu" else ""
        return f"{dims(value)}  {array.dtype.name}{span}"
    wide = magnitudes.wide(array)
    wrong = {k: int(m.sum()) for k, m in magnitudes.masks(array, None, False).items()}
    zeros = int((array == 0).sum())
    if wrong:
        rest = array.size - sum(wrong.values())
        told = "  ".join(f"{k} {n}" for k, n in wrong.items())
        return f"{dims(value)}  {told}  finite {rest}"
    if array.size == 1:
        return f"{dims(value)}  {np.format_float_positional(wide.reshape(-1)[0], 6, fractional=False, trim='-')}"
    norm = float(np.sqrt(np.square(wide).sum()))
    share = f"  zeros {zeros} of {array.size}" if zeros else ""
    return f"{dims(value)}  ‖·‖ {norm:.4g}{share}"


def show_cursor(session: Session) -> str:
    """The next operator with its line of source, what arrives at it and what it makes."""
    entry = session.current
    if entry is None:
        return _show_end(session)
    failed = session.timeline.failed
    if failed is not None and failed[0] == entry.index and not session.branch.edits:
        return show_halt(session, Halt("error", error=failed[1]))
    return "\n".join(_lines(session, entry, session.label(entry)))


def _show_end(session: Session) -> str:
    failed = session.timeline.failed
    if failed is not None and failed[0] >= len(session.timeline.entries):
        return f"■ the run failed here: {_first_line(failed[1])}"
    timeline = session.timeline
    if timeline.begin == len(timeline.entries) and not timeline.results:
        return f"■ {len(timeline.entries)} operators so far · no backward pass yet"
    return f"■ end of the run · {gradients(session)}"


def show_opening(session: Session, halt: Halt | None = None) -> str:
    """Return the text about where a session begins, after the text about the gradients of the whole run."""
    begin = show_cursor(session) if halt is None else show_halt(session, halt)
    whole = session.timeline.results and session.timeline.failed is None and session.current is not None
    return f"{gradients(session)}\n{begin}" if whole else begin


def gradients(session: Session) -> str:
    """``2 of 3 gradients · 1 None (why b says why) · 1 NaN ✗ (…)``: those that the run ends with."""
    results = session.results(session.branch)
    states = {name: Numbers.measure(a).state for name, a in results.items() if a is not None}
    parts = [f"{len(states)} of {len(results)} gradients"]
    whole = session.timeline.failed is None  # of a run that failed, what was yet to come is no finding
    missing = [name for name, a in results.items() if a is None and whole]
    parts += [f"{n} {state} ✗" for state in NOT_FINITE if (n := sum(s == state for s in states.values()))]
    if len(parts) > 1:
        parts[-1] += " (catch nan and rc go back to where that began)"
    zero = [name for name, state in states.items() if state == ZERO]
    for names, state in ((missing, "None"), (zero, "zero")):
        if names:
            # What edits made so, the model knows nothing of.
            told = "" if session.branch.edits or "why" not in session.tools else f" (why {names[0]} says why)"
            parts.append(f"{len(names)} {state}{told}")
    return " · ".join(parts)


def show_halt(session: Session, halt: Halt) -> str:
    """Return where a run stopped, and why."""
    entry = session.current
    if halt.why == "start":
        return "■ start of the run\n" + show_cursor(session)
    if halt.why == "error":
        error = halt.error
        where = f" at ▶ {session.label(entry)}" if entry is not None else ""
        body = _body(session, entry) if entry is not None else ()
        return "\n".join([f"■ error{where}: {_first_line(error)}", *_error_tail(error), *body])
    if entry is None:
        return _show_end(session)
    if halt.why == "done" or halt.stop is None:
        return show_cursor(session)
    name = f"catch {halt.what}" if halt.why == "catch" else f"{halt.why} {halt.stop.number}"
    told = f" · {halt.stop.text}: {halt.what}" if halt.why == "watch" else ""
    inside = born_inside(session, entry) if halt.why == "catch" and entry.region else []
    return "\n".join([f"■ {name} at ▶ {_head(session, entry)}{told}", *inside, *_body(session, entry)])


def born_inside(session: Session, entry: Entry) -> list[str]:
    """Of a branch or a loop, the operator inside it where numbers first went wrong."""
    from . import regions

    first = next(regions.births(regions.rounds(session.branch, entry), entry.origin, entry.name), None)
    if first is None:
        return []
    inner, place = first
    where = source.describe(inner.op.loc)
    return [f"    {inner.born} born inside: {inner.name}, {place}" + (f"   {where}" if where else "")]


def _first_line(error: BaseException | None) -> str:
    return str(error).split("\n")[0] or type(error).__name__


def _error_tail(error: BaseException | None) -> list[str]:
    notes = [line for note in getattr(error, "__notes__", ()) for line in note.split("\n")]
    """The other lines of an error, and those of the stack, which keep their indentation."""
    return [f"  {line.strip()}" for line in (message(error) if error else "None").split("\n")[1:]] + [
        f"  {line.rstrip()}" for line in notes
    ]


def _head(session: Session, entry: Entry) -> str:
    where = source.short(entry.loc)
    return session.label(entry) + (f"   {where}" if where else "")


def _lines(session: Session, entry: Entry, label: str) -> Iterator[str]:
    yield f"▶ {_head(session, entry)}"
    yield from _body(session, entry)


def _body(session: Session, entry: Entry) -> Iterator[str]:
    yield from _source(session, entry)
    story = " · ".join(_story(session, entry))
    if story:
        yield f"    {story}"


def _source(session: Session, entry: Entry | None, around: int = 1) -> list[str]:
    return excerpt(entry, around, partner_name(session, entry)) if entry is not None else []


def partner_name(session: Session, entry: Entry) -> str:
    """The name of the other operator of a pair, or empty."""
    return session.timeline.entries[entry.pair].name if entry.pair != NOBODY else ""


def excerpt(entry: Entry, around: int, pair: str = "") -> list[str]:
    """The lines of source around that of an operator, which is marked and names the pair."""
    place = source.file_and_line(entry.loc)
    if place is None:
        return []
    file, line = place
    numbers = range(max(1, line - around), line + around + 1)
    lines = [(n, linecache.getline(file, n).rstrip()) for n in numbers]
    lines = [(n, text) for n, text in lines if text.strip() or n == line]
    width = len(str(line + around))
    rows = [(n, f"  {'▶' if n == line else ' '} {n:>{width}} │ {text}".rstrip()) for n, text in lines]
    longest = max(cells(row) for _, row in rows)
    mark = f"   ↔ {pair}" if pair else ""
    return [row + (" " * (longest - cells(row)) + mark if n == line and mark else "") for n, row in rows]


def _story(session: Session, entry: Entry) -> Iterator[str]:
    """Yield what an operator makes, then what arrives, then what it reads of the forward part."""
    values, branch = session.timeline.values, session.branch
    failed = session.timeline.failed is not None and session.timeline.failed[0] <= entry.index and not branch.edits
    for _, number in entry.outs:
        if number >= 0 and not failed:
            told = "stale" if branch.is_stale(entry) else _describe_value(session, number)
            yield f"{values[number].name} {told}"
    for slot, number in entry.reads:
        if slot.endswith("@GRAD") and entry.backward:
            yield f"d{slot.removesuffix('@GRAD').lower()} {_describe_value(session, number, entry.index)}"
        elif entry.backward:
            yield f"saved {slot.lower()} {values[number].name} {_describe_value(session, number, entry.index)}"
        else:
            yield f"{slot.lower()} {values[number].name} {_describe_value(session, number, entry.index)}"


def _describe_value(session: Session, number: int, at: int | None = None) -> str:
    try:
        return describe(session.branch.value(number, at))
    except Exception as error:
        return f"cannot be computed: {_first_line(error)}"

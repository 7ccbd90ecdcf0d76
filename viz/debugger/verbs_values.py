"""Verbs that show operators and values."""

from __future__ import annotations

from . import scope, show
from .errors import VerbError
from .notebook import Notebook
from .timeline import Entry
from .verbs import Reply, verb


@verb("list [n]", "l", group="looking")
def list_(book: Notebook, rest: str) -> Reply:
    """The operators around the cursor, n before and after it."""
    if rest and not rest.isdigit():
        raise VerbError(f"expected a number, but got {rest!r}.", hint="list [n]")
    around = int(rest or 5)
    session = book.session
    entries = session.timeline.entries
    shown = entries[max(0, session.cursor - around) : session.cursor + around + 1]
    letters = show.states(session, shown)
    width = max((len(v) for v in letters.values()), default=1)
    rows = [_row(book, e, letters[e.index].ljust(width), len(str(len(entries)))) for e in shown]
    if session.current is None:
        rows.append(show.at_cursor(session))
    return Reply("\n".join(rows))


def _row(book: Notebook, e: Entry, letters: str, digits: int) -> str:
    values = book.session.timeline.values
    made = ", ".join(values[n].name for _, n in e.outs if n >= 0)
    pair = show.paired(book.session, e)
    return f"{letters} %{e.index + 1:<{digits}}  {e.name} → {made}" + (f"  ↔ {pair}" if pair else "")


@verb("p VAR[slice]", group="looking", completes="tensor")
def print_(book: Notebook, rest: str) -> Reply:
    """A tensor in a few words, and its numbers."""
    if not rest:
        raise VerbError("p what?", hint="p h@GRAD · p w[0, :3]")
    name, bracket, index = rest.partition("[")
    session = book.session
    if name in scope.Values(session):
        array = scope.frozen(session.branch.value(session.number(name)))
        if bracket:
            array = scope.evaluate(session, f"v[{name!r}][{index}", session.current)
        return Reply(f"{name} {show.in_words(array)}\n{_numbers(array)}", value=array)
    value = scope.evaluate(session, rest, session.current)
    return Reply(repr(value), value=value)


def _numbers(array: object) -> str:
    import numpy as np

    return np.array2string(np.asarray(array), threshold=60, edgeitems=3, max_line_width=110)

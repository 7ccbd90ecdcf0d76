"""Values that were kept from before a backward call and are read after it: the state of a recurrent graph."""

from __future__ import annotations

import ast
import itertools
from types import CodeType

from ...core.records import dataclass
from ...core.source import Location
from ...eager.journal import Journal
from ...eager.journal_entries import Call
from . import function_text


@dataclass(frozen=True, slots=True)
class CarriedValue:
    """A value that was made before a backward call and read after it.

    Attributes:
        name: what the program calls it; empty where that cannot be read from the text.
        kept: the line that keeps it.
        in_list: whether that line adds it to a list.
        by: the context that keeps it, where no name does.
    """

    name: str
    kept: Location
    in_list: bool = False
    by: str = ""


def find_carried(journal: Journal, loss: int, freed: Location) -> CarriedValue | None:
    """Return what leads from the graph of *loss* into the graph of an earlier backward call, or None.

    Args:
        freed: where the earlier call was made.
    """
    before = _last_pass(journal, loss)
    if not before:
        return None
    behind: set[int | None] = {loss}
    maker = {w: c for c in journal.calls for w in c.writes if c.key is not None}
    ways = []
    for call in reversed(journal.calls):
        if call.key is None or behind.isdisjoint(call.writes):
            continue
        behind.update(call.reads)
        if call.time > before:
            kept = [(v, maker[v]) for v in call.reads if v in maker and maker[v].time < before]
            for v, made in kept:
                by = keeper(journal, v, before)
                if by:
                    return CarriedValue("", made.loc, by=by)
            ways += [(made, call) for _, made in kept]
    told = [_name_holder(made, read, freed) for made, read in ways]
    return next((way for way in told if way.name), told[0] if told else None)


def is_made_again(journal: Journal, loss: int, kept: CarriedValue) -> bool:
    """Return whether the line that made a value ran again after the backward call before that of *loss*: in a loop."""
    before = _last_pass(journal, loss)
    return any(call.time > before and call.loc[-len(kept.kept) :] == kept.kept for call in journal.calls)


def keeper(journal: Journal, value: int, since: int = 0) -> str:
    """Return the context that handed out *value* again after the time *since*; empty if none did."""
    entries = journal.events.get(value, ())
    return next((e.how for e in entries if e.kind == "reused" and e.time > since), "")


def is_same(journal: Journal, loss: int) -> bool:
    """Return whether the last backward call that added to gradients began at *loss*, too."""
    return any(e.into == loss for events in journal.events.values() for e in events if e.kind == "added")


def _last_pass(journal: Journal, loss: int) -> int:
    """Return when the last backward call before that of *loss* added to gradients; 0 if there was none."""
    events = (e for entries in journal.events.values() for e in entries)
    return max((e.time for e in events if e.kind == "added" and e.into != loss), default=0)


def _name_holder(made: Call, reader: Call, freed: Location) -> CarriedValue:
    """Return what the outermost function calls it in which *made* gives it a name and *reader* reads that name.

    The functions around the loop are looked at last: their lines ran once.
    """
    readers = dict(reader.loc)
    around = _common(made.loc, reader.loc, freed)
    inner = [i for i in reversed(range(len(made.loc) - around)) if made.loc[i][0] in readers]
    for i in [*inner, *([len(made.loc) - around] if around else [])]:
        code, line = made.loc[i]
        told = _is_in_function(code, line, readers[code], made.loc[i:])
        if told is not None:
            return told
    return CarriedValue("", made.loc)


def _common(*stacks: Location) -> int:
    """Return how many of the outermost frames *stacks* have in common."""
    steps = zip(*map(reversed, stacks), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda frames: len(set(frames)) == 1, steps))


def _is_in_function(code: CodeType, made: int, read: int, at: Location) -> CarriedValue | None:
    whole = function_text.body(code)
    if whole is None:
        return None
    maker, reader = function_text.statement(whole, made), function_text.statement(whole, read)
    if maker is None or reader is None:
        return None
    names, wanted = function_text.find_names(maker), function_text.read(reader)
    for name in sorted(names & wanted):
        return CarriedValue(name, at)
    for statement in function_text.statements(whole):
        if isinstance(statement, (ast.Expr, ast.Assign)) and not names.isdisjoint(function_text.read(statement.value)):
            for name in sorted(function_text.find_names(statement) & wanted):
                return CarriedValue(name, ((code, statement.lineno), *at[1:]), isinstance(statement, ast.Expr))
    return None

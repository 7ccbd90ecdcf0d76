"""Results that the user's code drops, of calls on values that a loss is computed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...core.source import Location
from ...eager.journal import Call
from .of_journal import JournalReasons


@dataclass(frozen=True, slots=True)
class DroppedResult:
    """A result that nothing reads, of a statement that is a call alone.

    Attributes:
        operator: that made it.
        name: what people call the value that it was computed from, or the operator that made that.
        location: the user's line.
    """

    operator: str
    name: str
    location: Location


def find_dropped(reasons: JournalReasons) -> Iterator[DroppedResult]:
    """Yield the results that nobody keeps, of values that the loss reads on without them, once for each line.

    A call on data at the outermost level is a look at something, or a warm-up. What is computed under ``no_grad``, or
    without a gradient, often is one, too. Of a network whose hooks keep what is inside, the end is dropped on purpose.
    """
    flow, seen = reasons.flow, set[Location]()
    dropped = flow.journal.dropped
    calls = [call for call in flow.calls if call.time in dropped]
    read = {value for call in flow.calls for value in call.reads} if calls else set[int | None]()
    for call in calls:
        location = dropped[call.time]
        if location in seen or not read.isdisjoint(call.writes):
            continue
        source = _find_source(reasons, call, location)
        if source is not None and not _leaves(reasons, call):
            seen.add(location)
            yield DroppedResult(call.type, flow.name(source), location)


def _leaves(reasons: JournalReasons, call: Call) -> bool:
    """Return whether a result of a call went to Python as plain values."""
    events = reasons.flow.journal.events
    return any(e.kind == "left" for w in call.writes for e in events.get(w, ()))


_FAR: Final = 400
"""Values that are looked at for one result."""


def _find_source(reasons: JournalReasons, dropped: Call, location: Location) -> int | None:
    """Return the value that a dropped result comes of and that the loss is computed from; None where it is none."""
    todo, seen = [v for v in dropped.reads if v is not None], set[int]()
    while todo and len(seen) < _FAR:
        value = todo.pop()
        maker = reasons.flow.maker.get(value)
        if value in seen:
            continue
        seen.add(value)
        if value not in reasons.depends:
            todo += [] if maker is None else [v for v in maker.reads if v is not None]
        elif _was_there(reasons, value, dropped, location):
            return value
    return None


def _was_there(reasons: JournalReasons, value: int, dropped: Call, location: Location) -> bool:
    """Return whether a model computed a value, or was given it, before the line that drops a result of it."""
    maker = reasons.flow.maker.get(value)
    if maker is None or maker.key is None:
        named = reasons.flow.names.get(value)
        is_parameter = named is not None and bool(getattr(named.tensor, "is_parameter", False))
        return not is_parameter and location[0][0].co_name == "forward"
    if dropped.loc[:1] == location[:1]:
        return maker.loc[:1] != location[:1]
    return bool(maker.loc) and maker.loc[0][0] is location[0][0]

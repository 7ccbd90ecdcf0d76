"""Results that the user's code drops, of calls on values that a loss is computed from."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Final

from ...autodiff.values import Value, variable_of
from ...core.records import dataclass
from ...core.source import Location
from ...eager.journal_entries import Call
from ...ir.operator import Operator
from ...ir.variable import Variable
from . import function_text
from .of_journal import JournalFlow, JournalReasons


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
    dropped, seen = reasons.flow.journal.dropped, set[Location]()
    for call in _unread_calls(reasons.flow):
        location = dropped[call.time]
        if location in seen or _writes_in_place(location):
            continue
        source = _find_source(reasons, call, location)
        if source is not None and not _leaves(reasons, call):
            seen.add(location)
            yield DroppedResult(call.type, _name(reasons, source), location)


def _unread_calls(flow: JournalFlow) -> list[Call]:
    """Return the calls whose results a line drops and no operator reads."""
    dropped = flow.journal.dropped
    calls = [call for call in flow.calls if call.time in dropped]
    read = {value for call in flow.calls for value in call.reads} if calls else set[int | None]()
    return [call for call in calls if read.isdisjoint(call.writes)]


_EFFECTS: Final = frozenset(("print", "py_func", "assert", "increment", "write_to_array", "feed", "fetch", "auc"))
"""Operators that are called for something other than their results."""


def find_dropped_in_program(
    ops: Sequence[Operator], depends: Collection[Value | None], shown: Callable[[Variable], str]
) -> Iterator[DroppedResult]:
    """Yield the results that the statements which build a program drop, of values that the loss reads on without them.

    Args:
        ops: of the block.
        depends: what the loss is computed from.
        shown: what people call a variable.
    """
    dropped = list(filter(_is_dropped, ops))
    # All operators count as readers, also those of the backward part and of blocks.
    read = set(chain.from_iterable(op.input_variables() for op in ops)) if dropped else set[Variable]()
    needed = {variable_of(value) for value in depends if value is not None}
    seen = set[Location]()
    for op in dropped:
        location, is_kept = op.marks.dropped, any(v in read or v.persistable for v in op.output_variables())
        source = None if is_kept or location in seen else _find_source_in_program(op, needed)
        if source is not None:
            seen.add(location)
            yield DroppedResult(op.type, shown(source), location)


def _is_dropped(op: Operator) -> bool:
    return bool(op.marks.dropped) and op.type not in _EFFECTS


def _find_source_in_program(dropped: Operator, needed: Collection[Variable]) -> Variable | None:
    """Return the result of an operator that a dropped one comes of and that the loss is computed from."""
    todo, seen = list(dropped.input_variables()), set[Variable]()
    while todo and len(seen) < _FAR:
        v = todo.pop()
        if v in seen or v.op is None:
            continue
        seen.add(v)
        if v not in needed:
            todo += v.op.input_variables()
        elif v.op.marks.loc != dropped.marks.dropped:
            return v
    return None


def _name(reasons: JournalReasons, value: int) -> str:
    """Return what people call a value, or what gave it."""
    flow = reasons.flow
    is_input = value not in flow.maker and value not in flow.names
    return "what it was given" if is_input else flow.name(value)


def _writes_in_place(location: Location) -> bool:
    """Return whether the statement is a method such as ``h.mul_(2)``; what it copies for that is dropped by nobody."""
    code, line = location[0]
    whole = function_text.body(code)
    statement = None if whole is None else function_text.statement(whole, line)
    call = statement.value if isinstance(statement, ast.Expr) else None
    # Frameworks copy what such a method writes before they write it, and nobody reads that copy.
    method = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    return method.endswith("_") and not method.endswith("__")


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

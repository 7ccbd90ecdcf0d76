"""Calls of dynamic mode next to a recorded graph: those that a pass lost, out of all that a program computed.

A journal holds every call of a program, those of fifty other steps of training as well. What belongs to one backward
pass was computed before its beginning, and after the pass of the step before: the last one that the same line began.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Set

from ..eager.journal import Journal
from ..eager.journal_entries import Call, Unrecorded

MOST = 20_000
"""Calls that are shown beside a graph; of more, those nearest to the loss."""


def find_detached_calls(
    journal: Journal, loss: int, behind: Set[int], depends: Set[int | None], trained: Iterable[int], lost: Iterable[int]
) -> list[Call]:
    """The calls that compute with what can be trained and through which no gradient comes, oldest first.

    What the loss depends on all the same is among them (it was detached, or computed under ``no_grad``), and what it
    does not depend on, unless another backward pass starts from it. Of this, what was computed under ``no_grad``, what
    only looks at results (an accuracy), and what was over before the first call behind the loss and computes with the
    same parameters (an evaluation after the step before) is left out.

    Args:
        loss: its number.
        behind: keys of the recorded calls behind the loss.
        depends: the numbers of the values that it depends on.
        trained: the numbers of parameters and other leaves that take gradients.
        lost: of those, and of frozen parameters, the numbers of those that get no gradient.
    """
    calls = _calls_of_pass(journal, loss)
    elsewhere = _ancestors_of_others(journal, loss, calls)
    first = next((call.time for call in calls if call.key in behind), math.inf)
    without = {*lost}
    alone = without - {number for call in calls if call.time >= first for number in call.reads}
    carried = {*trained, *without}
    chosen = []
    for call in calls:
        if carried.isdisjoint(call.reads):
            continue
        carried.update(call.writes)
        for values in (without, alone):
            if not values.isdisjoint(call.reads):
                values.update(call.writes)
        if call.key in behind:
            continue
        is_near = call.time > first or not alone.isdisjoint(call.writes)
        if not depends.isdisjoint(call.writes) or (is_near and _is_shown(call, elsewhere, without)):
            chosen.append(call)
    return chosen[-MOST:]


def _is_shown(call: Call, elsewhere: Set[int | None], without: Set[int]) -> bool:
    """Return whether a call that the loss does not depend on is part of what the pass could have trained."""
    if not elsewhere.isdisjoint(call.writes):
        return False
    if call.unrecorded is Unrecorded.NO_GRAD:
        return False
    return call.key is not None or not without.isdisjoint(call.writes)


def _calls_of_pass(journal: Journal, loss: int) -> list[Call]:
    """The calls since the step before that of *loss*, up to the backward pass that starts from it."""
    made = next((call.time for call in reversed(journal.calls) if loss in call.writes), loss)
    added = [event for events in journal.events.values() for event in events if event.kind == "added"]
    own = [event for event in added if event.into == loss]
    lines = {event.site for event in own}
    end = min((event.time for event in own), default=math.inf)
    before = (event.time for event in added if event.time < made and (not lines or event.site in lines))
    start = max(before, default=0)
    return [call for call in journal.calls if start < call.time < end]


def _ancestors_of_others(journal: Journal, loss: int, calls: Collection[Call]) -> set[int | None]:
    """The numbers of what other backward passes start from, and of all that it was computed from in these *calls*."""
    added = (event for events in journal.events.values() for event in events if event.kind == "added")
    values: set[int | None] = {event.into for event in added} - {loss, None}
    for call in reversed([*calls]):
        if not values.isdisjoint(call.writes):
            values.update(call.reads)
    return values - {None}

"""Gradients that a loss is computed from as if they could be differentiated, and that were taken as constants.

``paddle.grad(y, x)`` without ``create_graph=True`` gives plain numbers. A penalty on them adds a constant to the loss,
and trains nothing. Many programs want just that: an example is moved along its gradient, parameters are, losses are
weighted by norms of gradients. Here is what tells them from a penalty: the numbers, or what is computed from nothing
but them, are added to something that parameters are trained by, and no parameter is read with them on the way.
"""

from __future__ import annotations

from collections.abc import Collection

from ...eager.journal_entries import Call, Unrecorded
from .of_journal import JournalReasons

_ADDING = frozenset({"elementwise_add", "elementwise_sub"})
_ELEMENTWISE = ("elementwise_", "scale", "square", "concat", "stack")


def find_misused(reasons: JournalReasons, parameters: Collection[int]) -> list[Call]:
    """The calls of ``paddle.grad`` without a graph whose result stands in the loss like a penalty.

    Args:
        parameters: the numbers of the parameters.
    """
    calls = reasons.flow.calls
    taken = [
        c
        for c in calls
        if c.type == "grad" and c.unrecorded is Unrecorded.COPIED and not reasons.depends.isdisjoint(c.writes)
    ]
    return [c for c in taken if _is_trained(reasons, c) and _is_penalty(reasons, c, parameters)] if taken else []


def find_calls_behind(reasons: JournalReasons, calls: Collection[Call]) -> dict[int, Call]:
    """By number of a value that what is differentiated in *calls* was computed from, the last one of these."""
    found: dict[int, Call] = {}
    chosen = {c.time for c in calls}
    for call in reversed(reasons.flow.calls) if calls else ():
        of = call if call.time in chosen else next((found[w] for w in call.writes if w in found), None)
        if of is not None:
            for v in call.reads:
                if v is not None:
                    found.setdefault(v, of)
    return found


def _is_trained(reasons: JournalReasons, call: Call) -> bool:
    """Return whether what was differentiated depends on something that the loss gives a gradient to."""
    sources = find_calls_behind(reasons, [call])
    return any(v in reasons.reached for v in sources) or any(v in reasons.reached for v in call.reads if v is not None)


def _is_penalty(reasons: JournalReasons, call: Call, parameters: Collection[int]) -> bool:
    after = set(call.writes)
    added = False
    for use in reasons.flow.calls:
        if use.time <= call.time or reasons.depends.isdisjoint(use.writes) or after.isdisjoint(use.reads):
            continue
        if use.unrecorded in (Unrecorded.COPIED, Unrecorded.NO_GRAD):
            continue  # somebody says that it is a constant
        read = [v for v in use.reads if v is not None]
        if any(v in parameters for v in read) or (_is_layer(use) and any(_is_weight(reasons, v) for v in read)):
            return False
        plain = any(v in after and v not in reasons.reached for v in read)
        summed = use.type in _ADDING and plain and any(v in reasons.reached for v in read)
        added = added or (summed and any(w in reasons.reached for w in use.writes))
        after.update(use.writes)
    return added


def _is_layer(use: Call) -> bool:
    return not use.type.startswith(_ELEMENTWISE)


def _is_weight(reasons: JournalReasons, value: int) -> bool:
    """Return whether a value is a leaf that is trained."""
    return value in reasons.reached and value not in reasons.flow.maker

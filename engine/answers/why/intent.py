"""Whether someone wanted a parameter to get no gradient at the backward call that is asked about.

Nothing is known of motives. What is known is what else the program does with the parameter: that another backward call
gives it a gradient, that no optimizer holds it although there is one, or that a layer holds another one in its place.
"""

from __future__ import annotations

from dataclasses import replace

from ...core import source
from ...core.source import Location
from ...eager.journal import Event
from .answers import Answer
from .case import Subject
from .of_journal import JournalFlow
from .verdicts import Verdict

_CUTS = (Verdict.DETACHED, Verdict.NO_GRAD, Verdict.STOP_GRADIENT, Verdict.NON_DIFFERENTIABLE, Verdict.INTEGER)
_APART = (Verdict.UNUSED, Verdict.NO_PATH)
_SETTINGS = {"stop_gradient": "stop_gradient=True", "trainable": "trainable=False"}


def intended(flow: JournalFlow, loss: int, subject: Subject[int], answer: Answer) -> Answer:
    """*answer*, which is no finding if the program shows that the missing gradient is meant.

    Args:
        loss: the number of the loss of the backward call that is asked about.
    """
    if not subject.is_parameter:
        return answer
    if answer.verdict is Verdict.FROZEN:
        return _frozen(flow, loss, subject, answer)
    if answer.verdict not in (*_CUTS, *_APART):
        return answer
    replaced = _replaced(flow, subject.value)
    if replaced is not None and answer.verdict in _APART:
        return replace(answer, finding=False, said=(replaced,), advice="")
    other = _other_pass(flow, loss, subject.value)
    if other is not None:
        said = f"another backward call gives it a gradient: {source.short(other)}"
        return replace(answer, finding=False, said=(*answer.said, said), advice="")
    listings = flow.journal.listings
    if listings and answer.verdict in (Verdict.DETACHED, Verdict.NO_GRAD) and not _is_listed(flow, subject.value):
        return replace(answer, finding=False, said=(*answer.said, "no optimizer holds it"), advice="")
    return answer


def _frozen(flow: JournalFlow, loss: int, subject: Subject[int], answer: Answer) -> Answer:
    """What froze a parameter; a finding where it had gradients before and its optimizer goes on as if it still did."""
    value = subject.value
    stops = [e for e in flow.journal.events.get(value, ()) if e.kind == "stopped"]
    if not stops:
        return replace(answer, label="frozen: made with stop_gradient=True")
    last = stops[-1]
    label = f"frozen: {_SETTINGS[last.how]}, set at {source.short(last.loc)}"
    before = [e for e in added_to(flow, value) if e.time < last.time]
    lists = [x for x in flow.journal.listings if value in x.leaves]
    if not before or not lists or _other_pass(flow, loss, value) is not None or _relisted(flow, value, last.time):
        return replace(answer, label=label)
    passes = "the first backward pass" if len(before) == 1 else f"the first {len(before)} backward passes"
    return replace(
        answer,
        verdict=Verdict.STOP_GRADIENT,
        label=Verdict.STOP_GRADIENT.value,
        finding=True,
        said=(f"{passes} gave it a gradient, then {_SETTINGS[last.how]} was set; its optimizer still holds it",),
        places=(("its optimizer", lists[-1].loc),),
        advice="set stop_gradient=False again, or make an optimizer without it",
    )


def _relisted(flow: JournalFlow, value: int, time: int) -> bool:
    """Whether an optimizer was made after *time* that leaves the parameter out."""
    return any(x.time > time and value not in x.leaves for x in flow.journal.listings)


def _is_listed(flow: JournalFlow, value: int) -> bool:
    return any(value in listing.leaves for listing in flow.journal.listings)


def _replaced(flow: JournalFlow, value: int) -> str | None:
    """What is said of a parameter that a layer held once, and holds no longer."""
    replacement = flow.journal.replacements.get(value)
    if replacement is None:
        return None
    at = source.short(replacement.loc)
    if replacement.after is None:
        return f"its layer let go of it: {at}"
    return f"{flow.name(replacement.after)} took its place: {at}"


def _other_pass(flow: JournalFlow, loss: int, value: int) -> Location | None:
    """Where another backward call than that of *loss* gave *value* a gradient.

    Another one stands on another line, or starts from a loss that another line made.
    """
    added = added_to(flow, value)
    asked = flow.backward_at.get(loss, ())
    for event in reversed(added):
        if event.into is None or event.into not in flow.maker or loss not in flow.maker:
            continue
        at: Location = event.loc
        if (asked and at not in asked) or flow.made_at(event.into) != flow.made_at(loss):
            return at
    return None


def added_to(flow: JournalFlow, value: int) -> list[Event]:
    """The gradients that *value* got."""
    return [e for e in flow.journal.events.get(value, ()) if e.kind == "added"]

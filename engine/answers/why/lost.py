"""Uses of a tensor that a loss is computed from and that give it no gradient, while others do."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ...core.source import Location
from ...eager.journal import Call
from .answers import Answer
from .of_journal import JournalReasons
from .reasons import Reason
from .verdicts import Verdict


class LostUses:
    """The uses of the tensors behind a loss.

    Args:
        loss: its number.
    """

    def __init__(self, reasons: JournalReasons, loss: int) -> None:
        self._reasons = reasons
        self._loss = loss

    def note(self, answer: Answer, value: int) -> Answer:
        """*answer* about a tensor that gets a gradient, with what it would get more; many do without it on purpose."""
        since = self._since(value)
        uses = [call for call in self._uses.get(value, ()) if call.time > since]
        lost = {call.time: reason for call in uses if (reason := self._lost(call)) is not None}
        if not lost or len(lost) == len(uses):
            return answer
        verdicts = dict.fromkeys(reason.verdict.value for reason in lost.values())
        places: dict[Location, str] = {r.location: r.verdict.value for r in lost.values()}
        return replace(
            answer,
            label=f"{len(lost)} of {len(uses)} uses {' or '.join(verdicts)}",
            location=next(iter(places)),
            places=tuple((verdict, at) for at, verdict in list(places.items())[1:]),
            said=(*answer.said, "its gradient comes from the other uses alone"),
        )

    @cached_property
    def _uses(self) -> dict[int, list[Call]]:
        """The calls that read a value on the way to the loss, by value."""
        uses: dict[int, list[Call]] = {}
        depends = self._reasons.depends
        for call in self._reasons.flow.calls:
            if depends.isdisjoint(call.writes):
                continue
            for value in dict.fromkeys(call.reads):
                if value is not None:
                    uses.setdefault(value, []).append(call)
        return uses

    def _since(self, value: int) -> int:
        """When *value* got its last gradient of an earlier pass: what was computed before is another step's."""
        maker = self._reasons.flow.maker.get(self._loss)
        until = maker.time if maker is not None else self._loss
        events = self._reasons.flow.journal.events.get(value, ())
        return max((e.time for e in events if e.kind == "added" and e.time < until), default=0)

    def _lost(self, call: Call) -> Reason[int, Call] | None:
        """Why no gradient comes back through *call*; None where one does."""
        reasons = self._reasons
        if not reasons.reached.isdisjoint(call.writes):
            return None
        cut = next((reasons.cuts[w] for w in call.writes if w in reasons.cuts), None)
        if cut is None or cut.verdict not in _TAKEN_OUT:
            return None
        return Reason(cut.verdict, call.writes[0], reasons.flow, cut)


_TAKEN_OUT = (Verdict.DETACHED, Verdict.NO_GRAD, Verdict.STOP_GRADIENT)
"""What a program does to a use, rather than what an operator is."""

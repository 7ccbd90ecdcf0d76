"""Uses that a loss is computed from and that give no gradient back, of values that get one from other uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Generic

from ...core import source
from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import Location
from .answers import Answer, GradientShare
from .reasons import C, Cut, Reason, Reasons, V, same
from .verdicts import Aspect, Verdict


@dataclass(frozen=True, slots=True)
class LostGradient(Generic[V, C]):
    """The uses of a value that give no gradient back.

    Attributes:
        value: the value; that of the tensor in question, or one that is computed from it.
        uses: how many uses of it the loss is computed from.
        lost: the calls through which no gradient comes back, and why, in their order.
    """

    value: V
    uses: int
    lost: tuple[tuple[C, Reason[V, C]], ...]


@dataclass(frozen=True, slots=True)
class LostUse:
    """A use of a value that gives no gradient back, of a value that gets one from other uses.

    Attributes:
        name: what people call the value, or the operator that made it.
        verdict: what became of the gradient.
        location: the user's line that cuts it off.
        lost, uses: how many of how many uses are lost; 0 where the others were not counted.
    """

    name: str
    verdict: Verdict
    location: Location
    lost: int = 0
    uses: int = 0


class LostUses(Generic[V, C]):
    """The uses of the values behind a loss.

    Args:
        counts: whether a call is a use of a value in the step that is asked about.
    """

    def __init__(self, reasons: Reasons[V, C], counts: Callable[[V, C], bool] = lambda value, call: True) -> None:
        self._reasons = reasons
        self._counts = counts

    def note(self, answer: Answer, value: V) -> Answer:
        """*answer* about a tensor that gets a gradient, with what it would get more; many do without it on purpose."""
        loss = self.find(value)
        if loss is None:
            return answer
        verdicts = dict.fromkeys(reason.verdict.text for _, reason in loss.lost)
        places: dict[Location, str] = {r.location: r.verdict.text for _, r in loss.lost}
        return replace(
            answer,
            label=f"{self._share(loss, value)} {' or '.join(verdicts)}",
            location=next(iter(places)),
            places=tuple((verdict, at) for at, verdict in list(places.items())[1:]),
            said=(*answer.said, "its gradient comes only from the other uses"),
        )

    def brief(self, value: V) -> tuple[str, Location] | None:
        """``1 of 2 uses detached, model.py:13`` and that line; None where nothing is lost."""
        loss = self.find(value)
        if loss is None:
            return None
        _, reason = loss.lost[0]
        place = source.short(reason.location)
        return f"{self._share(loss, value)} {reason.verdict.text}{f', {place}' if place else ''}", reason.location

    def parts(self, value: V, call_names: Callable[[list[C]], dict[int, str]]) -> tuple[GradientShare, ...]:
        """The lost uses of the tensor itself, beside what its other uses add."""
        loss = self._losses.get(value)
        if loss is None:
            return ()
        names = call_names([call for call, _ in loss.lost])
        flow = self._reasons.flow
        return tuple(
            GradientShare(names[identity(call)], source.short(flow.call_line(call)), None, None, reason.verdict.text)
            for call, reason in loss.lost
        )

    def every(self, is_meant: Callable[[Cut[V, C]], bool]) -> list[LostUse]:
        """Return the lost uses of all values, one for each line that cuts some off.

        Args:
            is_meant: whether a cut says itself that it is meant.
        """
        by_line: dict[Location, LostUse] = {}
        for value, loss in self._losses.items():
            for _, reason in loss.lost:
                if reason.location and not (reason.cut is not None and is_meant(reason.cut)):
                    name = self._reasons.flow.name(value)
                    use = LostUse(name, reason.verdict, reason.location, len(loss.lost), loss.uses)
                    by_line.setdefault(reason.location, use)
        return list(by_line.values())

    def find(self, value: V) -> LostGradient[V, C] | None:
        """Return what *value* lost, or the first thing on the way of its gradients that lost something."""
        nearest = self._nearest.get(value)
        return None if nearest is None else self._losses[nearest]

    def _share(self, loss: LostGradient[V, C], value: V) -> str:
        of = "" if same(loss.value, value) else f" of {self._reasons.flow.name(loss.value)}"
        return f"{len(loss.lost)} of {loss.uses} uses{of}"

    @cached_property
    def _losses(self) -> dict[V, LostGradient[V, C]]:
        """Return what was lost, by the value that gets a gradient all the same."""
        reasons = self._reasons
        uses: dict[V, list[tuple[C, Reason[V, C] | None]]] = {}
        for call, read, written in reasons.flow.links():
            if reasons.depends.isdisjoint(written):
                continue
            entries = [(call, self._find_loss(call, results)) for results in self._results(written)]
            for value in self._values(call, read):
                uses.setdefault(value, []).extend(entries)
        losses = {}
        for value, entries in uses.items():
            lost = tuple((call, reason) for call, reason in reversed(entries) if reason is not None)
            if lost and len(lost) < len(entries):
                losses[value] = LostGradient(value, len(entries), lost)
        return losses

    def _values(self, call: C, read: Sequence[V | None]) -> Iterator[V]:
        """Yield the values that get a gradient and of which a call is a use, each once."""
        for value in dict.fromkeys(read):
            if value is not None and value in self._reasons.reached and self._counts(value, call):
                yield value

    def _results(self, written: Sequence[V]) -> Iterator[Sequence[V]]:
        """Yield the results of a call that the loss reads: each part of several, as of a split, for itself."""
        reasons = self._reasons
        used = [w for w in written if w in reasons.depends]
        if len(used) > 1 and not reasons.reached.isdisjoint(used):
            yield from ([w] for w in used)
        else:
            yield written

    @cached_property
    def _nearest(self) -> dict[V, V]:
        """By value, the first one on the way of its gradients that lost something: itself, if it did."""
        losses, reached = self._losses, self._reasons.reached
        nearest: dict[V, V] = {value: value for value in losses}
        if not nearest:
            return nearest
        for _, read, written in self._reasons.flow.links():
            onto = next((nearest[w] for w in written if w in nearest and w in reached), None)
            if onto is None:
                continue
            for value in read:
                if value is not None and value in reached and value not in losses:
                    nearest[value] = onto
        return nearest

    def _find_loss(self, call: C, written: Sequence[V]) -> Reason[V, C] | None:
        """Why no gradient comes back through *call*; None where one does."""
        reasons = self._reasons
        if not reasons.reached.isdisjoint(written):
            return None
        cut = next((reasons.cuts[w] for w in written if w in reasons.cuts), None)
        if cut is None or not cut.verdict.has(Aspect.BY_PROGRAM):
            return None
        return Reason(cut.verdict, written[0], reasons.flow, cut)

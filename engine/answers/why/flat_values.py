"""Values that operators give zeros alone, though gradients arrive at these, and the parameters behind learn otherwise.

A dead relu in one branch, a sign of the scores, a clip that holds everything at its limit: what stands before gets
nothing by this way. Where the parameters get nothing at all, they have answers of their own; here are the others.

Of zeros that the values of one step make, those are left out that another step may not have: a hinge that is fulfilled,
a ratio that is clipped. What counts is a constant by itself, or one that no value near it would change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic

from ...core.records import dataclass
from ...core.source import Location
from .reasons import C, Reasons, V
from .slopes import Slopes, Use
from .verdicts import Aspect, Verdict
from .zeros import Killer


@dataclass(frozen=True, slots=True)
class FlatValue:
    """A value that gets zeros alone.

    Attributes:
        name: what people call it, or the operator that made it.
        verdict, label, said, advice: of the operator that gives the zeros.
        location: the line of that operator.
        elements: how many it has.
        is_rounded: whether what it gets are no zeros, but whole numbers that something else was rounded to.
    """

    name: str
    verdict: Verdict
    label: str
    said: str
    advice: str
    location: Location
    elements: int
    is_rounded: bool = False

    @property
    def message(self) -> str:
        """The finding in one sentence."""
        return f"all that gradients give back to {self.name} is {'rounded' if self.is_rounded else '0'}: {self.label}"

    @property
    def explanation(self) -> tuple[str, ...]:
        """Sentences that say more."""
        return (self.said,) if self.is_rounded else (self.said, "what it is computed from learns by other ways alone")

    @property
    def explains_zeros(self) -> bool:
        """True where the operator gives zeros whatever arrives, so that no other cause at its line comes first."""
        return self.verdict.has(Aspect.FLAT_BY_KIND)


class FlatValues(Generic[V, C]):
    """The flat values of one backward pass.

    Args:
        reasons, slopes: of the pass.
        trained: the values of the parameters that get gradients other than zeros.
    """

    def __init__(self, reasons: Reasons[V, C], slopes: Slopes[V, C], trained: Collection[V]) -> None:
        self._reasons = reasons
        self._slopes = slopes
        self._trained = trained

    def find(self) -> list[FlatValue]:
        """Return the flat values, one for each line, in the order of the pass."""
        found: dict[Location, FlatValue] = {}
        uses = list(self._flat_uses())
        # Mostly there is none, and then nobody needs to know what is computed from parameters.
        held = self._values_behind_trained() if uses else set[V]()
        for value, use in uses:
            if value in held and value not in self._trained:
                flat = self._describe(value, use)
                found.setdefault(flat.location, flat)
        return list(found.values())

    def _flat_uses(self) -> Iterator[tuple[V, Use[V, C]]]:
        """Yield the values of which no use gives a gradient, each with the use that makes it zero for certain."""
        for value, uses in self._slopes.uses.items():
            cause = next((u for u in uses if _certain_killer(u) is not None), None)
            if cause is not None and all(u.dead or u is cause for u in uses):
                yield value, cause

    def _values_behind_trained(self) -> set[V]:
        """Return the trained parameters and all that is computed from them."""
        held = set(self._trained)
        for _, read, written in reversed(list(self._reasons.flow.links())):
            if not held.isdisjoint(read):
                held.update(written)
        return held

    def _describe(self, value: V, use: Use[V, C]) -> FlatValue:
        flow, killer, level = self._reasons.flow, _certain_killer(use), use.level
        assert killer is not None
        elements = 0 if level is None else level.elements
        place = flow.made_at(value) if killer.verdict is Verdict.INTEGER else flow.call_line(use.call)
        words = killer.verdict, killer.label, killer.said, killer.advice
        return FlatValue(flow.name(value), *words, place, elements, not use.dead)


def _certain_killer(use: Use[V, C]) -> Killer | None:
    """Return why a use gives zeros that other values near these would not change; None where it does not.

    Steps and casts to integers are flat whatever arrives. Of all else a gradient must have arrived.
    """
    if use.level is None:
        return None
    if use.flat is not None and use.flat.verdict.has(Aspect.FLAT_BY_KIND):
        return use.flat
    killer = use.killer
    # A use or a term that is multiplied by 0 has a finding of its own.
    return killer if killer is not None and killer.certain and killer.verdict is not Verdict.TIMES_ZERO else None

"""Gradients that are too small or too large: by which factor per layer, or at which call, and from which line on."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic

from ...core import source
from .advice import ADVICE
from .answers import Answer
from .courses import Courses, Gain, Leg
from .deaths import Death
from .reasons import C, V
from .slopes import Slopes
from .verdicts import Verdict

if TYPE_CHECKING:
    from .case import Case, Subject

LARGE = 1e4
"""A gradient of a larger norm is large."""
SMALL = 1e-8
"""One that is a smaller part of its tensor is small: float32 does not even notice such an update."""
DECADES = 3.0
"""Over as many it must have changed on its way for that to be the cause."""


class Sizable(Generic[V, C]):
    """What is told of sizes.

    Args:
        case: the model.
        slopes: of its backward pass.
    """

    def __init__(self, case: Case[V, C], slopes: Slopes[V, C]) -> None:
        self._case = case
        self._slopes = slopes

    @cached_property
    def _courses(self) -> Courses[V, C]:
        return Courses(self._slopes, self._weights)

    @cached_property
    def _weights(self) -> dict[V, str]:
        """The names of parameters that make a layer."""
        return {p.value: p.name for p in self._case.parameters() if len(p.shape) > 1}

    def told(self, subject: Subject[V], base: Answer, asked: bool) -> Answer:
        """*base*, about a gradient that is there, with what made it large or small if it is."""
        norm = self._slopes.level(subject.value).norm
        weight = self._case.norm_of(subject)
        verdict = _verdict(norm, weight)
        leg = None if verdict is None else self._courses.leg(subject.value)
        if verdict is None or leg is None or abs(leg.change) < DECADES or (leg.change > 0) is not (norm > 1):
            return base
        if leg.by_depth:
            deep = Verdict.EXPLODED if leg.change > 0 else Verdict.VANISHED
            return self._deep(replace(base, finding=True), leg, deep, asked)
        told = replace(base, verdict=verdict, label=verdict.value, finding=False)
        return self._at_once(told, leg)

    def vanished(self, base: Answer, death: Death[V, C], outer: Death[V, C], asked: bool) -> Answer:
        """*base* about a gradient that became smaller than any number on the way."""
        flow = self._case.reasons.flow
        assert death.use is not None
        at = flow.called_at(death.use.call)
        said = death.killer.said if death.killer is not None else ""
        told = replace(base, verdict=Verdict.VANISHED, label=Verdict.VANISHED.value, finding=True, said=(said,))
        told = replace(told, location=at, advice=ADVICE[Verdict.VANISHED])
        onto = outer.use.onto if outer.use is not None else ()
        legs = [x for x in map(self._courses.leg, onto) if x is not None]
        if not legs:
            return told
        leg = max(legs, key=lambda x: x.size)
        if leg.by_depth:
            return self._deep(told, leg, Verdict.VANISHED, asked)
        return self._at_once(told, leg)

    def _deep(self, base: Answer, leg: Leg[V, C], verdict: Verdict, asked: bool) -> Answer:
        """What is said where many layers do it together."""
        flow = self._case.reasons.flow
        told = replace(base, verdict=verdict, label=verdict.value, advice=ADVICE[verdict])
        first = None if leg.first is None else self._courses.leg(leg.first)
        if first is not None and first.use is not None:
            told = replace(told, location=flow.called_at(first.use.call))
        gain = self._courses.gain(leg.value) if asked else None
        if gain is None:
            return told
        at = flow.called_at(gain.first.call)
        label = f"{verdict.value}: × {gain.factor:.3g} per {_noun(gain)}"
        return replace(told, label=label, location=at, said=(self._per_layer(gain), *told.said))

    def _per_layer(self, gain: Gain[V, C]) -> str:
        name = self._weights
        first, last = (name[self._courses.weight_of[id(u.call)]] for u in (gain.first, gain.last))
        if _noun(gain) == "step":
            return f"each of {gain.layers} uses of {last}, one after another, multiplies it by {gain.factor:.3g}"
        return f"each of {gain.layers} layers multiplies it by {gain.factor:.3g}, from {first} back to {last}"

    def _at_once(self, base: Answer, leg: Leg[V, C]) -> Answer:
        """What is said where one call does it."""
        gain, value = leg.jump
        jump = self._courses.leg(value)
        if jump is None or jump.use is None:
            return base
        flow = self._case.reasons.flow
        at = flow.called_at(jump.use.call)
        said = f"{jump.use.type} multiplies it by {10**gain:.3g}, {source.short(at)}"
        return replace(base, said=(*base.said, said), location=at)


def _noun(gain: Gain[V, C]) -> str:
    return "layer" if 2 * gain.weights > gain.layers else "step"


def _verdict(norm: float, weight: float | None) -> Verdict | None:
    """Whether a gradient is large or small, beside its tensor."""
    if norm > LARGE:
        return Verdict.LARGE
    return Verdict.SMALL if weight and norm < SMALL * weight else None

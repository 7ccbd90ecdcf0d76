"""Gradients that are too small or too large: by which factor per layer, or at which call, and from which line on."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic

from ...core import source
from ...core.identity import identity
from .advice import advice
from .answers import Answer
from .births import SizeCauses, SizeOrigin
from .courses import Courses, Gain, Leg, round_gain, usual
from .deaths import Death
from .reasons import C, V
from .slopes import Slopes
from .verdicts import Verdict

if TYPE_CHECKING:
    from .case import Case, TensorSubject

LARGE = 1e4
"""A gradient of a larger norm is large."""
LARGE_RATIO = 1e3
"""So is one that is that many times its tensor, unless both are small."""
SMALL = 1e-8
"""One that is a smaller part of its tensor is small: float32 does not even notice such an update."""
TINY = 1e-20
"""So is one of a smaller norm: no rate makes a step of it."""
DECADES = 3.0
"""Over as many it must have changed on its way for that to be the cause."""


class Sizable(Generic[V, C]):
    """Answers about sizes.

    Args:
        case: the model.
        slopes: of its backward pass.
    """

    def __init__(self, case: Case[V, C], slopes: Slopes[V, C]) -> None:
        self._case = case
        self._slopes = slopes
        self._births: dict[V, SizeOrigin] = {}

    @cached_property
    def _courses(self) -> Courses[V, C]:
        return Courses(self._slopes, self._weights)

    @cached_property
    def _weights(self) -> dict[V, str]:
        """The names of parameters that make a layer."""
        return {p.value: p.name for p in self._case.parameters() if len(p.shape) > 1}

    def judge(self, subject: TensorSubject[V], base: Answer, asked: bool) -> Answer:
        """*base*, about a gradient that is there, with what made it large or small if it is."""
        scale = self._case.loss_scale()
        norm = self._slopes.level(subject.value).norm / scale
        weight = self._case.norm_of(subject)
        verdict = _verdict(norm, weight)
        leg = None if verdict is None else self._courses.leg(subject.value)
        if verdict is None or leg is None:
            return base
        change = leg.change - math.log10(scale)
        if abs(change) < DECADES or (change > 0) is not (norm > 1):
            return base
        if leg.is_by_depth:
            deep = Verdict.EXPLODED if change > 0 else Verdict.VANISHED
            return self._deep(replace(base, finding=True), leg, deep, asked)
        told = replace(base, verdict=verdict, label=verdict.text, finding=False)
        return self._explain_jump(told, leg)

    def judge_vanished(self, base: Answer, death: Death[V, C], outer: Death[V, C], asked: bool) -> Answer:
        """*base* about a gradient that became smaller than any number on the way."""
        flow = self._case.reasons.flow
        assert death.use is not None
        at = flow.call_line(death.use.call)
        said = death.killer.said if death.killer is not None else ""
        told = replace(base, verdict=Verdict.VANISHED, label=Verdict.VANISHED.text, finding=True, said=(said,))
        told = replace(told, location=at, advice=advice(Verdict.VANISHED))
        if outer.use is not None and (gain := round_gain(outer.use)) is not None:
            return self._steady(told, gain, Verdict.VANISHED)
        onto = outer.use.onto if outer.use is not None else ()
        legs = [x for x in map(self._courses.leg, onto) if x is not None]
        if not legs:
            return told
        leg = max(legs, key=lambda x: x.size)
        if leg.is_by_depth:
            return self._deep(told, leg, Verdict.VANISHED, asked)
        return self._explain_jump(told, leg)

    def _deep(self, base: Answer, leg: Leg[V, C], verdict: Verdict, asked: bool) -> Answer:
        """Return the answer where many layers do it together."""
        flow = self._case.reasons.flow
        told = replace(base, verdict=verdict, label=verdict.text, advice=advice(verdict))
        first = None if leg.first is None else self._courses.leg(leg.first)
        if first is not None and first.use is not None:
            told = replace(told, location=flow.call_line(first.use.call))
        gain = self._courses.gain(leg.value) if asked else None
        return told if gain is None else self._steady(told, gain, verdict)

    def _steady(self, told: Answer, gain: Gain[V, C], verdict: Verdict) -> Answer:
        """*told* with the change per layer."""
        flow = self._case.reasons.flow
        at = usual([flow.call_line(u.call) for u in gain.uses])
        label = f"{verdict.text}: × {gain.factor:.3g} per {_noun(gain)}"
        return replace(told, label=label, location=at, said=(self._describe_layers(gain), *told.said))

    def _describe_layers(self, gain: Gain[V, C]) -> str:
        if not gain.weights:
            return f"each of {gain.layers} rounds of the loop multiplies it by {gain.factor:.3g}"
        name = self._weights
        first, last = (name[self._courses.weight_of[identity(u.call)]] for u in (gain.uses[0], gain.uses[-1]))
        if _noun(gain) == "step":
            return f"each of {gain.layers} uses of {last}, one after another, multiplies it by {gain.factor:.3g}"
        return f"each of {gain.layers} layers multiplies it by {gain.factor:.3g}, from {first} back to {last}"

    def _explain_jump(self, base: Answer, leg: Leg[V, C]) -> Answer:
        """Return the answer where one call does it."""
        gain, value = leg.jump
        jump = self._courses.leg(value)
        if jump is None or jump.use is None:
            return base
        at = self._case.reasons.flow.call_line(jump.use.call)
        birth = self._birth(jump, gain)
        # Of what became 0 on the way nothing is left, whoever made it so small.
        is_gone = base.verdict is Verdict.VANISHED and base.finding and not (base.gradient and base.gradient.norm)
        finding = is_gone or (base.verdict is not Verdict.LARGE and birth.fault)
        said = (*base.said, birth.said)
        places = (("multiplied at", at),) if at[:1] != birth.location[:1] else ()
        told = replace(base, said=said, location=birth.location, finding=finding, places=places, advice="")
        if birth.deep and base.verdict is Verdict.LARGE:
            deep = Verdict.EXPLODED
            return replace(told, verdict=deep, label=deep.text, finding=True, advice=advice(deep))
        return told

    def far_out(self, death: Death[V, C]) -> str:
        """Return the words about why inputs are where an operator is flat: where they became so large."""
        origin = SizeCauses(self._case, self._slopes).origin(death.value)
        return f"; {origin.said}, {source.short(origin.location)}" if origin is not None and origin.size >= 1 else ""

    def _birth(self, jump: Leg[V, C], gain: float) -> SizeOrigin:
        """Return what makes a jump, looked at once for all that lies behind it."""
        birth = self._births.get(jump.value)
        if birth is None:
            birth = self._births[jump.value] = SizeCauses(self._case, self._slopes).explain(jump, gain)
        return birth


def _noun(gain: Gain[V, C]) -> str:
    if not gain.weights:
        return "round"
    return "layer" if 2 * gain.weights > gain.layers else "step"


def _verdict(norm: float, weight: float | None) -> Verdict | None:
    """Return whether a gradient is large or small, beside its tensor."""
    if norm > LARGE or (weight and norm > max(1e2, LARGE_RATIO * weight)):
        return Verdict.LARGE
    return Verdict.SMALL if norm < TINY or (weight and norm < SMALL * weight) else None

"""Answers about the size of a gradient: none, rounding alone, too little, too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

from ...core import source
from ...core.source import NOWHERE, Location
from ..numbers import Numbers
from .advice import advice
from .answers import CUT, Answer
from .deaths import WAY, Death, Nearest
from .reasons import C, V
from .scene import NORMS
from .sizable import Sizable
from .slopes import Slopes, Use
from .verdicts import BY_STRUCTURE, Aspect, Verdict

if TYPE_CHECKING:
    from .case import Case, Factor, Subject


class Amounts(Generic[V, C]):
    """Answers about what one backward pass gave.

    Args:
        case: the model.
        slopes: filled by the pass.
    """

    def __init__(self, case: Case[V, C], slopes: Slopes[V, C]) -> None:
        self.slopes = slopes
        self._case = case
        self._reasons = case.reasons

    def answer(self, subject: Subject[V], base: Answer, asked: bool) -> Answer:
        """*base* with what is told of the gradient of *subject*, to which the graph leads.

        Args:
            asked: whether the way is told as well.
        """
        slopes = self.slopes
        total = slopes.sums.get(subject.value)
        gradient = None if total is None else Numbers.of(total, orders=False)
        base = replace(base, gradient=gradient)
        if not slopes.is_dead(subject.value):
            told = _judge_numbers(base)
            return told if told.verdict is Verdict.NOT_FINITE else self.sizes.told(subject, told, asked)
        death = self._death(subject.value)
        return base if death is None else self._dead(subject, base, death, asked)

    @cached_property
    def sizes(self) -> Sizable[V, C]:
        """Return the words about gradients that are too small or too large."""
        return Sizable(self._case, self.slopes)

    def _death(self, value: V) -> Death[V, C] | None:
        """Return where the gradient of *value* became zero; where none came by at all, on the way to the loss."""
        way: list[C] = []
        for v, call in self._reasons.along(value):
            if v in self.slopes.uses:
                death = self.slopes.death(v)
                return None if death is None else replace(death, way=(*way, *death.way))
            if call is not None:
                way.append(call)
        return None

    def _dead(self, subject: Subject[V], base: Answer, death: Death[V, C], asked: bool) -> Answer:
        flow = self._reasons.flow
        at_rest = self._is_at_rest and death.killer is not None and not _selects_nothing(death)
        if at_rest:
            # A loss is at its minimum only where its residual is zero by itself.
            constant = self._constant_factor(subject.value)
            death, at_rest = constant or death, constant is None
        outer = death
        death, slopes = _innermost(death, self.slopes)
        if death.killer is None or death.use is None:
            told = self._judge_cancellation(base, death, slopes)
            return replace(told, path=self._path(subject, outer)) if asked else told
        killer, verdict = death.killer, death.killer.verdict
        if verdict is Verdict.VANISHED:
            told = self.sizes.vanished(base, death, outer, asked)
            return replace(told, path=self._path(subject, outer)) if asked else told
        said, label, finding = killer.said, killer.label, True
        if verdict is Verdict.SATURATED and asked:
            said += self.sizes.far_out(death)
        if verdict is Verdict.CANCELLED and death.use.beside:
            finding, label = False, BY_STRUCTURE
            said += f"; {_NO_SAY}"
        factor = self._factor(death.use, killer.culprit, slopes) if verdict is Verdict.TIMES_ZERO else None
        if factor is not None:
            said = f"{factor.name} multiplies there, and it is 0 everywhere"
        if factor is not None and factor.is_trained and factor.stays and death.use.type in SCALING:
            said += "; it gets a gradient itself, so a step of an optimizer that holds it would change this"
        elif verdict is Verdict.TIMES_ZERO and (
            factor.is_trained if factor is not None else self._is_trained(death.use, killer.culprit)
        ):
            finding = False
            said += "; that is a parameter which gets a gradient itself, so this changes with its first step"
        if finding and at_rest and verdict.has(Aspect.AT_REST):
            verdict, label, finding = Verdict.AT_MINIMUM, Verdict.AT_MINIMUM.text, False
            said += f"; {self._case.target_name()} is 0, so this is no fault"
        piece = self._piece(death.use, killer.culprit) if finding and factor is None else None
        if piece is not None:
            said = f"the second derivative of {piece[0]} is zero everywhere: at {source.short(piece[1])}"
        at = flow.called_at(death.use.call)
        cause = flow.made_at(death.value) if verdict is Verdict.INTEGER else at
        if finding and verdict.has(Aspect.BY_VALUE) and death.use.zero is not None:
            cause = flow.made_at(slopes.first_zero(death.use.zero)) or at
        cause = (
            piece[1]
            if piece is not None
            else death.use.rule or (factor.set_at if factor is not None and finding else cause) or cause
        )
        return replace(
            base,
            verdict=verdict,
            label=label,
            finding=finding,
            said=(said,),
            location=cause,
            cut_at=at if cause[:1] != at[:1] else NOWHERE,
            path=self._path(subject, outer) if asked else (),
            advice=_SMOOTH if piece is not None else (killer.advice or advice(verdict)) if finding else "",
        )

    def _piece(self, use: Use[V, C], culprit: int | None) -> tuple[str, Location] | None:
        """Return the operator whose second derivative is the zero that a use multiplies by."""
        reads = self._reads(use)
        value = reads[culprit] if culprit is not None and culprit < len(reads) else None
        return self._case.straight_piece(use, value)

    def _factor(self, use: Use[V, C], culprit: int | None, slopes: Slopes[V, C]) -> Factor[V] | None:
        """Return the parameter whose zeros a use multiplies by, or that made another operand zero."""
        reads = self._reads(use)
        value = reads[culprit] if culprit is not None and culprit < len(reads) else None
        if value is not None and use.zero is not None:
            value = slopes.first_zero(use.zero)
        return self._case.zero_factor(use, value)

    @staticmethod
    def _reads(use: Use[V, C]) -> Sequence[V | None]:
        return getattr(use.call, "reads", ())

    def _is_trained(self, use: Use[V, C], culprit: int | None) -> bool:
        return culprit is not None and self._case.culprit_is_trained(use, culprit)

    def _judge_cancellation(self, base: Answer, death: Death[V, C], slopes: Slopes[V, C]) -> Answer:
        """Return the answer where the parts of a gradient cancel.

        No fault where they only ever shift what others make.
        """
        flow = self._reasons.flow
        uses = [u for u in slopes.uses[death.value] if not u.dead]
        names = self._case.call_names([u.call for u in uses])
        where = ", ".join(f"{names[id(u.call)]} ({source.short(flow.called_at(u.call))})" for u in uses[:_PARTS])
        sizes = " and ".join(f"{u.norm:.4g}" for u in uses[:_PARTS])
        more = f" and {len(uses) - _PARTS} more" if len(uses) > _PARTS else ""
        said = f"the parts of its gradient cancel: {where}{more}, of norms {sizes}"
        shifts = all(u.beside for u in uses)
        return replace(
            base,
            verdict=Verdict.CANCELLED,
            label=BY_STRUCTURE if shifts else Verdict.CANCELLED.text,
            finding=not shifts,
            said=(f"{said}; {_NO_SAY}" if shifts else said,),
            location=flow.called_at(uses[0].call),
            advice="" if shifts else advice(Verdict.CANCELLED),
        )

    @cached_property
    def _is_at_rest(self) -> bool:
        """Return whether the loss is 0 and all its slopes are, as where it is least."""
        case = self._case
        return case.loss_is_zero() and all(self.slopes.is_dead(p.value) for p in case.parameters())

    @cached_property
    def _constants(self) -> Nearest[V, C, Use[V, C]]:
        reached, uses = self._reasons.reached, self.slopes.uses

        def constant(value: V) -> Use[V, C] | None:
            factors = (u for u in uses.get(value, ()) if u.factor is not None)
            return next((u for u in factors if u.zero is None or u.zero not in reached), None)

        return Nearest(uses, constant)

    def _constant_factor(self, value: V) -> Death[V, C] | None:
        """Return where a zero that no gradient can change is multiplied into what *value* does for the loss."""
        nearest = self._constants.of(value)
        if nearest is None:
            return None
        use, at, way = nearest
        return Death(use.factor, at, use, (*way, use.call))

    def _path(self, subject: Subject[V], death: Death[V, C]) -> tuple[str, ...]:
        """From the loss to *subject*, with the place where its gradient becomes zero."""
        case = self._case
        inner, later = self._unwrap(death)
        stations: list[Any] = [self._reasons.flow.name(subject.value), *((c,) for c in inner.way)]
        if len(inner.way) > WAY:
            stations.insert(-1, "…")
        if inner.use is None:
            return case.named([case.target_name(), "…", CUT, *reversed(stations)])
        stations = [*stations[:-1], CUT, stations[-1], *((c,) for c in later), case.target_name()]
        return case.named(stations[::-1])

    def _unwrap(self, death: Death[V, C]) -> tuple[Death[V, C], list[C]]:
        """The innermost of deaths in blocks, seen from outside, and the calls from there to the loss."""
        reasons, later = self._reasons, list[C]()
        while death.use is not None:
            onto = [c for _, c in reasons.path(death.use.onto[0]) if c is not None]
            inside = death.use.inside
            if inside is None:
                return death, [*onto, *later]
            later = [death.use.call, *onto, *later]
            reasons = inside.reasons
            death = replace(inside.death, way=(*death.way[:-1], *inside.death.way))
        return death, later


def _innermost(death: Death[V, C], slopes: Slopes[V, C]) -> tuple[Death[V, C], Slopes[V, C]]:
    """Of deaths in blocks, and the slopes of its block."""
    while death.use is not None:
        inside = death.use.inside
        if inside is None:
            break
        death, slopes = inside.death, inside.slopes
    return death, slopes


def _selects_nothing(death: Death[V, C]) -> bool:
    """Return whether what is left of a selection is empty: a loss of nothing is 0 and at no minimum."""
    return death.use is not None and death.use.empty


def _judge_numbers(answer: Answer) -> Answer:
    """*answer* with what is worth knowing of the numbers of its gradient: those that are not finite, or zeros."""
    g = answer.gradient
    if g is None:
        return answer
    if g.nonfinite:
        said = f"{g.nonfinite} of {g.elements} elements are not finite: gradtool nan finds where that was born"
        verdict = Verdict.NOT_FINITE
        return replace(answer, verdict=verdict, label=g.state, finding=True, said=(said,), location=NOWHERE)
    if not g.zeros:
        return answer
    share = 100 * g.zeros / g.elements
    return replace(answer, said=(f"{g.zeros} of {g.elements} elements ({share:.3g} %) are zero",))


SCALING = frozenset({*NORMS, "native_layer_norm", "native_batch_norm", "native_group_norm", "cudnn_batch_norm"})
"""Operators that multiply what they have normalised by a scale."""

_SMOOTH = "an operator that bends smoothly in its place, such as tanh, softplus or silu"

_PARTS = 3
"""Parts that are told of a sum that cancels."""
_NO_SAY = "what follows takes out what it adds, so this is no fault"

"""Answers about the size of a gradient: none, rounding alone, too little, too much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

from ...core import source
from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ..numbers import Numbers
from .advice import advice
from .answers import CUT, Answer
from .deaths import WAY, Death, Nearest
from .flat_readers import find_flat_reader
from .folding import fold_names
from .reasons import C, V
from .scene import NORMS
from .sibling_parameters import last_ones
from .sizable import Sizable
from .slopes import Slopes, Use
from .verdicts import BY_STRUCTURE, Aspect, Verdict
from .zeros import FIXED, Killer

if TYPE_CHECKING:
    from .case import Case, Factor, TensorSubject


@dataclass(frozen=True, slots=True)
class _Zero(Generic[V, C]):
    """A gradient that an operator made zero.

    Attributes:
        use: the use that gave the zero.
        slopes: of the block that the use is in.
        at_rest: whether the loss and all its slopes are 0 by themselves.
        asked: whether the answer is shown whole.
        before: of the last layer of several, where fixed places alone are read, its like in those before.
        of_parameter: whether it is the gradient of a parameter, not of data.
    """

    death: Death[V, C]
    use: Use[V, C]
    killer: Killer
    slopes: Slopes[V, C]
    at_rest: bool
    asked: bool
    before: tuple[str, ...] = ()
    of_parameter: bool = True

    @property
    def is_partial(self) -> bool:
        """True where a share of the elements that is not all of them is the cause."""
        return self.killer.share is not None and self.killer.share < 100.0


@dataclass(frozen=True, slots=True)
class _Ruling(Generic[V]):
    """A ruling on a zero.

    Attributes:
        cause: the line to look at.
        factor: the parameter that multiplies by 0, if one does.
        advice: what to do; None for that of the verdict.
        fed: whether a run was fed the zero that multiplies.
    """

    verdict: Verdict
    label: str
    said: str
    cause: Location
    finding: bool = True
    factor: Factor[V] | None = None
    advice: str | None = None
    fed: bool = False

    def add(self, said: str) -> _Ruling[V]:
        """Return the ruling with more words."""
        return replace(self, said=self.said + said)

    def excuse(self, said: str) -> _Ruling[V]:
        """Return the ruling as no finding, with the reason."""
        return replace(self.add(said), finding=False)


_Test = Callable[[_Zero[V, C], _Ruling[V]], bool]
_Rule = Callable[[_Zero[V, C], _Ruling[V]], _Ruling[V]]


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

    def answer(self, subject: TensorSubject[V], base: Answer, asked: bool) -> Answer:
        """*base* with what is told of the gradient of *subject*, to which the graph leads.

        Args:
            asked: whether the way is told as well.
        """
        slopes = self.slopes
        total = slopes.sums.get(subject.value)
        gradient = None if total is None else Numbers.measure(total, orders=False)
        base = replace(base, gradient=gradient)
        if not slopes.is_dead(subject.value):
            told = _judge_numbers(base)
            return told if told.verdict is Verdict.NOT_FINITE else self.sizes.judge(subject, told, asked)
        death = self._death(subject.value)
        return base if death is None else self._dead(subject, base, death, asked)

    @cached_property
    def sizes(self) -> Sizable[V, C]:
        """Return the words about gradients that are too small or too large."""
        return Sizable(self._case, self.slopes)

    def _death(self, value: V) -> Death[V, C] | None:
        """Return where the gradient of *value* became zero; where none came by at all, on the way to the loss."""
        way: list[C] = []
        for v, call in self._reasons.walk(value):
            if v in self.slopes.uses:
                death = self.slopes.death(v)
                return None if death is None else replace(death, way=(*way, *death.way))
            if call is not None:
                way.append(call)
        return None

    def _dead(self, subject: TensorSubject[V], base: Answer, death: Death[V, C], asked: bool) -> Answer:
        at_rest = self._is_at_rest and death.killer is not None and not _selects_nothing(death)
        if at_rest:
            # A loss is at its minimum only where its residual is zero by itself.
            constant = self._constant_factor(subject.value)
            death, at_rest = constant or death, constant is None
        death, at_rest = self._flat_before(subject.value, death, at_rest)
        outer = death
        death, slopes = _innermost(death, self.slopes)
        if death.killer is None or death.use is None:
            answer = self._judge_cancellation(base, death, slopes)
        elif death.killer.verdict is Verdict.VANISHED:
            answer = self.sizes.judge_vanished(base, death, outer, asked)
        else:
            before = self._last_ones.get(subject.name, ()) if death.use.type in FIXED else ()
            answer = self._judge_zero(
                base,
                _Zero(death, death.use, death.killer, slopes, at_rest, asked, before, subject.is_parameter),
            )
        return replace(answer, path=self._path(subject, outer)) if asked else answer

    def _judge_zero(self, base: Answer, zero: _Zero[V, C]) -> Answer:
        """Return the answer about a gradient that an operator made zero: each row changes what the one before ruled."""
        killer = zero.killer
        flow = self._reasons.flow
        at = flow.call_line(zero.use.call)
        cause = next((loc for v in zero.use.onto if (loc := flow.place_of_choice(v))), at)
        ruling: _Ruling[V] = _Ruling(killer.verdict, killer.label, killer.said, cause)
        for holds, rule in self._rows:
            if holds(zero, ruling):
                ruling = rule(zero, ruling)
        default = (killer.advice or advice(ruling.verdict)) if ruling.finding else ""
        return replace(
            base,
            verdict=ruling.verdict,
            label=ruling.label,
            finding=ruling.finding,
            said=(ruling.said,),
            location=ruling.cause,
            cut_at=at if ruling.cause[:1] != at[:1] else NOWHERE,
            path=(),
            advice=default if ruling.advice is None else ruling.advice,
            fed=ruling.fed,
        )

    @cached_property
    def _rows(self) -> Sequence[tuple[_Test[V, C], _Rule[V, C]]]:
        """Return the rows that rule on a zero, in their order: a test, and what follows where it holds."""
        flow = self._reasons.flow
        return (
            # Words and excuses first: what is no finding needs no line but the operator's.
            (lambda zero, now: now.verdict is Verdict.SATURATED and zero.asked, self._add_origin),
            (lambda zero, now: now.verdict is Verdict.CANCELLED and zero.use.beside, self._excuse_structure),
            (lambda zero, now: now.verdict is Verdict.NOT_SELECTED and bool(zero.before), self._excuse_last),
            (lambda zero, now: zero.is_partial, self._find_flat_reader),
            (lambda zero, now: now.verdict is Verdict.TIMES_ZERO, self._name_factor),
            (lambda zero, now: now.finding and zero.at_rest and now.verdict.has(Aspect.AT_REST), self._excuse_minimum),
            # The line to look at, where it is not the operator's.
            (
                lambda zero, now: now.verdict is Verdict.INTEGER,
                lambda zero, now: replace(now, cause=flow.made_at(zero.death.value)),
            ),
            (
                lambda zero, now: now.finding and now.verdict.has(Aspect.BY_VALUE) and zero.use.zero is not None,
                self._find_first_zero,
            ),
            # A line that wrote the zero comes before one that made it; the last row that holds counts.
            (
                lambda zero, now: now.finding and now.factor is not None,
                lambda zero, now: replace(now, cause=(now.factor and now.factor.set_at) or now.cause),
            ),
            (lambda zero, now: bool(zero.use.rule), lambda zero, now: replace(now, cause=zero.use.rule)),
            (lambda zero, now: now.finding and now.factor is None, self._find_piece),
        )

    def _add_origin(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Add the line where inputs became so large that the operator is flat there."""
        return now.add(self.sizes.far_out(zero.death))

    def _find_flat_reader(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Find what is saturated behind a relu where the relu lets gradients through."""
        reader = find_flat_reader(zero.use, zero.slopes)
        if reader is None:
            return now
        call, said = reader
        said = f"{said}; gradients come through it only where {zero.use.type} before it gives 0"
        cause = self._reasons.flow.call_line(call)
        saturated = Verdict.SATURATED
        return replace(now, verdict=saturated, label=saturated.text, said=said, cause=cause, advice=advice(saturated))

    def _excuse_structure(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Excuse a zero that comes of how the model is built."""
        return replace(now.add(f"; {_NO_SAY}"), finding=False, label=BY_STRUCTURE)

    def _excuse_last(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Excuse a zero of the last layer of several, of which the loss reads some places alone: a class token, say."""
        said = f"; its like in the layers before is trained: {fold_names(zero.before)}; this is the last layer"
        return replace(now.excuse(said), label=BY_STRUCTURE)

    def _name_factor(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Name the parameter that is 0; excuse the zero where that parameter is trained, and so will change."""
        use, culprit = zero.use, zero.killer.culprit
        factor = self._factor(use, culprit, zero.slopes)
        if factor is None:
            return now.excuse(_CHANGES) if self._is_trained(use, culprit) else now
        now = replace(now, factor=factor, said=f"{factor.name} multiplies there, and it is 0 everywhere")
        if not factor.is_trained:
            return now
        return now.add(_WOULD_CHANGE) if factor.stays and use.type in SCALING else now.excuse(_CHANGES)

    def _excuse_minimum(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Excuse a zero of a loss that is 0, and so least."""
        minimum = replace(now, verdict=Verdict.AT_MINIMUM, label=Verdict.AT_MINIMUM.text)
        return minimum.excuse(f"; {self._case.target_name()} is 0, so this is no fault")

    def _find_first_zero(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Find the line that made the first value on the way that is zero."""
        assert zero.use.zero is not None
        first, flow = zero.slopes.first_zero(zero.use.zero), self._reasons.flow
        cause = flow.place_of_choice(first) or flow.made_at(first) or now.cause
        return replace(now, cause=cause, fed=self._case.is_fed(first))

    def _find_piece(self, zero: _Zero[V, C], now: _Ruling[V]) -> _Ruling[V]:
        """Find the function of straight pieces whose second derivative is the zero."""
        piece = self._piece(zero.use, zero.killer.culprit)
        if piece is None:
            return now
        said = f"the second derivative of {piece[0]} is zero everywhere: at {source.short(piece[1])}"
        if not zero.of_parameter:  # where a penalty of gradients is taken: what is trained has answers of its own
            return replace(now, said=said, cause=piece[1], finding=False, label=BY_STRUCTURE)
        return replace(now, said=said, cause=piece[1], advice=_SMOOTH)

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
        where = ", ".join(f"{names[identity(u.call)]} ({source.short(flow.call_line(u.call))})" for u in uses[:_PARTS])
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
            location=flow.call_line(uses[0].call),
            advice="" if shifts else advice(Verdict.CANCELLED),
        )

    @cached_property
    def _last_ones(self) -> Mapping[str, tuple[str, ...]]:
        """The parameters without a gradient in the last of several equal layers, with those of the others."""
        own = self._case.parameters()
        return last_ones((p.name, p.shape, self.slopes.is_dead(p.value)) for p in own)

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
        nearest = self._constants.find(value)
        if nearest is None:
            return None
        use, at, way = nearest
        return Death(use.factor, at, use, (*way, use.call))

    @cached_property
    def _flat_uses(self) -> Nearest[V, C, Use[V, C]]:
        """The uses by operators that are flat near all that they read, whether or not a gradient arrives."""

        def find_flat(value: V) -> Use[V, C] | None:
            return next((u for u in self.slopes.uses.get(value, ()) if u.flat is not None), None)

        return Nearest(self.slopes.uses, find_flat)

    def _flat_before(self, value: V, death: Death[V, C], at_rest: bool) -> tuple[Death[V, C], bool]:
        """Return *death*, or the flat operator before it on the way; and whether that is at rest.

        What a flat operator gives is often the cause of the zero further on: values that a cast made 0, or that a clip
        put where a relu is dead.
        """
        nearest = self._flat_uses.find(value)
        if nearest is None:
            return death, at_rest
        use, at, way = nearest
        before = death.way if death.use is None else death.way[:-1]
        if not _is_flat(death) and use.call not in before:
            return death, at_rest
        return Death(use.flat, at, use, (*way, use.call)), False

    def _path(self, subject: TensorSubject[V], death: Death[V, C]) -> tuple[str, ...]:
        """From the loss to *subject*, with the place where its gradient becomes zero."""
        case = self._case
        inner, later = self._unwrap(death)
        stations: list[Any] = [self._reasons.flow.name(subject.value), *((c,) for c in inner.way)]
        if len(inner.way) > WAY:
            stations.insert(-1, "…")
        if inner.use is None:
            return case.name_stations([case.target_name(), "…", CUT, *reversed(stations)])
        stations = [*stations[:-1], CUT, stations[-1], *((c,) for c in later), case.target_name()]
        return case.name_stations(stations[::-1])

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


def _is_flat(death: Death[V, C]) -> bool:
    """Return whether an operator is flat where the values are."""
    return death.killer is not None and death.killer.verdict.has(Aspect.FLAT)


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
_CHANGES = "; that is a parameter which gets a gradient itself, so this changes with its first step"
_WOULD_CHANGE = "; it gets a gradient itself, so a step of an optimizer that holds it would change this"
_NO_SAY = "what follows takes out what it adds, so this is no fault"

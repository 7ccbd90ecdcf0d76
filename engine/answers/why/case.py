"""From reasons and values to answers: what is told about one tensor, and about all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Generic

import numpy as np

from ...core import source
from ...core.collector import pause_gc
from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...core.vocabulary import say
from . import callers
from .advice import advice, advise_operator, set_on_a_result
from .answers import CUT, Answer, ChainEnd, GradientShare, Shared
from .compared_uses import ComparedUses
from .dropped_results import DroppedResult
from .flat_values import FlatValue, FlatValues
from .folding import fold_names
from .intended_cuts import MeantCuts
from .levels import dense
from .lost_uses import LostUse, LostUses
from .reasons import C, Cut, Reason, Reasons, V, same
from .sibling_parameters import odd_ones
from .size_answers import Amounts
from .slopes import Slopes, Use
from .terms import LostTerm
from .verdicts import Aspect, Verdict

WHOLE = 24
"""Answers that are told with the way to the loss and all that is around it; each of these walks over the graph."""

_SHOWN = 9
"""Stations of a path that are shown; the middle of a longer one is counted."""


@dataclass(frozen=True, slots=True)
class TensorSubject(Generic[V]):
    """A tensor that is asked about.

    Attributes:
        name: what people call it.
        tensor: the tensor's own name.
        held: the Variable or Tensor itself.
    """

    name: str
    tensor: str
    value: V
    shape: tuple[int, ...]
    dtype: str
    is_parameter: bool
    held: Any


@dataclass(frozen=True, slots=True)
class Factor(Generic[V]):
    """A parameter that is 0 everywhere and multiplies what others give.

    Attributes:
        name: what people call it.
        value: its value.
        set_at: the line that made it zero; that of its making where no line did later.
        is_trained: whether the backward pass gives it a gradient that is not zero.
        stays: whether it is 0 when the script is over.
    """

    name: str
    value: V
    set_at: Location
    is_trained: bool
    stays: bool


class Case(ABC, Generic[V, C]):
    """A model whose backward pass is looked at: what the answers are taken from."""

    reasons: Reasons[V, C]
    lost: LostUses[V, C]

    @abstractmethod
    def subjects(self) -> list[TensorSubject[V]]:
        """Return what is asked about: by default the parameters, or the leaves where there are none."""

    @abstractmethod
    def parameters(self) -> list[TensorSubject[V]]:
        """All parameters, whatever is asked about."""

    @abstractmethod
    def reason(self, subject: TensorSubject[V]) -> Reason[V, C]:
        """Return whether the graph leads to it, and if not, why."""

    @abstractmethod
    def slopes(self) -> Slopes[V, C] | None:
        """Return what the backward pass gives, the parts of what was chosen as arrays.

        None where there are no values.
        """

    @abstractmethod
    def call_names(self, calls: Iterable[C]) -> dict[int, str]:
        """``relu.3`` by the identity of the call."""

    @abstractmethod
    def target_name(self) -> str:
        """Return the name that people have for the loss."""

    @abstractmethod
    def is_differentiated(self, value: V) -> bool:
        """Return whether the loss is computed from gradients of *value*."""

    @abstractmethod
    def loss_line(self) -> Location:
        """Return the line where the loss was computed."""

    def also(self, subject: TensorSubject[V], answer: Answer) -> Answer:
        """*answer*, after a look at what happened beside the graph."""
        return answer

    def find_lost_terms(self) -> list[LostTerm]:
        """Return the terms of the loss that are computed from trained parameters and give no gradient to any."""
        return []

    def find_lost_uses(self) -> list[LostUse]:
        """Return the uses that the loss is computed from and that give no gradient back, next to uses that do."""
        uses = {use.location: use for use in self.lost.every(self._recognition.is_meant)}
        for use in ComparedUses(self.reasons, self._recognition).find():
            uses.setdefault(use.location, use)
        return list(uses.values())

    def find_dropped(self) -> list[DroppedResult]:
        """Return the results that nobody keeps, of values that the loss is computed from."""
        return []

    def find_flat_values(self) -> list[FlatValue]:
        """Return the values that get zeros alone, though parameters behind them learn by other ways."""
        slopes = self.slopes()
        if slopes is None:
            return []
        reached = [s.value for s in self.parameters() if s.value in self.reasons.reached]
        # Parameters that get nothing have answers of their own.
        return FlatValues(self.reasons, slopes, [v for v in reached if not slopes.is_dead(v)]).find()

    def culprit_is_trained(self, use: Use[V, C], position: int) -> bool:
        """Return whether operand *position* of a use is a parameter that gets a gradient that is not zero."""
        return False

    def zero_factor(self, use: Use[V, C], value: V | None) -> Factor[V] | None:
        """Return the parameter whose zeros *use* multiplies by, or that *value* shows; None where none is known."""
        return None

    def straight_piece(self, use: Use[V, C], value: V | None) -> tuple[str, Location] | None:
        """Return the operator, and its line, whose second derivative *use* gives, or made *value* zero; or None."""
        return None

    def is_fed(self, value: V) -> bool:
        """Return whether a run is fed a value: another run may be fed another one."""
        return False

    def loss_scale(self) -> float:
        """Return what a scaler multiplied the loss by, and divides gradients by before the update."""
        return 1.0

    def loss_is_zero(self) -> bool:
        """Return whether the loss is 0."""
        return False

    def cause_of(self, subject: TensorSubject[V], answer: Answer) -> Location:
        """The line that answers have in common that are one finding: where each of them points, if nothing else."""
        return answer.location

    def hear(self) -> AbstractContextManager[None]:
        """Inside, what somebody else runs is listened to: a case that would run the model itself need not then."""
        return nullcontext()

    def norm_of(self, subject: TensorSubject[V]) -> float | None:
        """The norm of the tensor itself; None where its values are not known."""
        return None

    # -- one answer -----------------------------------------------------------------------------------------------

    def answer(self, subject: TensorSubject[V], *, asked: bool = True, contributions: bool = False) -> Answer:
        """The answer about one tensor.

        Args:
            asked: whether someone asked for this one; otherwise what takes long and is not shown is left out.
            contributions: tell what each use adds.
        """
        with pause_gc():
            return self._answer(subject, asked, contributions)

    def _answer(self, subject: TensorSubject[V], asked: bool, contributions: bool) -> Answer:
        reason = self.reason(subject)
        base = Answer(
            subject.name,
            subject.tensor,
            subject.shape,
            subject.dtype,
            subject.is_parameter,
            reason.verdict,
            reason.verdict.text,
            reason.verdict.is_finding,
            location=reason.location,
        )
        if reason.verdict is Verdict.OK:
            amounts = self.amounts
            answer = base if amounts is None else amounts.answer(subject, base, asked)
            if contributions:
                parts = () if amounts is None else self._parts(subject, amounts.slopes)
                answer = replace(answer, parts=parts + self.lost.parts(subject.value, self.call_names))
        else:
            answer = self._cut_off(subject, base, reason, asked)
        told = self.also(subject, answer)
        if told.verdict is not Verdict.FROZEN or told.finding or subject.name not in self._odd_ones:
            return told
        beside = self._odd_ones[subject.name]
        return replace(
            told,
            beside=beside,
            said=(*told.said, f"its like in other layers is trained: {fold_names(beside)}"),
        )

    @cached_property
    def _odd_ones(self) -> Mapping[str, tuple[str, ...]]:
        """The frozen parameters among equal ones that are trained, with these."""
        return odd_ones((s.name, s.shape, self.reason(s).verdict is Verdict.FROZEN) for s in self.parameters())

    def _cut_off(self, subject: TensorSubject[V], base: Answer, reason: Reason[V, C], asked: bool) -> Answer:
        flow = self.reasons.flow
        cut = reason.cut
        said: list[str] = []
        if cut is None:
            frontier: tuple[ChainEnd, ...] = ()
            if reason.verdict is Verdict.NO_PATH:
                end = self.reasons.ends.get(subject.value, subject.value)
                base = self._locate_loss(base, end)
                said.append(f"what is computed from it is never used by {self.target_name()}")
                if self.is_differentiated(end):
                    # So it is with the bias of the last layer.
                    said.append("its derivatives are used, and these do not depend on it")
                    return replace(base, said=tuple(said), finding=False)
            if reason.verdict is Verdict.NO_PATH and asked:
                ends = (
                    ChainEnd(flow.name(v), source.short(flow.made_at(v))) for v in self.reasons.frontier(subject.value)
                )
                frontier = tuple(dict.fromkeys(ends))[:4]
            if reason.verdict is Verdict.UNUSED:
                said.append("no operator of the forward pass reads it")
            return replace(base, said=tuple(said), frontier=frontier, advice=advice(reason.verdict))
        said += self._cut_said(subject, cut)
        shared = self._find_sharers(subject, cut) if asked else ()
        victim = flow.call_line(cut.call) if cut.call is not None else NOWHERE
        path = self._path(subject.value, cut) if asked else ()
        is_set = reason.verdict is Verdict.STOP_GRADIENT and cut.call is not None and bool(cut.at)
        return replace(
            base,
            said=tuple(said),
            path=path,
            cut=flow.name(cut.value),
            cut_lines=self._cut_lines(subject.value, cut, reason.location) if asked else (),
            shared=shared,
            cut_at=victim if reason.location[:1] != victim[:1] else NOWHERE,
            places=self._find_callers(cut, reason.location, victim) if asked else (),
            advice=set_on_a_result() if is_set else self._advice(reason.verdict, cut),
        )

    def _advice(self, verdict: Verdict, cut: Cut[V, C]) -> str:
        if cut.enclosure is not None:
            return cut.enclosure.advice(self.reasons.flow.name_or_empty)
        refusal = self.reasons.flow.refusal(cut)
        if refusal is not None:
            return refusal.advice
        if verdict is Verdict.NON_DIFFERENTIABLE and cut.call is not None:
            return advise_operator(self.reasons.flow.call_type(cut.call), self._reader(cut))
        return "" if self._recognition.passes_straight_through(cut) else advice(verdict)

    def _reader(self, cut: Cut[V, C]) -> str:
        """The type of the operator that reads the result of the one at which a path ends; empty where none does."""
        way = [call for _, call in islice(self.reasons.walk(cut.value), 2)]
        calls = [call for call in way if call is not None and call is not cut.call]
        return self.reasons.flow.call_type(calls[0]) if calls else ""

    @cached_property
    def _recognition(self) -> MeantCuts[V, C]:
        return MeantCuts(self.reasons)

    def _find_callers(self, cut: Cut[V, C], at: Location, victim: Location) -> tuple[tuple[str, Location], ...]:
        """The line that called the function of *at*, seen from where the loss is computed."""
        if cut.verdict is Verdict.NO_GRAD and at and at[0][0] not in {code for code, _ in victim}:
            at = victim  # a decorator stands outside of what it switches off
        line = callers.caller(at, self.loss_line())
        return (("called at", line),) if line else ()

    def _locate_loss(self, base: Answer, end: V) -> Answer:
        """*base* with the line that let go of *end*, which nobody reads."""
        made = self.reasons.flow.made_at(end)
        if not made:
            return base
        at = self.reasons.flow.drop_place(end) or callers.let_go(made)
        return replace(base, location=at, cut_at=made if at[0] != made[0] else NOWHERE)

    def _cut_lines(self, value: V, cut: Cut[V, C], location: Location) -> tuple[tuple[str, int], ...]:
        """The line of the cut; under ``no_grad`` those of all calls between *value* and it."""
        places = [location]
        if cut.verdict.has(Aspect.UNRECORDED):
            places += [self.reasons.flow.call_line(cut.call)] if cut.call is not None else []
            for v, call in self.reasons.path(value):
                if same(v, cut.value) or call is None:
                    break
                places.append(self.reasons.flow.call_line(call))
        return tuple(dict.fromkeys(p for p in map(source.file_and_line, places) if p is not None))

    def _cut_said(self, subject: TensorSubject[V], cut: Cut[V, C]) -> list[str]:
        flow = self.reasons.flow
        name, own = flow.name(cut.value), same(cut.value, subject.value)
        if cut.enclosure is not None:
            return [cut.enclosure.sentence(subject.name, cut.guard)]
        refusal = flow.refusal(cut)
        if refusal is not None:
            return [refusal.sentence]
        match cut.verdict:
            case Verdict.NON_DIFFERENTIABLE if cut.call is not None:
                of = f" for {name}" if cut.at_input else ""
                return [f"{flow.call_type(cut.call)} has no gradient{of}"]
            case Verdict.NO_PATH if cut.call is not None:
                return [f"what is computed from it in the block of {flow.call_type(cut.call)} does not leave it"]
            case Verdict.STOP_GRADIENT if not own:
                return [say("{name} has {stops}", name=name)]
            case Verdict.NO_GRAD_SET if not own:
                return [f"{name} is in the no_grad_set"]
            case Verdict.INTEGER if not own:
                return [
                    f"{flow.call_type(cut.call)} makes integers" if cut.call is not None else f"{name} holds integers"
                ]
        return []

    def _find_sharers(self, subject: TensorSubject[V], cut: Cut[V, C]) -> tuple[Shared, ...]:
        others = [o for o in self.parameters() if o.held is not subject.held]
        reached, cuts = self.reasons.reached, self.reasons.cuts
        behind = self.reasons.ancestors(cut) if any(o.value in reached for o in others) else set()
        shared = []
        for other in others:
            theirs = cuts.get(other.value)
            if theirs is not None and theirs.verdict is cut.verdict and same(theirs.value, cut.value):
                shared.append(Shared(other.name, False))
            elif other.value in reached and other.value in behind:
                shared.append(Shared(other.name, True))
        return tuple(shared)

    def _path(self, value: V, cut: Cut[V, C]) -> tuple[str, ...]:
        """From the loss to *value*."""
        stations: list[Any] = [self.reasons.flow.name(value)]
        end = {cut.value}
        for v, call in self.reasons.path(value):
            if v in end:
                stations.append(CUT)
            if call is not None:
                stations.append((call,))
        return self.name_stations([*stations, self.target_name()][::-1])

    def name_stations(self, stations: Sequence[Any]) -> tuple[str, ...]:
        """*stations*, shortened, with names for the calls among them, each of which stands in a tuple of its own."""
        shown = _shorten(stations)
        names = self.call_names([s[0] for s in shown if isinstance(s, tuple)])
        return tuple(names[identity(s[0])] if isinstance(s, tuple) else s for s in shown)

    # -- values ---------------------------------------------------------------------------------------------------

    @cached_property
    def amounts(self) -> Amounts[V, C] | None:
        """Return the words about how much gradient tensors get; None where there are no values."""
        slopes = self.slopes()
        return None if slopes is None else Amounts(self, slopes)

    def _parts(self, subject: TensorSubject[V], slopes: Slopes[V, C]) -> tuple[GradientShare, ...]:
        uses = [p for u in slopes.uses.get(subject.value, []) for p in (u.parts or (u,))]
        names = self.call_names([u.call for u in uses])
        total = slopes.sums.get(subject.value)
        flow = self.reasons.flow
        parts = []
        for u in uses:
            cosine = None if total is None or u.array is None else _cosine(u.array, total)
            parts.append(GradientShare(names[identity(u.call)], source.short(flow.call_line(u.call)), u.norm, cosine))
        return tuple(parts)

    # -- all of them ----------------------------------------------------------------------------------------------

    def answers(self) -> list[Answer]:
        """One answer per cause, over all parameters: findings first, then what someone wanted so."""
        brief = [(s, self.answer(s, asked=False)) for s in self.subjects()]
        grouped: dict[tuple[Any, ...], list[tuple[TensorSubject[V], Answer]]] = {}
        for s, a in brief:
            if a.verdict is not Verdict.OK or a.label != Verdict.OK.text:
                # What has no line stands for itself; but all gradients that are not finite come of one birth as a rule,
                # and nothing uses a layer as a whole.
                own = "" if a.verdict is Verdict.NOT_FINITE else s.name
                own = s.name.rpartition(".")[0] or own if a.verdict is Verdict.UNUSED else own
                at = self.cause_of(s, a)[:1]
                key = (not a.finding, _cause(a), at, at or own, bool(a.beside))
                grouped.setdefault(key, []).append((s, a))
        ordered = sorted(grouped.items(), key=lambda entry: entry[0][0])
        told = []
        for i, (_, group) in enumerate(ordered):
            first, brief_answer = group[0]
            whole = self.answer(first) if i < WHOLE else brief_answer
            others = [s.name for s, _ in group[1:]]
            rest = set(others)
            shared = tuple(x for x in whole.shared if x[0] not in rest)
            told.append(replace(whole, also=tuple(others), shared=shared))
        return _join(_add_victims(told))


def _add_victims(answers: Sequence[Answer]) -> list[Answer]:
    """*answers*, where what is multiplied by the zeros of a dead operator stands with those behind that operator."""
    dead = {a.location[:1]: a for a in answers if a.finding and a.verdict is Verdict.DEAD_RELU}
    victims: dict[int, list[str]] = {}
    told = []
    for a in answers:
        cause = dead.get(a.location[:1]) if a.verdict is Verdict.TIMES_ZERO and a.finding and a.cut_at else None
        if cause is None:
            told.append(a)
        else:
            victims.setdefault(identity(cause), []).extend([a.name, *a.also])
    return [replace(a, also=(*a.also, *victims[identity(a)])) if identity(a) in victims else a for a in told]


def _join(answers: Sequence[Answer]) -> list[Answer]:
    """*answers*, those about sizes as one if it is one line that makes them: the first, with the others' names."""
    joined: dict[Any, Answer] = {}
    for a in answers:
        key = (a.finding, a.verdict, a.location[:1]) if a.verdict.is_size and a.location else (identity(a),)
        first = joined.get(key)
        joined[key] = a if first is None else replace(first, also=(*first.also, a.name, *a.also))
    return list(joined.values())


def _cause(answer: Answer) -> Verdict:
    """Return what answers have in common that are one finding: a zero that chooses also multiplies, further on."""
    chooses = answer.verdict is Verdict.NOT_SELECTED and bool(answer.cut_at)
    return Verdict.TIMES_ZERO if chooses else answer.verdict


def _shorten(stations: Sequence[Any]) -> list[Any]:
    """*stations* with a count in place of the middle of long stretches."""
    if len(stations) <= _SHOWN:
        return list(stations)
    at = stations.index(CUT) if CUT in stations else len(stations) // 2
    shown_at = {*range(2), *range(at - 2, at + 3), *range(len(stations) - 2, len(stations))}
    shown: list[Any] = []
    skipped = 0
    for i, s in enumerate(stations):
        if i in shown_at:
            if skipped:
                shown.append(f"… {skipped} more …" if skipped > 1 else stations[i - 1])
            skipped = 0
            shown.append(s)
        else:
            skipped += 1
    return shown


def _cosine(one: Any, other: Any) -> float | None:
    a, b = dense(one).astype(np.float64).ravel(), dense(other).astype(np.float64).ravel()
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / scale if scale else None

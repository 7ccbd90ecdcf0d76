"""Births of the first NaN, infinity, overflow or subnormal number of a run, and what carried it on.

An operator whose result is bad while what it read was good is a *birth*. One that read something bad is a *carrier*.
A gradient is born bad when the gradient that arrived and the retained values were good.

Not everything that is infinite is wrong. Infinities that the program writes on purpose (an attribute such as
``full(…, -inf)``, or data that holds them) are births only if what comes of them reaches the loss or a gradient, and
values that are masked out before the loss are *absorbed*. Both are listed, and neither is a finding.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import cache
from typing import Any

import numpy as np

from ..core import names, source, watch
from ..core.identity import identity
from ..core.records import dataclass
from ..core.result import Result
from ..core.source import NOWHERE, Location
from ..core.summary import InOrder
from ..ir.operator import Operator
from ..view.graph import BACKWARD, FORWARD
from . import causes, explaining, magnitudes
from .bad_value_flow import BadArrayFacts
from .birth import DATA, Birth
from .events import UPDATE, Begin, End, OpEvent, Quiet, SlotArray
from .magnitudes import INF, KINDS, NAN
from .makers import Makers
from .scales import Scales

_in_order = cache(InOrder)
"""The question about numbers up to a size: the same object each time, which plans have the answer under."""

_WORST = (NAN, INF)
_MASKING = frozenset({"where_grad", "masked_fill_grad", "masked_select_grad", "clip_grad", "elementwise_mul_grad"})


@dataclass
class NanStory(Result):
    """The result of a search for bad numbers.

    Attributes:
        births: findings in the order of the run; the first one is the one to look at.
        absorbed: births that reached neither the loss nor a gradient.
        intended: infinities that the program wrote on purpose.
        carriers: how many later operators had bad results.
        victims: the names of leaves and parameters whose gradient is bad.
        checked: by part, how many tensors were looked at.
        unchecked: what was not looked at, in words.
        steps: how many backward passes were seen.
    """

    births: list[Birth] = field(default_factory=list)
    absorbed: list[Birth] = field(default_factory=list)
    intended: list[Birth] = field(default_factory=list)
    carriers: int = 0
    victims: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=lambda: {FORWARD: 0, BACKWARD: 0, UPDATE: 0})
    unchecked: list[str] = field(default_factory=list)
    steps: int = 0

    @property
    def clean(self) -> bool | None:
        """Return whether there is no finding; None where there is none in what was checked, which is a part."""
        return False if self.births else None if self.unchecked else True

    def __str__(self) -> str:
        if not self.births:
            word = "clean" if self.clean else "no finding in a part"
            return f"{word}: {sum(self.checked.values())} tensors checked in {self.steps} backward passes"
        first = self.births[0]
        where = source.describe(first.loc)
        text = f"{first.kind} born {first.part} in {first.type}, {first.count} of {first.total} elements: {first.cause}"
        return f"{text}\n  at  {where}" if where else text


@dataclass(frozen=True, slots=True)
class Sighting:
    """Bad numbers in something that an operator made, or read.

    Attributes:
        kind: the worst kind of them.
        bad: where they are.
        came: the kinds that were there before, in what the operator read.
    """

    kind: str
    event: OpEvent
    value: SlotArray
    array: np.ndarray[Any, Any]
    bad: Any
    came: frozenset[str] = frozenset()

    @property
    def spreads(self) -> bool:
        """Return whether it is NaN or infinity where NaN or infinity was read."""
        return self.kind in _WORST and not self.came.isdisjoint(_WORST)

    @property
    def turns(self) -> bool:
        """Return whether it is NaN and none was read."""
        return self.kind == NAN and NAN not in self.came

    @property
    def was_there(self) -> bool:
        """Return whether what was read explains it: the same kind, or one that is worse."""
        return self.kind in self.came or not self.came.isdisjoint(_WORST)


class Hunt:
    """Listens to the events of a run; :meth:`story` tells what it found.

    Args:
        big: finite numbers beyond it count as overflow; None for no limit.
        subnormal: whether numbers too small for full precision count.
        steps: how many backward passes to look at; None for all.
    """

    def __init__(self, big: float | None = None, subnormal: bool = False, steps: int | None = None) -> None:
        self.big = big
        self.subnormal = subnormal
        self.limit = steps
        self.checked = {FORWARD: 0, BACKWARD: 0, UPDATE: 0}
        self.steps = 0
        self.own = 0
        """How many of the passes are no derivatives that another pass goes through."""
        self.carriers = 0
        self.victims: dict[str, None] = {}
        self.absorbed: list[Birth] = []
        self.intended: list[Birth] = []
        self._open: list[Birth] = []
        self._suspects: list[Birth] = []
        self._bad_names: set[str] = set()
        self._loss_is_bad = False
        self._pass_at = NOWHERE
        self._in_pass = False
        self._inner = 0
        self._masks: list[tuple[str, Location]] = []
        self._done: list[Birth] | None = None
        self._bad_inside: dict[int, set[str]] = {}
        self._makers = Makers()
        self._carried = BadArrayFacts(self._is_bad)
        self._unread: list[tuple[Birth, Any, causes.Unread]] = []
        self._born_in: tuple[OpEvent, str] | None = None
        self._lines: dict[Any, int] = {}
        self._nth: dict[Any, int] = {}
        self._scales = Scales()
        watch.scale_watchers.append(weakref.WeakMethod(self._scales.hear, watch.scale_watchers.remove))

    @property
    def summary_needs(self) -> InOrder | None:
        """Return what will do in place of arrays, as long as nothing is wrong with them."""
        return None if self.subnormal else _in_order(self.big)

    @property
    def _follows(self) -> bool:
        """Return whether operators with whose results nothing is wrong matter to what was found before."""
        found = (self._open, self._suspects, self._bad_names, self._bad_inside, self._unread, self._in_pass)
        return any(found) or self._done is not None or self.limit is not None

    def uneventful(self, quiet: Quiet) -> None:
        """Hear of operators with whose results nothing is wrong."""
        if self._follows:
            for event in quiet.events:
                self(event)
            return
        for part, count in quiet.arrays.items():
            self.checked[part] += count
        self.steps += len(quiet.passes)
        self.own += len([p for p in quiet.passes if not p.recorded])
        self._in_pass = quiet.in_pass
        self._loss_is_bad, self._inner, self._masks = False, 0, []

    def __call__(self, event: OpEvent | Begin | End) -> None:
        if self._done is not None:
            return
        if isinstance(event, Begin):
            self._begin(event)
        elif isinstance(event, End):
            self._end_pass()
        else:
            self._see(event)

    def story(self, unchecked: Iterable[str] = ()) -> NanStory:
        """Return what was found so far."""
        for birth, _, (_, advice) in self._unread:
            birth.advice = advice
        births = self._done
        if births is None:
            births = self._settle()
        births, left_out = self._scales.settle(births)
        self.victims = self._scales.victims or self.victims
        self.absorbed += left_out
        return NanStory(
            births,
            self.absorbed,
            self.intended,
            self.carriers if births else 0,
            list(self.victims) if births else [],
            self.checked,
            list(unchecked),
            self.steps,
        )

    # -- the pass -------------------------------------------------------------------------------------------------

    def _begin(self, event: Begin) -> None:
        if self.limit is not None and self.own >= self.limit:
            self._done = []
            return
        self.steps += 1
        self.own += not event.recorded
        self._in_pass = True
        self._pass_at = event.loc
        bad = [r for r in event.roots if self._is_bad(r)]
        if event.roots or event.names:
            self._loss_is_bad = bool(bad) or not self._bad_names.isdisjoint(event.names)
        else:
            self._loss_is_bad = bool(self._open)
        if self._loss_is_bad:
            self._blame_for_loss(bad)
        else:
            self._absorb(self._open)
        self._inner = len(self._open)
        self._masks = []

    def _blame_for_loss(self, bad: Sequence[Any]) -> None:
        """Note that a bad loss comes of the births that are open, or of the first that was a suspect."""
        if not self._open:
            self._open, self._suspects = self._suspects[:1], []
        self._keep_those_of(bad)
        for birth in self._open:
            birth.loss = True

    def _keep_those_of(self, bad: Sequence[Any]) -> None:
        """Absorb the births that a bad loss does not come of, where it is known which those are."""
        # By identity: two births of the same line and step are equal in every field.
        known = {identity(birth) for root in bad for birth in self._carried.births_of(root)}
        if known.isdisjoint(map(identity, self._open)):
            return
        others, self._open = _divide(self._open, lambda b: b.part == FORWARD and identity(b) not in known)
        self._absorb(others)

    def end(self, left: Sequence[Any], raised: bool = False) -> None:
        """The program has come to its end; what it computed after its last pass counts if something left comes of it.

        Args:
            left: the losses and parameters that it leaves and whose numbers are bad.
            raised: whether it ended with an error, which bad numbers may be the reason for.
        """
        if self._done is not None or raised or not self.steps or self._in_pass:
            return
        after, rest = _divide(self._open, lambda b: b.part == FORWARD)
        births = self._find_births(left, after)
        for birth in births:
            birth.loss = True
        wanted = {identity(b) for b in births}
        _, self.absorbed = _divide(self.absorbed, lambda b: identity(b) in wanted)
        _, others = _divide(after, lambda b: identity(b) in wanted)
        self._absorb(others)
        self._open = sorted([*births, *others, *rest], key=lambda b: b.step)

    def _find_births(self, left: Sequence[Any], after: Sequence[Birth]) -> Sequence[Birth]:
        """Return the births that bad numbers come of: as far as nothing is known of that, the first of those *after*
        the last pass, or of the suspects.
        """
        births = list({identity(b): b for array in left for b in self._carried.births_of(array)}.values())
        return births if births or not left else after[:1] or self._suspects[:1]

    def _is_bad(self, array: Any) -> bool:
        """Return whether an array holds bad numbers that somebody has written."""
        return bool(self._kinds(array)) and not self._carried.is_unwritten(array)

    def _end_pass(self) -> None:
        """A pass is over: what was born in it counts if a gradient is bad."""
        self._in_pass = False
        self._lines, self._nth = {}, {}
        if self._scales.takes(self._open, self.victims, self._loss_is_bad):
            self._open, self._suspects, self.victims = [], [], {}
            self._bad_names.clear()
        elif self._loss_is_bad or self.victims:
            self._done = self._settle()
        else:
            self._absorb(self._open)
            if self._open:
                self._done = list(self._open)

    def _settle(self) -> list[Birth]:
        if self._in_pass and not (self._loss_is_bad or self.victims):
            self._absorb(self._open)
        if not self._in_pass and not self.steps:
            return list(self._open)  # forward alone was seen
        if not self._open and (self._loss_is_bad or self.victims):
            self._open = self._suspects[:1]
        return list(self._open)

    def _absorb(self, births: list[Birth]) -> None:
        # Finite numbers are never absorbed: whoever asks for them wants to see them.
        shown = [b for b in births if b.kind not in _WORST]
        self.absorbed += [b for b in births if b.kind in _WORST]
        births[:] = shown

    # -- one operator ---------------------------------------------------------------------------------------------

    def _see(self, event: OpEvent) -> None:
        if event.type in _MASKING and event.part == BACKWARD:
            self._masks.append((event.type.removesuffix("_grad"), event.loc))
        begun = len(self._open)
        depth = len(event.inside) or int(event.nested)
        if event.part == FORWARD:
            self._see_forward(event, depth)
        else:
            self._see_results(event, depth)
        if self._bad_inside:
            self._bad_inside.pop(depth + 1, None)
        if event.part == BACKWARD and not event.nested:
            if event.recorded and not event.contains and len(self._open) > begun:
                # The rule's own operators, computed on tensors just before, are part of this one.
                del self._open[self._inner : begun]
            self._inner = len(self._open)

    def _see_forward(self, event: OpEvent, depth: int) -> None:
        if type(event.origin) is int:
            line = (event.type, event.loc[:1])
            self._lines[line] = self._nth[event.origin] = self._lines.get(line, 0) + 1
        self._see_results(event, depth)
        self._makers.note(event)
        if self._unread:
            self._unread = [waits for waits in self._unread if not _reads(event, waits)]

    def _see_results(self, event: OpEvent, depth: int) -> None:
        nobodys: bool | None = None
        for value in event.outputs:
            array = magnitudes.plain(value.array)
            if not magnitudes.holds_numbers(array):
                continue
            self.checked[event.part] += 1
            wrong = magnitudes.masks(array, self.big, self.subnormal)
            if wrong and event.part == FORWARD:
                nobodys = self._carried.leave(event) if nobodys is None else nobodys
                if nobodys:
                    continue
            if value.name is not None:
                (self._bad_names.add if wrong else self._bad_names.discard)(value.name)
            if wrong:
                self._judge(event, value, array, wrong)
                self._carry(event, value.array)
                self._bad_inside.setdefault(depth, set()).update(wrong)

    def _carry(self, event: OpEvent, array: Any) -> None:
        """Remember the births that bad numbers come of: those of what was read, or the one that was just noted."""
        read = [v.array for v in event.inputs]
        births = [b for a in read for b in self._carried.births_of(a)]
        for b in (*self._open, *self._suspects):
            outside = any(b.origin is a for a in read)
            if outside or (type(b.origin) is type(event.origin) and b.origin == event.origin):
                births.append(b)
        self._carried.note(array, births)

    def _judge(self, event: OpEvent, value: SlotArray, array: np.ndarray[Any, Any], wrong: dict[str, Any]) -> None:
        kind = next(k for k in KINDS if k in wrong)
        seen = Sighting(kind, event, value, array, wrong[kind], self._came(event))
        self._note_victim(seen)
        if self._was_told_inside(seen):
            self.carriers += 1
        elif seen.spreads:
            self._spread(seen)
        elif seen.was_there:
            if not self._open and kind in seen.came:
                self._note_outside(event, kind)
            self.carriers += 1
        elif self._is_born_in_forward(event):
            self.carriers += 1  # differentiated where its value was born bad
        elif kind == INF and _writes_infinity(event):
            birth = self._birth(seen)
            birth.cause = "written on purpose"
            self.intended.append(birth)
            self._suspects.append(birth)
        else:
            self._born(seen)

    def _note_victim(self, seen: Sighting) -> None:
        """Note a bad gradient that a pass ends in."""
        value = seen.value
        is_gradient = seen.kind in _WORST and seen.event.part == BACKWARD
        if is_gradient and value.name is not None and self._ends(value):
            self.victims.setdefault(names.grad(names.forward(value.name)))

    def _is_born_in_forward(self, event: OpEvent) -> bool:
        """Return whether the operator that *event* differentiates gave birth to bad numbers."""
        return any(b.part == FORWARD and b.origin == _forward_of(event) for b in self._open)

    def _was_told_inside(self, seen: Sighting) -> bool:
        """Return whether an operator in the block of this one, or in the user's rule, was judged for these numbers."""
        event = seen.event
        if not event.contains:
            return False
        within = self._bad_inside.get(len(event.inside) + 1, ())
        return seen.kind in within or (seen.kind == NAN and INF in within)

    def _spread(self, seen: Sighting) -> None:
        """NaN or infinity where NaN or infinity was read."""
        if not self._open:
            if seen.turns or explaining.has_empty_row(seen.event, seen.bad):
                self._born(seen)  # out of infinities that were meant
                return
            self._note_outside(seen.event, NAN if NAN in seen.came else INF)
        elif seen.turns and self._open[0].kind == INF and self._open[0].turned is None:
            self._open[0].turned = (seen.event.type, seen.event.loc)
        self.carriers += 1

    def _ends(self, value: SlotArray) -> bool:
        """Return whether a gradient ends here: at a leaf, or at a parameter's variable."""
        place = value.place
        if place is None:
            return False
        if not hasattr(place, "block"):
            return True
        of = None if names.is_part(place.name) else place.block.vars.get(names.forward(place.name))
        return of is not None and (of.is_parameter or (of.is_data and not of.stop_gradient))

    def _came(self, event: OpEvent) -> frozenset[str]:
        """The kinds that were there before: in what arrived, and in forward values if they reached the loss."""
        if event.part == BACKWARD and not self._loss_is_bad:
            read = [v for v in event.inputs if v.is_gradient]
            if not read:  # rules that are written as ordinary operators
                read = event.inputs
        else:
            read = event.inputs
        kinds: frozenset[str] = frozenset()
        for v in read:
            if not self._carried.is_unwritten(v.array):
                kinds |= self._kinds(v.array)
        return kinds

    def _kinds(self, array: Any) -> frozenset[str]:
        return magnitudes.kinds(array, self.big, self.subnormal)

    def _note_outside(self, event: OpEvent, kind: str) -> None:
        """Something bad is read that no operator made: it came in with the data or by other means."""
        seen = self._find_bad_operand(event, kind)
        if seen is None:
            return
        v = seen.value
        if any(b.origin is v.array or (b.name == v.name and b.name) for b in (*self._suspects, *self.intended)):
            return
        birth = self._birth(seen)
        birth.part, birth.origin = DATA, v.array
        birth.loc = getattr(v.place, "made_at", event.loc) or event.loc
        birth.cause = f"no operator made it: {event.type} reads it as it came in" + self._describe_factor(event)
        birth.advice = "look at the data, and at what is computed outside of operators (NumPy, set_value)"
        if event.part == BACKWARD and self._pass_at and v.slot.endswith("@GRAD"):
            birth.loc = self._pass_at
            birth.cause = "the gradient that backward was given here is not finite"
            birth.advice = ""
        (self._suspects if kind == INF else self._open).append(birth)

    def _find_bad_operand(self, event: OpEvent, kind: str) -> Sighting | None:
        """Return the first operand with numbers of that kind which somebody has written."""
        for v in event.inputs:
            array = magnitudes.plain(v.array)
            wrong = magnitudes.masks(array, self.big, self.subnormal)
            if kind in wrong and not self._carried.is_unwritten(v.array):
                return Sighting(kind, event, v, array, wrong[kind])
        return None

    def _birth(self, seen: Sighting) -> Birth:
        event, value, array = seen.event, seen.value, seen.array
        return Birth(
            seen.kind,
            event.part,
            event.type,
            event.origin,
            value.slot,
            value.name,
            int(seen.bad.sum()),
            array.size,
            tuple(array.shape),
            array.dtype.name,
            event.loc,
            max(self.steps, 1) if event.part != FORWARD else self.steps + 1,
            inside=event.inside,
            nth=self._nth.get(event.origin if type(event.origin) is int else getattr(event.origin, "key", None), 1),
        )

    def _born(self, seen: Sighting) -> None:
        birth = self._birth(seen)
        event, kind = seen.event, seen.kind
        if self._born_in is not None and self._born_in[0] is event and self._born_in[1] == kind:
            self.carriers += 1  # one operator, one birth
            return
        self._born_in = event, kind
        if kind in _WORST:
            birth = self._explain(seen, birth)
        else:
            sizes = np.abs(magnitudes.wide(seen.array)[seen.bad])
            size = float(sizes.max() if kind == magnitudes.OVERFLOW else sizes.min())
            birth.cause = f"{'largest' if kind == magnitudes.OVERFLOW else 'smallest'} size {size:.4g}"
        self._open.append(birth)

    def _explain(self, seen: Sighting, birth: Birth) -> Birth:
        """Explain a birth of NaN or infinity; return it, or the earlier one that its numbers come of."""
        event = seen.event
        why = explaining.explain(event, seen.bad, seen.array.dtype, seen.kind, self._makers)
        birth.cause, birth.advice = why.text + self._describe_factor(event), why.advice
        if why.unread is not None:
            self._unread.append((birth, seen.value.array, why.unread))
        earlier = self._find_absorbed(event)
        if earlier is not None:
            self.carriers += 1
            if seen.kind == NAN and earlier.kind == INF:
                earlier.turned = (event.type, event.loc)
            birth = earlier
        if why.masked and self._masks:
            birth.masked_by = self._masks[-1]
        return birth

    def _describe_factor(self, event: OpEvent) -> str:
        """Return the words about an enormous or tiny constant factor on the way to what an operator reads."""
        makers = (self._makers.find(v.array) for v in event.inputs)
        factor = next((m.factor for m in makers if m is not None and m.factor is not None), None)
        if factor is None:
            return ""
        return f"; a constant factor of {factor[0]:.3g} is on the way there, {source.short(factor[1])}"

    def _find_absorbed(self, event: OpEvent) -> Birth | None:
        """The birth that did not reach the loss but whose values a gradient rule reads: it counts after all."""
        if event.part != BACKWARD:
            return None
        kinds: frozenset[str] = frozenset()
        for v in event.inputs:
            if not v.is_gradient:
                kinds |= self._kinds(v.array)
        for birth in self.absorbed:
            if birth.part == FORWARD and birth.step == self.steps and birth.kind in kinds:
                self.absorbed.remove(birth)
                return birth
        return None


def _divide(births: Iterable[Birth], test: Callable[[Birth], bool]) -> tuple[list[Birth], list[Birth]]:
    """Return the births that pass a test, and the others, each in order."""
    passing: list[Birth] = []
    others: list[Birth] = []
    for birth in births:
        (passing if test(birth) else others).append(birth)
    return passing, others


def _reads(event: OpEvent, waits: tuple[Birth, Any, causes.Unread]) -> bool:
    """Return whether *event* reads what was born, and is one of the operators that are waited for."""
    _, array, (test, _) = waits
    return any(v.array is array for v in event.inputs) and test(event)


def _forward_of(event: OpEvent) -> Any:
    """The origin of the operator that the event differentiates."""
    if event.part != BACKWARD:
        return None
    return event.origin.origin if isinstance(event.origin, Operator) else getattr(event.origin, "key", None)


def _writes_infinity(event: OpEvent) -> bool:
    """Return whether an attribute of the operator is infinite."""
    return any(_infinite(v) for v in event.attrs.values())


def _infinite(value: Any) -> bool:
    if isinstance(value, str):
        return value.lstrip("+-").lower() in ("inf", "infinity")
    if isinstance(value, (list, tuple)):
        return any(map(_infinite, value))
    return isinstance(value, float) and math.isinf(value)

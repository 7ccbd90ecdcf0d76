"""Gradients at every call of one backward pass: those that arrive, and the part that each use of a value adds.

Arrays are looked at while the pass goes by and let go of. What stays are a few numbers per use, the whole gradients of
leaves, and the parts of the values that someone asked for.

What is zero is decided here, for every answer: 0 itself, and what rounding leaves of a sum whose terms cancel. With
every gradient goes how much of it may be rounding. Where an operator gives far less than arrives, it is asked again
with the same sizes and other signs: nothing then, and the operator is flat; as much as could be expected, and the terms
had cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic

from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...core.tensor_array import TensorArray
from .deaths import Death, Deaths
from .levels import SUSPECT, Level, dense, may_cancel, measure, scramble, smallest, sum_levels
from .reasons import C, Reasons, V
from .scene import ZeroScene
from .verdicts import Verdict
from .zeros import (
    CONSTANT_NEARBY,
    FACTORS,
    PRODUCTS,
    SHARES,
    Killer,
    cancels,
    constant,
    explain_cancelling,
    explain_hook,
    explain_nothing,
    killer,
    underflow,
    zero_factor,
)


@dataclass(eq=False, slots=True)  # not frozen: there is one for every operator
class Use(Generic[V, C]):
    """One use of a value by a call, and its part of the gradient.

    Attributes:
        type: of the operator.
        onto: what the call made of it.
        position: the value's position among what the call read.
        level: of the part; None where the call gave none.
        killer: why it is zero although a gradient arrives at the call; None if it is not, or none arrives.
        dead: whether it is zero, or rounding errors.
        array: the part itself, for values that were asked for.
        inside: of a call that runs a block: the reasons and slopes of the block, and what made the part zero there.
        parts: of a call that runs a block, for values that were asked for: the uses in the block, one for each call.
        factor: what multiplies by zero here, whether or not a gradient arrives.
        flat: what gives zeros whatever arrives: a clip far out of its range, steps, a cast to integers.
        zero: the value that is zero, where it is one that the call reads.
        rule: where the user's program says what the gradient of the call is, if it does.
        beside: whether the call gives another operand a gradient that is not zero, of more elements than this one.
        empty: whether the value has no elements.
        rounds: of a loop, how large what goes from round to round is after each, the last round first.
    """

    call: C
    type: str
    onto: tuple[V, ...]
    position: int
    level: Level | None
    killer: Killer | None
    dead: bool
    array: Any = None
    inside: Blame[V, C] | None = None
    parts: tuple[Use[V, C], ...] = ()
    factor: Killer | None = None
    flat: Killer | None = None
    zero: V | None = None
    rule: Location = NOWHERE
    beside: bool = False
    empty: bool = False
    rounds: Sequence[float] = ()

    @property
    def norm(self) -> float | None:
        """Of the part; None where the call gave none."""
        return None if self.level is None else self.level.norm


@dataclass(eq=False, slots=True)  # not frozen: there is one for every operator
class Visit(Generic[V, C]):
    """One call as a backward pass comes by.

    Attributes:
        reads, slots: the values, and the slot of each.
        arriving: by what the call made, the gradient that arrived there; None where none did.
        given: by *reads*, the gradient that the call gave; None where none was wanted or given.
        wanted: by *reads*, whether one was wanted.
        inside: gives the forward arrays that the rule reads, inputs and outputs by slot.
        again: gives what the call gives if something else arrives; None where it cannot be asked.
        blame: of a call that runs a block: gives by position what made a gradient zero, and where in the block.
        parts: likewise, gives the uses in the block.
        rule: where the user's program says what the gradient of the call is, if it does.
        reach: the least and the greatest element of the first read, where they are known beside what is kept.
        rounds: of a loop, how large what goes from round to round is after each, the last round first.
        hooked: of what the call made, that which has hooks on its gradient, and where the last of them returns.
        flushed: whether numbers that are too small for full precision became 0.
    """

    call: C
    type: str
    attrs: Mapping[str, Any]
    reads: Sequence[V | None]
    slots: Sequence[str]
    arriving: Mapping[V, Any]
    given: Sequence[Any]
    wanted: Sequence[bool]
    inside: Callable[[], tuple[Mapping[str, Any], Mapping[str, Any]]]
    again: Callable[[Mapping[V, Any]], Sequence[Any]] | None = None
    blame: Callable[[int], tuple[Killer, Blame[V, C] | None]] | None = None
    parts: Callable[[int], tuple[Use[V, C], ...]] | None = None
    rule: Location = NOWHERE
    reach: tuple[float, float] | None = None
    rounds: Sequence[float] = ()
    hooked: Mapping[V, Location] | None = None
    flushed: bool = False


@dataclass(eq=False, slots=True)  # not frozen: there is one for every operator
class MakingCall(Generic[V, C]):
    """A call that gradients came to, seen from what it made.

    Attributes:
        inside: gives the forward arrays that the rule reads, inputs and outputs by slot.
    """

    call: C
    type: str
    attrs: Mapping[str, Any]
    reads: Sequence[V | None]
    slots: Sequence[str]
    inside: Callable[[], tuple[Mapping[str, Any], Mapping[str, Any]]]

    def operand(self, position: int) -> Any:
        """Return what it read; None where that is not kept."""
        return self.inside()[0].get(self.slots[position])


@dataclass(frozen=True, slots=True)
class Blame(Generic[V, C]):
    """The place in the block of a call where a gradient became zero."""

    reasons: Reasons[V, C]
    slopes: Slopes[V, C]
    death: Death[V, C]


class Slopes(Generic[V, C]):
    """The uses of every value; filled by :meth:`visit`, in the order of a backward pass.

    Args:
        targets: the values that the pass starts from.
        keep: the values whose parts are kept as arrays.

    Attributes:
        levels: of the whole gradient of every value whose maker came by.
        made: the maker of each of these.
        sums: the whole gradient of what no call has made so far; what a call made is dropped when the pass comes by.
    """

    def __init__(self, targets: Iterable[V], keep: Collection[V] = ()) -> None:
        self.targets = set(targets)
        self.keep = set(keep)
        self.uses: dict[V, list[Use[V, C]]] = {}
        self.levels: dict[V, Level] = {}
        self.sums: dict[V, Any] = {}
        self.made: dict[V, MakingCall[V, C]] = {}
        self._zero_by: dict[V, V] = {}
        """What a call made -> the value that it read and that is 0 everywhere, which makes the result 0."""
        self._constant: dict[int, tuple[V, Killer]] = {}
        """By the identity of a call that gives the same whatever it reads: what it reads, and what is said of it."""
        self._gone: set[V] = set()
        """What has a gradient in each round of a block, and has none any more."""
        self._parts: dict[V, list[Level]] = {}
        """Of the gradients that have not arrived yet, the levels of what was added up so far."""

    def visit(self, now: Visit[V, C]) -> None:
        """Take note of one call."""
        maker = MakingCall(now.call, now.type, now.attrs, now.reads, now.slots, now.inside)
        arrived = []
        for w, g in now.arriving.items():
            self.made[w] = maker
            if now.hooked and w in now.hooked:
                self._note_hooks(w, g, now.hooked[w])
            if g is not None:
                arrived.append(self._note_arrival(w, g))
        look = _Look(now, arrived, self.uses)
        if now.type in SHARES and now.reads[0] is not None:
            always = look.constant()
            if always is not None:
                self._constant[identity(now.call)] = now.reads[0], always
        uses = [(v, self._use(look, i, v)) for i, v in enumerate(now.reads) if v is not None and now.wanted[i]]
        if len(uses) > 1:
            live = max([u.level.elements for _, u in uses if u.level is not None and not u.dead], default=0)
            for _, use in uses:
                use.beside = use.level is not None and use.level.elements < live
        for v, use in uses:
            self.uses.setdefault(v, []).append(use)
            g = now.given[use.position]
            if g is not None:
                before = self.sums.get(v)
                part = g if isinstance(g, TensorArray) else dense(g)
                self.sums[v] = part if before is None else before + part
            if use.level is not None:
                self._parts.setdefault(v, []).append(use.level.doubt_by(math.inf) if use.dead else use.level)

    def _note_hooks(self, w: V, g: Any, place: Location) -> None:
        """Take note of hooks on the gradient of *w*, which have made *g* of what its uses gave."""
        parts = self._parts.get(w)
        if g is None or not parts:
            return
        level = measure(g)
        if level.largest or not any(part.largest for part in parts):
            self._parts[w] = [level] if len(parts) == 1 and level.largest != parts[0].largest else parts
            return
        self._parts[w] = [level]
        self.uses[w] = [
            replace(use, level=level, killer=explain_hook(), dead=True, rule=place) for use in self.uses.get(w, ())
        ]

    def _note_arrival(self, w: V, g: Any) -> Level:
        """The whole gradient at *w*, which the call made."""
        if w not in self.keep:
            self.sums.pop(w, None)
        level = self.levels[w] = self._level(self._parts.pop(w, ()), g)
        return level.doubt_by(0.0) if w in self.targets else level

    def _level(self, parts: Sequence[Level], g: Any) -> Level:
        """The level of a sum of parts; what has none was there before the pass."""
        if len(parts) == 1:
            return parts[0]
        return sum_levels(parts, g)

    def _use(self, look: _Look[V, C], i: int, v: V) -> Use[V, C]:
        """Return what one operand of a call gets."""
        now = look.now
        g = now.given[i]
        level = None if g is None else look.level(i)
        cause, inside = look.cause(i, level)
        factor = look.factor(i) if level is None or not level.largest else None
        source = cause if factor is None else factor
        zero = None if source is None or source.culprit is None else now.reads[source.culprit]
        if zero is not None:
            self._zero_by.update(dict.fromkeys(now.arriving, zero))
        part = dense(g).copy() if g is not None and v in self.keep else None
        parts = () if now.parts is None or v not in self.keep else now.parts(i)
        dead = not look.alive or cause is not None
        onto = tuple(now.arriving)
        return Use(
            now.call,
            now.type,
            onto,
            i,
            level,
            cause,
            dead,
            part,
            inside,
            parts,
            factor,
            look.find_flat(i, level),
            zero,
            now.rule,
            empty=level is not None and not level.elements,
            rounds=now.rounds,
        )

    def first_zero(self, v: V) -> V:
        """Of the values that are 0 because another one is, from *v* backwards, the first."""
        way = []
        while v in self._zero_by:
            way.append(v)
            v = self._zero_by[v]
        self._zero_by.update(dict.fromkeys(way, v))  # the next question walks over it at once
        return v

    @contextmanager
    def another_round(self, starts: Collection[V]) -> Iterator[None]:
        """Inside, the pass goes through a block once more.

        What is made in a round, and what it starts with, has a gradient in each round. Of these the uses are told that
        decide the last of them: those of the round, or where nothing comes there any more, of the round that made it
        zero. Of all else the parts of all rounds are added up.

        Args:
            starts: the values that a round starts with.
        """
        before, self.uses = self.uses, {}
        try:
            yield
        finally:
            for v, uses in before.items():
                now = self.uses.get(v, [])
                if v not in starts and v not in self.made:
                    self.uses[v] = uses + now
                elif not now or (v in self._gone and all(u.dead and u.killer is None for u in now)):
                    self.uses[v] = uses
            self._gone = {v for v in self.uses if self._is_gone(v, starts)}

    def _is_gone(self, v: V, starts: Collection[V]) -> bool:
        """Return whether the gradient of *v*, which has one in each round, has become zero."""
        if v not in starts:
            return v in self.levels and self.levels[v].dead
        g = self.sums.get(v)
        return g is None or not measure(g).largest

    # -- after the pass -----------------------------------------------------------------------------------------------

    def is_dead(self, v: V) -> bool:
        """Return whether the gradient of the leaf *v* is zero, or None."""
        return v not in self.sums or self.level(v).dead

    def level(self, v: V) -> Level:
        """Of the whole gradient of a leaf."""
        level = self.levels.get(v)
        if level is None:
            level = self.levels[v] = self._level(self._parts.get(v, ()), self.sums[v])
        return level

    def death(self, v: V) -> Death[V, C] | None:
        """Return where the gradient of *v*, which is zero, became zero: the nearest such place.

        What is out of range because it is constant is told where it becomes constant.
        """
        death = self._deaths.find(v)
        if death is None or death.killer is None or death.killer.verdict is not Verdict.CLIPPED:
            return death
        for i, call in enumerate(death.way if self._constant else ()):
            value, always = self._constant.get(identity(call), (None, None))
            if value is not None and always is not None:
                use = next((u for u in self.uses.get(value, ()) if u.call is call), None)
                return Death(always, value, use, death.way[: i + 1])
        return death

    @cached_property
    def _deaths(self) -> Deaths[V, C]:
        return Deaths(self.uses)


class _Look(Generic[V, C]):
    """A call, looked at once for all that it reads.

    Args:
        arriving: the levels of the gradients that arrive at it.
        uses: of what it made, by whom.
    """

    def __init__(self, now: Visit[V, C], arriving: Iterable[Level], uses: Mapping[V, Sequence[Use[V, C]]]) -> None:
        self.now = now
        self._uses = uses
        self.strongest, self.doubt, self.size = 0.0, 0.0, 0
        live = False
        for level in arriving:
            if not level.dead:
                live = True
                self.strongest = max(self.strongest, level.largest)
                self.doubt = max(self.doubt, level.doubt)
                self.size = max(self.size, level.elements)
        self.alive = self.strongest > 0.0
        self.reading = live and math.isfinite(self.strongest)
        """Whether sizes can be compared."""

    @cached_property
    def _arrays(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return self.now.inside()

    @cached_property
    def _guess_levels(self) -> Sequence[Level | None]:
        """Return what the call gives, in units of what arrives, if that has the same sizes and other signs."""
        now = self.now
        if not self.reading:
            return [None] * len(now.given)
        if now.again is None:
            return [self._guess_bias(i) for i in range(len(now.given))]
        probe = {w: None if g is None else scramble(g, self.strongest) for w, g in now.arriving.items()}
        return [None if g is None else measure(g) for g in now.again(probe)]

    def _guess_bias(self, i: int) -> Level | None:
        """Return the same of a bias, which gets sums of what arrives, whatever the operator is; None of all else."""
        g = self.now.given[i]
        if g is None or self.now.slots[i].lower() != "bias":
            return None
        level = measure(g)
        return level._replace(largest=math.sqrt(self.size / level.elements)) if level.elements else None

    def level(self, i: int) -> Level:
        """Of what the call gives, with the doubt that what arrives passes on."""
        now = self.now
        level = measure(now.given[i])
        if not self.reading or not level.largest:
            return level
        share = max(self.doubt / self.strongest, level.doubt / level.largest)
        expected = self._guess_levels[i] if self._is_suspect(level) else None
        terms = 0.0 if expected is None else expected.largest * self.strongest
        # Less than that is as small as the operator makes things, and so is what rounding left of it.
        return level.doubt_by(share * (terms if may_cancel(level, terms, now.given[i]) else level.largest))

    def _is_suspect(self, level: Level) -> bool:
        """Return whether the terms of what the call gives may have cancelled."""
        return level.largest <= SUSPECT * self.strongest and (cancels(self.now.type) or self._adds_up(level))

    def cause(self, i: int, level: Level | None) -> tuple[Killer | None, Blame[V, C] | None]:
        """Why an operand gets nothing although something arrives."""
        now = self.now
        if not self.alive or (level is not None and not level.dead):
            return None, None
        if now.blame is not None:
            return now.blame(i)
        if level is not None and not level.elements:
            return explain_nothing(now.type), None
        expected = None if level is None else self._guess_levels[i]
        if level is None or expected is None or not expected.largest:
            return killer(self._scene(i)), None
        if not level.largest and expected.largest * self.strongest < 2 * smallest(now.given[i], now.flushed):
            return underflow(now.type), None
        return (explain_cancelling if self._adds_up(level) else killer)(self._scene(i)), None

    def _adds_up(self, level: Level) -> bool:
        """Return whether what the call gives is sums of what arrives, and no difference that has a name."""
        type_ = self.now.type
        return not cancels(type_) and (type_ in PRODUCTS or level.elements < self.size)

    def constant(self) -> Killer | None:
        """Return the cause of a zero at the call if it gives the same whatever it reads."""
        return constant(self._scene(0))

    def factor(self, i: int) -> Killer | None:
        """Return what multiplies by zero, whether or not something arrives."""
        if self.now.blame is not None or self.now.type not in FACTORS:
            return None
        return zero_factor(self._scene(i, 0.0, True))

    def find_flat(self, i: int, level: Level | None) -> Killer | None:
        """Return the cause of a zero that other values near these would get as well, whatever arrives.

        A cast to integers is flat, and gives what it rounds to whole numbers.
        """
        if self.now.type not in CONSTANT_NEARBY or level is None or (level.largest and self.now.type != "cast"):
            return None
        cause = killer(self._scene(i))
        if not cause.certain:
            return None
        return replace(cause, said=cause.said.replace("0", "whole numbers")) if level.largest else cause

    def _scene(self, i: int, strongest: float | None = None, given: bool | None = None) -> ZeroScene:
        now = self.now
        return ZeroScene(
            now.type,
            now.attrs,
            *self._arrays,
            now.slots[i],
            tuple(now.slots),
            self.strongest if strongest is None else strongest,
            now.given[i] is not None if given is None else given,
            frozenset([use.type for w in now.arriving for use in self._uses.get(w, ())]),
            now.reach,
        )

"""What one backward pass gives at every call: the gradients that arrive, and what each use of a value adds to them.

Arrays are looked at while the pass goes by and let go of. What stays are a few numbers per use, the whole gradients of
leaves, and the parts of the values that someone asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from ...core.source import NOWHERE, Location
from .reasons import C, Reasons, V
from .verdicts import Verdict
from .zeros import FACTORS, JOINS, SELECTS, Killer, Scene, cancels, killer, zero_factor

_NOISE = 32.0
"""Rounding errors, in units of the dtype's epsilon, below which a difference of larger parts counts as zero."""


@dataclass(frozen=True, slots=True)
class Use(Generic[V, C]):
    """One use of a value by a call, and its part of the gradient.

    Attributes:
        type: of the operator.
        onto: what the call made of it.
        position: the value's position among what the call read.
        largest, norm: of the part; None where the call gave none.
        killer: why it is zero although a gradient arrives at the call; None if it is not, or none arrives.
        dead: whether it is zero, or rounding errors.
        array: the part itself, for values that were asked for.
        inside: of a call that runs a block: the reasons and slopes of the block, and what made the part zero there.
        parts: of a call that runs a block, for values that were asked for: the uses in the block, one for each call.
        factor: what multiplies by zero here, whether or not a gradient arrives.
        zero: the value that is zero, where it is one that the call reads.
        rule: where the user's program says what the gradient of the call is, if it does.
    """

    call: C
    type: str
    onto: tuple[V, ...]
    position: int
    largest: float | None
    norm: float | None
    killer: Killer | None
    dead: bool
    array: Any = None
    inside: Blame[V, C] | None = None
    parts: tuple[Use[V, C], ...] = ()
    factor: Killer | None = None
    zero: V | None = None
    rule: Location = NOWHERE


@dataclass(frozen=True, slots=True)
class Visit(Generic[V, C]):
    """One call as a backward pass comes by.

    Attributes:
        reads, slots: the values, and the slot of each.
        arriving: by what the call made, the gradient that arrived there; None where none did.
        given: by *reads*, the gradient that the call gave; None where none was wanted or given.
        wanted: by *reads*, whether one was wanted.
        inside: gives the forward arrays that the rule reads, inputs and outputs by slot.
        blame: of a call that runs a block: gives by position what made a gradient zero, and where in the block.
        parts: likewise, gives the uses in the block.
        rule: where the user's program says what the gradient of the call is, if it does.
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
    blame: Callable[[int], tuple[Killer, Blame[V, C] | None]] | None = None
    parts: Callable[[int], tuple[Use[V, C], ...]] | None = None
    rule: Location = NOWHERE


@dataclass(frozen=True, slots=True)
class Death(Generic[V, C]):
    """Why the gradient of a value is zero.

    Attributes:
        value: where it becomes zero; the value itself where its parts cancel.
        use: the use that makes it zero; None where parts cancel.
        way: the calls from the value in question to there.
    """

    killer: Killer | None
    value: V
    use: Use[V, C] | None
    way: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Blame(Generic[V, C]):
    """Where in the block of a call a gradient became zero."""

    reasons: Reasons[V, C]
    slopes: Slopes[V, C]
    death: Death[V, C]


class Slopes(Generic[V, C]):
    """The uses of every value; filled by :meth:`visit`, in the order of a backward pass.

    Args:
        targets: the values that the pass starts from.
        keep: the values whose parts are kept as arrays.
    """

    def __init__(self, targets: Iterable[V], keep: Collection[V] = ()) -> None:
        self.targets = set(targets)
        self.keep = set(keep)
        self.uses: dict[V, list[Use[V, C]]] = {}
        self._zero_by: dict[V, V] = {}
        """What a call made -> the value that it read and that is 0 everywhere, which makes the result 0."""
        self.sums: dict[V, Any] = {}
        """The whole gradient of what no call has made so far; what a call made is dropped when the pass comes by."""

    def visit(self, now: Visit[V, C]) -> None:
        """Take note of one call."""
        strongest = 0.0
        for w, g in now.arriving.items():
            if w not in self.keep:
                self.sums.pop(w, None)
            if g is not None and (w in self.targets or not self._is_dead(w, g)):
                strongest = max(strongest, _largest(g))
        alive = strongest > 0.0
        scene: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None
        for i, (v, g) in enumerate(zip(now.reads, now.given, strict=True)):
            if v is None or not now.wanted[i]:
                continue
            largest = None if g is None else _largest(g)
            cause, inside = None, None
            if alive and now.blame is not None:
                if not largest:
                    cause, inside = now.blame(i)
            elif alive and (
                not largest or (cancels(now.type) and math.isfinite(strongest) and largest <= _noise(g) * strongest)
            ):
                scene = now.inside() if scene is None else scene
                slots = tuple(now.slots)
                cause = killer(Scene(now.type, now.attrs, *scene, slots[i], slots, strongest, g is not None))
            factor: Killer | None = None
            if not largest and now.blame is None and now.type in FACTORS:
                scene = now.inside() if scene is None else scene
                factor = zero_factor(Scene(now.type, now.attrs, *scene, now.slots[i], tuple(now.slots), 0.0, True))
            source = cause if factor is None else factor
            zero = None if source is None or source.culprit is None else now.reads[source.culprit]
            norm = None if g is None else norm_of(g)
            part = dense(g).copy() if g is not None and v in self.keep else None
            dead = not alive or cause is not None
            parts = () if now.parts is None or v not in self.keep else now.parts(i)
            onto = tuple(now.arriving)
            if zero is not None:
                self._zero_by.update(dict.fromkeys(onto, zero))
            use = Use(
                now.call, now.type, onto, i, largest, norm, cause, dead, part, inside, parts, factor, zero, now.rule
            )
            self.uses.setdefault(v, []).append(use)
            if g is not None:
                before = self.sums.get(v)
                self.sums[v] = dense(g) if before is None else before + dense(g)

    def first_zero(self, v: V) -> V:
        """Of the values that are 0 because another one is, from *v* backwards, the first."""
        while v in self._zero_by:
            v = self._zero_by[v]
        return v

    def _is_dead(self, v: V, g: Any) -> bool:
        uses = self.uses.get(v, ())
        if all(u.dead for u in uses) and uses:
            return True
        parts = [u.largest for u in uses if u.largest is not None and not u.dead]
        largest = _largest(g)
        most = max(parts, default=0.0)
        return largest == 0.0 or (len(parts) > 1 and math.isfinite(most) and largest <= _noise(g) * most)

    def is_dead(self, v: V) -> bool:
        """Whether the gradient of the leaf *v* is zero, or None."""
        return v not in self.sums or self._is_dead(v, self.sums[v])

    def death(self, v: V) -> Death[V, C] | None:
        """Where the gradient of *v*, which is zero, became zero: the nearest such place."""
        todo: list[tuple[V, tuple[C, ...]]] = [(v, ())]
        seen = {v}
        for value, way in todo:
            uses = self.uses.get(value, ())
            if any(not u.dead for u in uses):
                return Death(None, value, None, way)
            for u in uses:
                if u.killer is not None:
                    return self._selecting(u, way) or Death(u.killer, value, u, (*way, u.call))
                for w in u.onto:
                    if w not in seen:
                        seen.add(w)
                        todo.append((w, (*way, u.call) if len(way) < _WAY else way))
        return None

    def factors(self, v: V) -> Iterator[Death[V, C]]:
        """Where something multiplies by zero on the way from *v* to the targets, the nearest first."""
        todo: list[tuple[V, tuple[C, ...]]] = [(v, ())]
        seen = {v}
        for value, way in todo:
            for u in self.uses.get(value, ()):
                if u.factor is not None:
                    yield Death(u.factor, value, u, (*way, u.call))
                for w in u.onto:
                    if w not in seen:
                        seen.add(w)
                        todo.append((w, (*way, u.call) if len(way) < _WAY else way))

    def _selecting(self, use: Use[V, C], way: tuple[C, ...]) -> Death[V, C] | None:
        """Where the elements that a joining operator moved are left out, if that is what makes them zero."""
        if use.type not in JOINS:
            return None
        for w in use.onto:
            for later in self.uses.get(w, ()):
                if later.type in SELECTS:
                    chosen = Killer(Verdict.NOT_SELECTED, f"{later.type} takes no element of it on the way to the loss")
                    return Death(chosen, w, later, (*way, use.call, later.call))
        return None


_WAY = 64
"""Calls that are remembered of the way to the place where a gradient becomes zero."""


def norm_of(g: Any) -> float:
    """The root of the sum of squares."""
    return float(np.sqrt(np.square(dense(g).astype(np.float64)).sum()))


def dense(g: Any) -> np.ndarray[Any, Any]:
    """*g* as one array."""
    return np.asarray(g)


def _largest(g: Any) -> float:
    """The largest magnitude; infinity where there is something that is no number."""
    a = dense(g)
    if not a.size:
        return 0.0
    largest = float(np.abs(a).max())
    return largest if largest == largest else float("inf")


def _noise(g: Any) -> float:
    kind = dense(g).dtype
    return _NOISE * float(np.finfo(kind).eps) if kind.kind in "fc" else 0.0

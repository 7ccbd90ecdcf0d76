"""Places where gradients became zero: for every value the nearest one on its way to the loss, in one walk for all.

What is known of a value follows from what is known of the values that are made of it, so each is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from ...core.records import dataclass
from .reasons import C, V
from .verdicts import Verdict
from .zeros import JOINS, SELECTS, Killer

if TYPE_CHECKING:
    from .slopes import Use

T = TypeVar("T")

WAY = 64
"""Calls that are told of the way to a place."""


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
class _Step(Generic[V, C, T]):
    """The nearest place to a value.

    Attributes:
        distance: in calls.
        there: what is so, at the value *at*.
        use, onto: the use that leads on, and to which value; None at the place itself.
    """

    distance: int
    there: T
    at: V
    use: Use[V, C] | None = None
    onto: V | None = None


class Nearest(Generic[V, C, T]):
    """For values the nearest place on the way to the targets at which something is so.

    Args:
        uses: of every value.
        look: what is so at a value; None where nothing is.
    """

    def __init__(self, uses: Mapping[V, Sequence[Use[V, C]]], look: Callable[[V], T | None]) -> None:
        self._uses = uses
        self._look = look
        self._steps: dict[V, _Step[V, C, T] | None] = {}

    def find(self, value: V) -> tuple[T, V, tuple[C, ...]] | None:
        """Return what is so, at which value, and the calls that lead there; None if it is so nowhere."""
        step = self._step(value)
        if step is None:
            return None
        there, at, way = step.there, step.at, list[C]()
        while step is not None and step.use is not None and step.onto is not None and len(way) < WAY:
            way.append(step.use.call)
            step = self._steps[step.onto]
        return there, at, tuple(way)

    def _step(self, value: V) -> _Step[V, C, T] | None:
        steps, todo = self._steps, [value]
        while todo:
            v = todo[-1]
            if v in steps:
                todo.pop()
                continue
            there = self._look(v)
            if there is not None:
                steps[v] = _Step(0, there, v)
                continue
            pending = [w for _, w in self._onward(v) if w not in steps]
            if pending:
                todo += pending
                continue
            steps[v] = self._nearest(v)
        return steps[value]

    def _onward(self, value: V) -> Iterator[tuple[Use[V, C], V]]:
        for use in self._uses.get(value, ()):
            for onto in use.onto:
                yield use, onto

    def _nearest(self, value: V) -> _Step[V, C, T] | None:
        nearest: _Step[V, C, T] | None = None
        for use, onto in self._onward(value):
            step = self._steps[onto]
            if step is not None and (nearest is None or step.distance + 1 < nearest.distance):
                nearest = _Step(step.distance + 1, step.there, step.at, use, onto)
        return nearest


class Deaths(Generic[V, C]):
    """The places where gradients of values became zero, after a pass."""

    def __init__(self, uses: Mapping[V, Sequence[Use[V, C]]]) -> None:
        self._uses = uses
        self._nearest: Nearest[V, C, list[Use[V, C]]] = Nearest(uses, self._ends)

    def find(self, value: V) -> Death[V, C] | None:
        """Return where the gradient of *value*, which is zero, became zero: the nearest such place."""
        end = self._nearest.find(value)
        if end is None:
            return None
        uses, at, way = end
        if not uses:
            return Death(None, at, None, way)
        use = uses[0]
        return self._is_selecting(use, way) or Death(use.killer, at, use, (*way, use.call))

    def _ends(self, value: V) -> list[Use[V, C]] | None:
        """The use that makes the gradient of *value* zero; none of them where its parts cancel; None if no use does."""
        uses = self._uses.get(value, ())
        if any(not u.dead for u in uses):
            return []
        return next(([u] for u in uses if u.killer is not None), None)

    def _is_selecting(self, use: Use[V, C], way: tuple[C, ...]) -> Death[V, C] | None:
        """Return where the elements that a joining operator moved are left out, if that is what makes them zero."""
        if use.type not in JOINS:
            return None
        for w in use.onto:
            for later in self._uses.get(w, ()):
                if later.type in SELECTS:
                    chosen = Killer(Verdict.NOT_SELECTED, f"{later.type} takes no element of it on the way to the loss")
                    return Death(chosen, w, later, (*way, use.call, later.call))
        return None

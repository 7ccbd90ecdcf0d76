"""Terms of a loss that are computed from trained parameters and give no gradient to any of them.

A loss is taken apart along operators that add, scale and average. A term is what such an operator reads and another
one made. Where values lead from a trained parameter to the term and no gradient leads back, the term is a constant to
the training, whatever it was meant for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, Generic

from ...core.records import dataclass
from ...core.source import Location
from ...core.vocabulary import title
from .reasons import C, Reason, Reasons, V
from .slopes import Slopes, Use
from .verdicts import Verdict

SUMS: Final = frozenset(
    (
        *("elementwise_add", "elementwise_sub", "sum", "add_n", "reduce_sum", "reduce_mean", "mean", "scale"),
        *("concat", "stack", "assign", "cast", "reshape2", "squeeze2", "unsqueeze2", "flatten2"),
    )
)
"""Operators whose result is a sum of what they read, each times a number."""

PRODUCTS: Final = frozenset(("elementwise_mul", "elementwise_div"))
"""Operators that scale one operand where the other one is computed from no parameter."""


@dataclass(frozen=True, slots=True)
class LostTerm:
    """A term of a loss without a gradient.

    Attributes:
        name: what people call it, or the operator that made it.
        verdict: what became of its gradient.
        location: the user's line that cuts it off.
        parameters: names of the trained parameters that it is computed from.
        operator: what people call the operator that has no derivative; empty where another verdict holds.
    """

    name: str
    verdict: Verdict
    location: Location
    parameters: tuple[str, ...]
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Copy(Generic[V]):
    """Values that left the graph and came back.

    Attributes:
        value: what they are the values of.
        location: the line where they left.
    """

    value: V
    location: Location


class Terms(Generic[V, C]):
    """The terms of the losses of one backward pass.

    Args:
        reasons: of the pass.
        trained: by value the names of the parameters that the pass gives gradients to and that are updated by it.
        copy_of: returns what a value holds the plain values of; None for any other value.
    """

    def __init__(
        self, reasons: Reasons[V, C], trained: Mapping[V, str], copy_of: Callable[[V], Copy[V] | None]
    ) -> None:
        self._reasons = reasons
        self._trained = trained
        self._copy_of = copy_of
        self._maker: dict[V, tuple[C, Collection[V | None]]] = {}
        self._carries: set[V] = set(trained)
        """Values from which gradients come to a trained parameter."""
        self._holds: set[V] = set(trained)
        """Values that are computed from a trained parameter, by whatever way."""
        self.sums: list[C] = []
        """Calls that the losses were taken apart along, after :meth:`find_lost`."""
        self._parts: list[tuple[C, V]] = []
        """What these calls read and gradients come through."""
        self._walk()

    def _walk(self) -> None:
        reached = self._reasons.reached
        for call, read, written, passes, takes in reversed(list(self._reasons.flow.back())):
            held = [v for v in read if v is not None and self._is_held(v)]
            if not held:
                continue
            self._holds.update(written)
            self._maker.update((w, (call, read)) for w in written)
            if any(passed and v in self._carries for v, passed in zip(read, passes, strict=False)):
                self._carries.update(w for w, t in zip(written, takes, strict=False) if t and w in reached)

    def _is_held(self, value: V) -> bool:
        if value in self._holds:
            return True
        # What a call makes of a held value is held itself: only values without such a call may be copies.
        copy = self._copy_of(value)
        if copy is None or copy.value not in self._holds:
            return False
        self._holds.add(value)
        return True

    def find_lost(self) -> list[LostTerm]:
        """Return the terms that give no gradient, in the order in which they were made."""
        flow = self._reasons.flow
        todo, seen, lost = [v for v in self._reasons.asked if v in self._carries], set[V](), dict[V, None]()
        while todo:
            value = todo.pop()
            made = self._maker.get(value)
            if made is None or value in seen:
                continue
            seen.add(value)
            call, read = made
            held = list(dict.fromkeys(v for v in read if v is not None and v in self._holds))
            kind = flow.call_type(call)
            if kind not in SUMS and not (kind in PRODUCTS and len(held) == 1):
                continue
            self.sums.append(call)
            for v in held:
                if v in self._carries:
                    todo.append(v)
                    self._parts.append((call, v))
                else:
                    lost[v] = None
        return [self._term(v) for v in lost if not self._stands_in(v, seen)]

    def find_zero_terms(
        self, slopes: Slopes[V, C], is_fed: Callable[[V], bool] = lambda value: False
    ) -> Iterator[LostTerm]:
        """Yield the terms whose gradient is zero though one arrives at the sum, after :meth:`find_lost`.

        Args:
            slopes: of the same pass.
            is_fed: whether a run is fed a value: with another one the term may give gradients.
        """
        for call, value in self._parts:
            uses = [u for u in slopes.uses.get(value, ()) if u.call is call and _is_made_zero(u, slopes)]
            if uses and not any(u.zero is not None and is_fed(slopes.first_zero(u.zero)) for u in uses):
                place = self._reasons.flow.call_line(call)
                yield LostTerm(self._name(value), Verdict.TIMES_ZERO, place, tuple(self._parameters_behind(value)))

    def find_number(self, value: V, location: Location) -> LostTerm | None:
        """Return the term that is a number taken from *value* at a line; None without a trained parameter behind it."""
        if value not in self._holds:
            return None
        return LostTerm(self._name(value), Verdict.DETACHED, location, tuple(self._parameters_behind(value)))

    def _stands_in(self, value: V, terms: Collection[V]) -> bool:
        """Return whether a lost term is the difference to another term, whose gradient then stands in for its own.

        ``real + (metric - real).detach()`` has the value of the metric and the gradient of the other.
        """
        made = self._maker.get(value)
        if made is None:
            return False
        for v in made[1]:
            before = None if v is None else self._maker.get(v)
            if before is not None and self._reasons.flow.call_type(before[0]) == "elementwise_sub":
                return any(r in terms or (r in self._carries) for r in before[1])
        return False

    def _term(self, value: V) -> LostTerm:
        verdict, location, operator = self._end(value)
        return LostTerm(self._name(value), verdict, location, tuple(self._parameters_behind(value)), operator)

    def _end(self, value: V) -> tuple[Verdict, Location, str]:
        """Return what became of the gradient of a term, where, and by which operator: the first one that stopped it."""
        flow = self._reasons.flow
        while True:
            copy = None if value in self._maker else self._copy_of(value)
            if copy is not None:
                return Verdict.DETACHED, copy.location, ""
            cut = flow.stop(value)
            made = self._maker.get(value)
            held = [] if made is None else [v for v in made[1] if v is not None and v in self._holds]
            if made is None or not held:
                break
            is_own = cut is not None and (cut.verdict is not Verdict.STOP_GRADIENT or bool(cut.at))
            if is_own and not self._is_passed_on(made[0], held):
                break
            value = held[0]
        cut = cut or self._reasons.cuts.get(value)
        operator = "" if made is None else title(flow.call_type(made[0]))
        if cut is None:
            return Verdict.NON_DIFFERENTIABLE, flow.made_at(value), operator
        stopped = operator if cut.verdict is Verdict.NON_DIFFERENTIABLE else ""
        return cut.verdict, Reason(cut.verdict, value, flow, cut).location, stopped

    def _is_passed_on(self, call: C, held: Collection[V]) -> bool:
        """Return whether what a call makes stops gradients because all that it reads does."""
        flow = self._reasons.flow
        return flow.passes_stops_on(call) and all(flow.stop(v) is not None for v in held)

    def _name(self, value: V) -> str:
        """Return what people call a term, or what it is a copy of."""
        flow, todo = self._reasons.flow, value
        for _ in range(4):
            made = self._maker.get(todo)
            name = flow.name_or_empty(todo)
            if name or made is None:
                return name or flow.name(value)
            before = [v for v in made[1] if v is not None and v in self._holds]
            if len(before) != 1 or flow.call_type(made[0]) not in ("detach", "assign", "share_data", "cast"):
                return title(flow.call_type(made[0]))
            todo = before[0]
        return flow.name(value)

    def _parameters_behind(self, value: V) -> list[str]:
        """Return the names of the trained parameters that a value is computed from."""
        todo, seen = [value], set[V]()
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            made = self._maker.get(v)
            copy = self._copy_of(v) if made is None and v not in self._trained else None
            todo += [] if made is None else [r for r in made[1] if r is not None and r in self._holds]
            todo += [] if copy is None else [copy.value]
        return [name for v, name in self._trained.items() if v in seen]


def _is_made_zero(use: Use[V, C], slopes: Slopes[V, C]) -> bool:
    """Return whether a use gives zeros back though gradients arrive at it."""
    if use.level is None or use.level.largest:
        return False
    return any(slopes.levels[w].largest for w in use.onto if w in slopes.levels)

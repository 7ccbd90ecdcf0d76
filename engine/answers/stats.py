"""How healthy gradients are: sizes per parameter, per layer and per operator, and how they change with depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.result import Result
from ..core.source import Location
from ..view.graph import BACKWARD
from . import magnitudes
from .events import Begin, End, Inside, OpEvent

OK, NOT_FINITE, LARGE, SMALL, ZERO, NONE = "ok", "not finite", "large", "vanishing", "all zero", "no gradient"
VERDICTS = (NOT_FINITE, LARGE, SMALL, ZERO, NONE, OK)
"""Worst first."""

LARGEST = 1e4
"""A gradient of a larger norm is large."""
LARGEST_RATIO = 1e3
"""So is one that is that many times its parameter."""
SMALLEST_RATIO = 1e-8
"""A gradient that is a smaller part of its parameter vanishes: float32 does not even notice such an update."""
TREND = 3.0
"""Decades over which norms must rise or fall with depth, and in order, to be called a trend."""


@dataclass(frozen=True)
class Numbers:
    """What an array holds.

    Attributes:
        norm: root of the sum of squares; like the others but ``nonfinite``, of the finite elements. Sizes are NaN where
            no element is finite.
        largest: the largest size.
        decades: power of ten -> how many elements have a size of that order.
    """

    norm: float
    largest: float
    mean: float
    zeros: int
    nonfinite: int
    elements: int
    decades: dict[int, int] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Numbers]) -> Numbers:
        """The numbers of several arrays together, from those of each."""
        decades: dict[int, int] = {}
        for n in parts:
            for order, count in n.decades.items():
                decades[order] = decades.get(order, 0) + count
        elements = sum(n.elements for n in parts)
        sized = [n for n in parts if not math.isnan(n.norm)]
        count = sum(n.elements - n.nonfinite for n in sized)
        return cls(
            norm=math.hypot(*(n.norm for n in sized)) if sized else math.nan,
            largest=max((n.largest for n in sized), default=math.nan),
            mean=sum(n.mean * (n.elements - n.nonfinite) for n in sized) / max(count, 1) if sized else math.nan,
            zeros=sum(n.zeros for n in parts),
            nonfinite=sum(n.nonfinite for n in parts),
            elements=elements,
            decades=dict(sorted(decades.items())),
        )

    @classmethod
    def of(cls, *values: Any) -> Numbers:
        """The numbers in one array, or in several together; rows that a sparse gradient leaves out are zeros."""
        arrays = [magnitudes.plain(v) for v in values]
        total = sum(math.prod(v.shape) for v in values)
        flat = np.concatenate([magnitudes.wide(a).reshape(-1) for a in arrays]) if arrays else np.zeros(0)
        finite = flat[np.isfinite(flat)]
        sizes = np.abs(finite)
        largest = float(sizes.max(initial=0.0))
        scaled = sizes / largest if largest else sizes
        orders = np.floor(np.log10(sizes[sizes > 0])).astype(int)
        lowest = int(orders.min(initial=0))
        counts = np.bincount(orders - lowest).tolist()
        nothing = total > 0 and finite.size + total - flat.size == 0
        return cls(
            norm=math.nan if nothing else largest * float(np.sqrt(np.square(scaled).sum())),
            largest=math.nan if nothing else largest,
            mean=math.nan if nothing else float(finite.mean()) if finite.size else 0.0,
            zeros=int((finite == 0).sum()) + total - flat.size,
            nonfinite=int(flat.size - finite.size),
            elements=total,
            decades={lowest + i: c for i, c in enumerate(counts) if c},
        )


@dataclass
class Line:
    """A parameter, a layer or an operator.

    Attributes:
        gradient: None where none arrived; of an operator, of the gradients that it gives.
        weight: the norm of the parameter or of all parameters of the layer; None for operators.
        origin: the parameter's key, or the operator's origin (``events.py``).
        members: of a layer, its parameters.
        runs: of an operator in branches and loops, each of its runs, in the order of the forward pass.
    """

    name: str
    gradient: Numbers | None
    weight: float | None = None
    shape: tuple[int, ...] = ()
    origin: Any = None
    loc: Location = ()
    members: list[str] = field(default_factory=list)
    runs: list[tuple[Inside, Numbers]] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """The norm of the gradient in terms of the norm of the weight."""
        if self.gradient is None or not self.weight:
            return None
        return self.gradient.norm / self.weight

    @property
    def verdict(self) -> str:
        g, ratio = self.gradient, self.ratio
        if g is None:
            return NONE
        if g.nonfinite:
            return NOT_FINITE
        if g.elements and g.zeros == g.elements:
            return ZERO
        if g.norm > LARGEST or (ratio is not None and ratio > LARGEST_RATIO):
            return LARGE
        return SMALL if ratio is not None and ratio < SMALLEST_RATIO else OK


@dataclass(frozen=True)
class Trend:
    """How gradients change from the last layer to the first.

    Attributes:
        kind: vanishing or exploding.
        factor: per parameter on the way back.
        first, last: the names of the parameters at both ends.
    """

    kind: str
    factor: float
    first: str
    last: str


@dataclass
class StatsStory(Result):
    """The health of all gradients of one backward pass.

    Attributes:
        parameters: in the order of their first use.
        operators: gradient operators in the order of the run.
    """

    parameters: list[Line]
    operators: list[Line]

    @property
    def layers(self) -> list[Line]:
        """Parameters together that belong to one layer, by their names."""
        groups: dict[str, list[Line]] = {}
        for p in self.parameters:
            groups.setdefault(p.name.rpartition(".")[0] or p.name, []).append(p)
        return [_joined(name, lines) for name, lines in groups.items()]

    @property
    def trend(self) -> Trend | None:
        """Whether norms rise or fall with depth."""
        deep = [p for p in self.parameters if p.gradient is not None and len(p.shape) > 1 and p.gradient.norm > 0]
        if len(deep) < 4:
            return None
        logs = np.log10([p.gradient.norm for p in deep if p.gradient is not None])
        slope, _ = np.polyfit(np.arange(len(logs)), logs, 1)
        span = float(slope) * (len(logs) - 1)
        steady = abs(float(np.corrcoef(np.arange(len(logs)), logs)[0, 1])) > 0.9 if logs.std() > 0 else False
        if abs(span) < TREND or not steady:
            return None
        return Trend("vanishing" if span > 0 else "exploding", 10 ** float(-slope), deep[0].name, deep[-1].name)

    def worst(self, count: int, of: Sequence[Line] | None = None) -> list[Line]:
        """The lines to look at first."""
        lines = self.parameters if of is None else of

        def order(line: Line) -> tuple[int, float]:
            size = line.gradient.norm if line.gradient is not None else 0.0
            return VERDICTS.index(line.verdict), -abs(math.log10(size)) if size > 0 else 0.0

        return sorted(lines, key=order)[:count]

    def __str__(self) -> str:
        lines = [
            f"{p.name}: {p.verdict}" + (f", ‖g‖ {p.gradient.norm:.4g}" if p.gradient else "") for p in self.parameters
        ]
        return "\n".join(lines)


def _joined(name: str, lines: Sequence[Line]) -> Line:
    gradients = [p.gradient for p in lines if p.gradient is not None]
    weight = math.sqrt(sum((p.weight or 0.0) ** 2 for p in lines))
    members = [p.name for p in lines]
    if not gradients:
        return Line(name, None, weight, members=members)
    return Line(name, Numbers.joined(gradients), weight, members=members)


class Gatherer:
    """Listens to a run and keeps the numbers of what every gradient operator gives, not the arrays."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._repeated: dict[Any, Line] = {}

    def __call__(self, event: OpEvent | Begin | End) -> None:
        if not isinstance(event, OpEvent) or event.part != BACKWARD or (event.nested and not event.inside):
            return
        values = [v.array for v in event.outputs if magnitudes.holds_numbers(magnitudes.plain(v.array))]
        if not values:
            return
        line = self._repeated.get(event.origin) if event.inside else None
        if line is None:
            line = Line(event.type, None, origin=event.origin, loc=event.loc, shape=tuple(values[0].shape))
            self._lines.append(line)
        if event.inside:
            self._repeated[event.origin] = line
            line.runs.append((event.inside, Numbers.of(*values)))
        else:
            line.gradient = Numbers.of(*values)

    @property
    def operators(self) -> list[Line]:
        """A line for each operator, in the order of the run."""
        for line in self._repeated.values():
            line.runs.sort(key=lambda run: [r.number for r in run[0]])
            line.gradient = Numbers.joined([n for _, n in line.runs])
        return self._lines


def parameter(name: str, weight: Any, gradient: Any, origin: Any = None, loc: Location = ()) -> Line:
    """The line of a parameter."""
    return Line(
        name,
        None if gradient is None else Numbers.of(gradient),
        Numbers.of(weight).norm,
        tuple(weight.shape),
        origin,
        loc,
    )


def story(parameters: Iterable[Line], gatherer: Gatherer, name: Callable[[Line], str] | None = None) -> StatsStory:
    """The answer; *name* gives the names of operators."""
    operators = gatherer.operators
    for line in operators if name is not None else ():
        line.name = name(line)  # type: ignore[misc]
    return StatsStory(list(parameters), operators)

"""Health of gradients: sizes per parameter, per layer and per operator, and how they change with depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ..core.records import dataclass
from ..core.result import Result
from ..core.source import Location
from ..core.summary import Measured
from ..view.graph import BACKWARD
from . import magnitudes, numbers
from .depth import ForwardCall, find_longest_row
from .events import Begin, End, Inside, OpEvent, part_of
from .numbers import Numbers

LARGEST = 1e4
"""A gradient of a larger norm is large."""
LARGEST_RATIO = 1e3
"""So is one that is that many times its parameter."""
SMALLEST_RATIO = 1e-8
"""A gradient that is a smaller part of its parameter vanishes: float32 does not even notice such an update."""
TREND = 3.0
"""Decades over which norms must rise or fall with depth, and in order, to be called a trend."""


@dataclass
class Line:
    """A parameter, a layer or an operator.

    Attributes:
        gradient: None where none arrived; of an operator, of the gradients that it gives.
        weight: the norm of the parameter or of all parameters of the layer; None for operators.
        origin: the parameter's key, or the operator's origin (``events.py``).
        members: of a layer, its parameters.
        runs: of an operator in branches and loops, each of its runs, in the order of the forward pass.
        dtype: the type of the gradient.
        scale: what a scaler multiplied the loss by, and divides this gradient by before the update.
    """

    name: str
    gradient: Numbers | None
    weight: float | None = None
    shape: tuple[int, ...] = ()
    origin: Any = None
    loc: Location = ()
    members: list[str] = field(default_factory=list)
    runs: list[tuple[Inside, Numbers]] = field(default_factory=list)
    dtype: str = ""
    scale: float = 1.0

    @property
    def size(self) -> float:
        """The norm of the gradient, without the loss scale; 0 where there is none."""
        return 0.0 if self.gradient is None else self.gradient.norm / self.scale

    @property
    def ratio(self) -> float | None:
        """The norm of the gradient in terms of the norm of the weight."""
        if self.gradient is None or not self.weight:
            return None
        return self.size / self.weight

    @property
    def times(self) -> float:
        """Return how many times its weight a gradient is; 0 where that says nothing.

        A bias begins at 0: what its first steps made of it is no measure for its gradient. So does the token for a
        class, which is a vector that has the rank of what it is put in front of.
        """
        is_token = len(self.shape) > 2 and max(self.shape[:-1]) == 1
        return 0.0 if len(self.shape) == 1 or is_token else self.ratio or 0.0

    @property
    def verdict(self) -> str:
        """Return what is to be said of it, in the words of :mod:`.numbers`."""
        g, ratio = self.gradient, self.ratio
        if g is None:
            return numbers.NONE
        if g.state != numbers.OK:
            return g.state
        if self.size > LARGEST or self.times > LARGEST_RATIO:
            return numbers.LARGE
        return numbers.VANISHING if ratio is not None and ratio < SMALLEST_RATIO else numbers.OK


@dataclass(frozen=True)
class Trend:
    """The change of gradients from the last layer to the first.

    Attributes:
        kind: vanishing or exploding.
        factor: per parameter on the way back.
        first, last: the names of the parameters at both ends.
        decades: by how many powers of ten norms grow from the first to the last; below 0 where they explode.
    """

    kind: str
    factor: float
    first: str
    last: str
    decades: float


@dataclass
class StatsStory(Result):
    """The health of all gradients of one backward pass.

    Attributes:
        parameters: in the order of their first use.
        operators: gradient operators in the order of the run; none where nobody listened to them.
        scale: what a scaler multiplied the loss by, and divides gradients by before the update.
        row: the origins of the weights that are used one behind another (``depth.py``); None for all parameters.
    """

    parameters: list[Line]
    operators: list[Line]
    scale: float = 1.0
    row: Sequence[Any] | None = None

    @property
    def layers(self) -> list[Line]:
        """Parameters together that belong to one layer, by their names."""
        groups: dict[str, list[Line]] = {}
        for p in self.parameters:
            groups.setdefault(p.name.rpartition(".")[0] or p.name, []).append(p)
        return [_join(name, lines) for name, lines in groups.items()]

    @property
    def trend(self) -> Trend | None:
        """Return whether norms rise or fall with depth, in order and by :data:`TREND` decades."""
        course = self.course
        return course if course is not None and abs(course.decades) >= TREND else None

    @property
    def course(self) -> Trend | None:
        """Return how norms rise or fall with depth, however little; None where they do not do so in order."""
        deep = [p for p in self._find_row() if p.gradient is not None and len(p.shape) > 1 and p.gradient.norm > 0]
        if len(deep) < 4:
            return None
        logs = np.log10([p.gradient.norm for p in deep if p.gradient is not None])
        slope, _ = np.polyfit(np.arange(len(logs)), logs, 1)
        span = float(slope) * (len(logs) - 1)
        steady = abs(float(np.corrcoef(np.arange(len(logs)), logs)[0, 1])) > 0.9 if logs.std() > 0 else False
        if not steady:
            return None
        kind, ends = "vanishing" if span > 0 else "exploding", (deep[0].name, deep[-1].name)
        return Trend(kind, 10 ** float(-slope), *ends, span)

    def _find_row(self) -> Sequence[Line]:
        """Return the parameters that are used one behind another."""
        lines = {p.origin: p for p in self.parameters}
        return self.parameters if self.row is None else [lines[origin] for origin in self.row]

    def worst(self, count: int, of: Sequence[Line] | None = None) -> list[Line]:
        """The lines to look at first."""
        lines = self.parameters if of is None else of

        def order(line: Line) -> tuple[int, float]:
            size = line.size
            return numbers.WORST_FIRST.index(line.verdict), -abs(math.log10(size)) if size > 0 else 0.0

        return sorted(lines, key=order)[:count]

    def __str__(self) -> str:
        lines = [f"loss scale: {self.scale:g}"] if self.scale != 1.0 else []
        lines += [
            f"{p.name}: {p.verdict}" + (f", ‖g‖ {p.gradient.norm:.4g}" if p.gradient else "") for p in self.parameters
        ]
        return "\n".join(lines)


def _join(name: str, lines: Sequence[Line]) -> Line:
    gradients = [p.gradient for p in lines if p.gradient is not None]
    weight = math.sqrt(sum((p.weight or 0.0) ** 2 for p in lines))
    members = [p.name for p in lines]
    if not gradients:
        return Line(name, None, weight, members=members)
    return Line(name, Numbers.join(gradients), weight, members=members, scale=lines[0].scale)


def _gives_gradients(op: Any) -> bool:
    return part_of(op) == BACKWARD


class Gatherer:
    """Listens to a run and keeps the numbers of what every gradient operator gives, not the arrays."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._repeated: dict[Any, Line] = {}

    summary_needs = Measured(_gives_gradients)
    """Numbers do in place of arrays."""

    def __call__(self, event: OpEvent | Begin | End) -> None:
        if not isinstance(event, OpEvent) or event.part != BACKWARD or (event.nested and not event.inside):
            return
        values = [v.array for v in event.outputs if magnitudes.holds_numbers(magnitudes.plain(v.array))]
        if not values:
            return
        line = self._repeated.get(event.origin) if event.inside else None
        if line is None:
            shape, dtype = tuple(values[0].shape), str(magnitudes.plain(values[0]).dtype)
            line = Line(event.type, None, origin=event.origin, loc=event.loc, shape=shape, dtype=dtype)
            self._lines.append(line)
        if event.inside:
            self._repeated[event.origin] = line
            line.runs.append((event.inside, Numbers.measure(*values)))
        else:
            line.gradient = Numbers.measure(*values)

    @property
    def operators(self) -> list[Line]:
        """A line for each operator, in the order of the run."""
        for line in self._repeated.values():
            line.runs.sort(key=lambda run: [r.number for r in run[0]])
            line.gradient = Numbers.join([n for _, n in line.runs])
        return self._lines


def parameter(name: str, weight: Any, gradient: Any, origin: Any = None, loc: Location = ()) -> Line:
    """The line of a parameter."""
    return Line(
        name,
        None if gradient is None else Numbers.measure(gradient),
        Numbers.measure(weight, orders=False).norm,
        tuple(weight.shape),
        origin,
        loc,
        dtype="" if gradient is None else str(gradient.dtype),
    )


def story(
    parameters: Iterable[Line],
    gatherer: Gatherer,
    name: Callable[[Line], str] | None = None,
    scale: float = 1.0,
    calls: Iterable[ForwardCall] = (),
) -> StatsStory:
    """The answer.

    Args:
        name: gives the names of operators.
        calls: of the forward pass, for how sizes change with depth.
        scale: what a scaler multiplied the loss by, and divides gradients by before the update.
    """
    operators, parameters = gatherer.operators, list(parameters)
    for line in (*operators, *parameters):
        line.scale = scale
    for line in operators if name is not None else ():
        line.name = name(line)  # type: ignore[misc]
    row = find_longest_row(calls, [line.origin for line in parameters if len(line.shape) > 1])
    return StatsStory(parameters, operators, scale, row)

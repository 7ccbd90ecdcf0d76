"""Derivatives at ties and kinks, held to differences: right where there is a derivative, or refused, or no number.

A function may have no derivative at such a point. Differences to both sides say so: where they disagree, any number
between them will do, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Vector = Any
"""All numbers that a function is differentiated by, one after the other."""

STEPS = {1: 1e-6, 2: 1e-5}
"""How far differences of each order go."""
AGREE = {1: 1e-4, 2: 1e-3}
"""How close differences to both sides are where there is a derivative, and derivatives to them."""
LARGEST = 1e6
"""Of what differences are taken."""
MOST = 10
"""Places of a point that are moved."""
FEW = 3
"""Places that are moved in a sample."""


class Subject(Protocol):
    """A function of real numbers with its derivatives, as gradtool computes them."""

    point: Vector

    def value(self, at: Vector) -> float:
        """The weighted sum of all that it gives."""

    def gradient(self, at: Vector) -> Vector:
        """The derivatives of the value."""

    def second(self, at: Vector, weights: Vector) -> Vector:
        """The derivatives of the weighted sum of the gradient."""


@dataclass(frozen=True)
class Wrong:
    """A derivative that is not what differences to both sides agree on."""

    order: int
    place: int
    expected: float
    came: float

    def __str__(self) -> str:
        return f"order {self.order}, element {self.place}: {self.came:.6g} instead of {self.expected:.6g}"


def wrong(subject: Subject, together: bool = False, *, whole: bool = True) -> Iterator[Wrong]:
    """Yield the derivatives of first and second order that are wrong at the point of *subject*.

    Args:
        together: equal numbers are moved together.
        whole: move up to ten places, with five weights of the gradient; else three places with two.
    """
    point = subject.point
    rng = np.random.default_rng(len(point))
    places = sorted(rng.permutation(len(point))[: MOST if whole else FEW].tolist())
    gradient = subject.gradient(point)
    if gradient is None:
        return
    moves = {place: (point == point[place]) * 1.0 if together else _unit(len(point), place) for place in places}
    yield from _compared(subject.value, point, moves, gradient, 1)
    if not np.isfinite(gradient).all():  # an infinite slope has no slope
        return
    units = [_unit(len(point), place) for place in places[: 4 if whole else 1]]
    for weights in [rng.uniform(0.5, 1.5, len(point)), *units]:
        try:
            second = subject.second(point, weights)
        except Exception:  # refused, which is an answer
            return

        def slope(at: Vector, weights: Vector = weights) -> float:
            gradient = subject.gradient(at)
            return np.nan if gradient is None else float(np.sum(gradient[weights != 0] * weights[weights != 0]))

        yield from _compared(slope, point, moves, second, 2)


def _compared(
    function: Callable[[Vector], float], point: Vector, moves: Mapping[int, Vector], derivatives: Vector, order: int
) -> Iterator[Wrong]:
    """Yield where *derivatives* are not what differences of *function* to both sides agree on."""
    here = function(point)
    if abs(here) > LARGEST:  # small steps are lost in it
        return
    for place, move in moves.items():
        expected = _agreed(function, here, point, move, order)
        came = float(np.sum(derivatives[move != 0]))
        if expected is None or not np.isfinite(came):  # NaN and infinity are no numbers to be taken for right
            continue
        if abs(came - expected) > AGREE[order] * (1 + abs(expected)):
            yield Wrong(order, place, expected, came)


def _agreed(function: Callable[[Vector], float], here: float, point: Vector, move: Vector, order: int) -> float | None:
    """Return the slope along *move* at *point*; None where both sides, or steps of two lengths, disagree."""
    step = STEPS[order]
    steps = (step, -step, step / 4, -step / 4)
    with np.errstate(all="ignore"):
        slopes = np.array([(function(point + s * move) - here) / s for s in steps])
        if not np.isfinite(slopes).all() or np.ptp(slopes) > AGREE[order] * (1 + np.abs(slopes).min()):
            return None
    return float(slopes[:2].mean())


def _unit(count: int, place: int) -> Vector:
    unit = np.zeros(count)
    unit[place] = 1
    return unit

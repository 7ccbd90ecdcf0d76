"""Search along a direction for a step that fulfils the strong Wolfe conditions (Nocedal & Wright, chapter 3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

DECREASE, CURVATURE = 1e-4, 0.9
"""How much of what the slope at the start promises the loss must fall, and how much of that slope may be left."""

TRIES = 25

TOLERANCE = 1e-9
"""A bracket in which no parameter moves by more ends the search."""


class LinePoint(NamedTuple):
    """A point on the line.

    Attributes:
        step: how far from the start it is.
        loss: there.
        gradient: there, by all parameters.
        slope: of the loss along the line, there.
    """

    step: float
    loss: float
    gradient: Any
    slope: float


class LineSearch:
    """One search along a line.

    Args:
        evaluate: from a step to the point there.
        start: the point where the line begins.
        size: the largest element of the direction.
    """

    def __init__(self, evaluate: Callable[[float], LinePoint], start: LinePoint, size: float) -> None:
        self.start, self.size = start, size
        self.calls = 0
        self._evaluate = evaluate

    def at(self, step: float) -> LinePoint:
        """The point there; counted."""
        self.calls += 1
        return self._evaluate(step)

    def too_high(self, point: LinePoint) -> bool:
        """Return whether the loss has not fallen enough."""
        return point.loss > self.start.loss + DECREASE * point.step * self.start.slope

    def flat(self, point: LinePoint) -> bool:
        """Return whether the slope is small enough."""
        return abs(point.slope) <= -CURVATURE * self.start.slope

    def run(self, first: float) -> LinePoint:
        """The point where the search ends, which it begins with the step *first*."""
        bracket, tries = self._bracketed(first)
        if isinstance(bracket, LinePoint):
            return bracket
        return self._narrowed(*bracket, tries)

    def _bracketed(self, first: float) -> tuple[LinePoint | tuple[LinePoint, LinePoint], int]:
        """A point that fulfils the conditions, or two of which one between does; and how many tries that took."""
        before, point = self.start, self.at(first)
        for tries in range(TRIES):
            if self.too_high(point) or (tries > 1 and point.loss >= before.loss):
                return (before, point), tries
            if self.flat(point):
                return point, tries
            if point.slope >= 0:
                return (before, point), tries
            bounds = point.step + 0.01 * (point.step - before.step), point.step * 10
            before, point = point, self.at(lowest(before, point, bounds))
        return (self.start, point), TRIES

    def _narrowed(self, a: LinePoint, b: LinePoint, tries: int) -> LinePoint:
        """The lowest point of a bracket that is made smaller until one fulfils the conditions."""
        ends = [a, b]
        low, high = _by_loss(ends)
        stalled = False
        while tries < TRIES and abs(b.step - a.step) * self.size >= TOLERANCE:
            step, stalled = self._tried(ends, stalled)
            point = self.at(step)
            tries += 1
            if self.too_high(point) or point.loss >= ends[low].loss:
                ends[high] = point
                low, high = _by_loss(ends)
            else:
                done = self.flat(point)
                if not done and point.slope * (ends[high].step - ends[low].step) >= 0:
                    ends[high] = ends[low]
                ends[low] = point
                if done:
                    break
            a, b = ends
        return ends[low]

    def _tried(self, ends: list[LinePoint], stalled: bool) -> tuple[float, bool]:
        """Return the next place to look at, and whether that is near an end of the bracket: twice is once too often."""
        step = lowest(ends[0], ends[1])
        least, most = sorted(end.step for end in ends)
        margin = 0.1 * (most - least)
        if min(most - step, step - least) >= margin:
            return step, False
        if not stalled and least < step < most:
            return step, True
        return (most - margin if abs(step - most) < abs(step - least) else least + margin), False


def _by_loss(ends: list[LinePoint]) -> tuple[int, int]:
    """The places of the lower and of the higher end."""
    return (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)


def lowest(a: LinePoint, b: LinePoint, bounds: tuple[float, float] | None = None) -> float:
    """Return the place where the cubic through two points with their slopes is lowest, within *bounds* or else between
    them.
    """
    least, most = bounds or sorted((a.step, b.step))
    first = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = first**2 - a.slope * b.slope
    if square < 0:
        return (least + most) / 2
    root = math.sqrt(square)
    if a.step <= b.step:
        step = b.step - (b.step - a.step) * ((b.slope + root - first) / (b.slope - a.slope + 2 * root))
    else:
        step = a.step - (a.step - b.step) * ((a.slope + root - first) / (a.slope - b.slope + 2 * root))
    return min(max(step, least), most)

"""``paddle.distribution.constraint``: sets of numbers, as functions that say which are inside."""

from __future__ import annotations

from typing import Any

from gradtool import paddle


class Constraint:
    """The base of sets: a subclass gives ``__call__``."""

    def __call__(self, value: Any) -> Any:
        """Return whether each of the numbers is inside, as bool."""
        raise NotImplementedError(f"paddle.distribution.constraint.{type(self).__name__} says nothing of its set.")

    def check(self, value: Any) -> Any:
        """The same."""
        return self(value)


class Real(Constraint):
    """All numbers that are no NaN."""

    def __call__(self, value: Any) -> Any:
        """Return whether each of the numbers is a real one."""
        return value == value


class Range(Constraint):
    """The numbers between two, both of them inside.

    Args:
        lower, upper: numbers or tensors.
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Any) -> Any:
        """Return whether each of the numbers is between the bounds."""
        return (self._lower <= value) & (value <= self._upper)


class Positive(Constraint):
    """The numbers from 0."""

    def __call__(self, value: Any) -> Any:
        """Return whether each of the numbers is positive."""
        return value >= 0.0


class Simplex(Constraint):
    """Shares: the numbers from 0 in the last axis that add up to 1."""

    def __call__(self, value: Any) -> Any:
        """Return whether the numbers along the last axis are shares."""
        total = paddle.sum(value, axis=-1)
        return paddle.all(value >= 0, axis=-1) & (paddle.abs(total - 1) < 1e-6)


real = Real()
positive = Positive()
simplex = Simplex()

"""``paddle.distribution.variable``: what goes into a transform and what comes out: how many axes, and from which
set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from . import constraint as constraint_module


class Variable:
    """A kind of value.

    Args:
        is_discrete: whether it takes single numbers only.
        event_rank: how many of its last axes are one value.
        constraint: the set that it is from.
    """

    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: Any = None) -> None:
        self._is_discrete, self._event_rank, self._constraint = is_discrete, event_rank, constraint

    @property
    def is_discrete(self) -> bool:
        """True if it takes single numbers only."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """Number of its last axes that are one value."""
        return self._event_rank

    def constraint(self, value: Any) -> Any:
        """Return whether each value is from the set."""
        return self._constraint(value)


class Real(Variable):
    """Any number."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint_module.real)


class Positive(Variable):
    """Numbers from 0."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint_module.positive)


class Independent(Variable):
    """Another kind, some of whose axes are counted as axes of one value.

    Args:
        base: the other kind.
        reinterpreted_batch_rank: how many axes.
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        self._base, self._rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Any) -> Any:
        """Return whether all along these axes are from the base's set.

        Raises:
            ValueError: *value* has not as many axes.
        """
        inside = self._base.constraint(value)
        if len(inside.shape) < self._rank:
            raise ValueError(f"a value needs at least {self._rank} axes here, but has {len(inside.shape)}.")
        return paddle.all(inside.reshape([*inside.shape[: len(inside.shape) - self._rank], -1]), axis=-1)


class Stack(Variable):
    """Different kinds along an axis.

    Args:
        vars: a kind for each place of the axis.
        axis: which.
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars, self._axis = vars, axis
        super().__init__(any(one.is_discrete for one in vars), max(one.event_rank for one in vars))

    def constraint(self, value: Any) -> Any:
        """Return whether each is from the set of its place."""
        parts = zip(self._vars, paddle.unstack(value, self._axis), strict=True)
        return paddle.stack([kind.constraint(part) for kind, part in parts], self._axis)


real = Real()
positive = Positive()

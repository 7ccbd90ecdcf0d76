"""``paddle.distribution.Independent``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from ._operands import summed
from .distribution import Distribution


class Independent(Distribution):
    """A distribution some of whose last batch axes are counted as axes of one draw.

    Args:
        base: a distribution.
        reinterpreted_batch_rank: how many axes.

    Raises:
        ArgumentTypeError: *base* is no distribution (a TypeError).
        UsageError: it has not as many axes, or there are to be none (a ValueError).

    >>> from gradtool import paddle
    >>> normal = paddle.distribution.Normal(paddle.zeros([3, 2]), paddle.ones([3, 2]))
    >>> paddle.distribution.Independent(normal, 1).log_prob(paddle.zeros([3, 2])).shape
    [3]
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise ArgumentTypeError(f"Expected type of 'base' is Distribution, but got {type(base).__name__}.")
        rank, axes = reinterpreted_batch_rank, len(base.batch_shape)
        if not 0 < rank <= axes:
            raise UsageError(f"Expected 0 < reinterpreted_batch_rank <= {axes}, but got {rank}.")
        self._base, self._rank = base, rank
        super().__init__(base.batch_shape[:-rank], base.batch_shape[-rank:] + base.event_shape)

    @property
    def mean(self) -> Any:
        """Of the base."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """Of the base."""
        return self._base.variance

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws from the base."""
        return self._base.sample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws from the base as functions of its parameters."""
        return self._base.rsample(shape)

    def entropy(self) -> Any:
        """The sum of the base's."""
        return summed(self._base.entropy(), self._rank)

    def log_prob(self, value: Any) -> Any:
        """The sum of the base's."""
        return summed(self._base.log_prob(value), self._rank)

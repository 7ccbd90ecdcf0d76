"""``paddle.distribution.Multinomial``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError

from ._operands import asked, between, parameters, repeated, stopped
from .distribution import Distribution


class Multinomial(Distribution):
    """Count of each category in a number of draws.

    Args:
        total_count: how many draws, a whole number.
        probs: a weight for each category in the last axis; they are divided by their sum.

    Raises:
        UsageError: *total_count* is no whole number above 0, or *probs* has no axis (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.distribution.Multinomial(8, paddle.to_tensor([1.0, 3.0])).mean.tolist()
    [2.0, 6.0]
    """

    probs: Any
    """The probabilities, where other distributions have the older name of ``prob``."""

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise UsageError(
                f"paddle.distribution.Multinomial: 'total_count' must be an int greater than zero, not {total_count!r}."
            )
        (weights,) = parameters("paddle.distribution.Multinomial", probs=probs)
        if not weights.shape:
            raise UsageError(
                "paddle.distribution.Multinomial: 'probs' must have over one dimension, but it is one number."
            )
        self.probs = weights / paddle.sum(weights, axis=-1, keepdim=True)
        self.total_count = total_count
        super().__init__(weights.shape[:-1], weights.shape[-1:])

    @property
    def mean(self) -> Any:
        """``n p``."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """``n p (1 - p)``."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape + event_shape``, of the type of the probabilities."""
        with paddle.no_grad():
            count = self.probs.shape[-1]
            rows = repeated(self.probs, shape).reshape([-1, count])
            drawn = paddle.multinomial(rows, self.total_count, replacement=True)
            counts = paddle.sum(paddle.nn.functional.one_hot(drawn, count), axis=-2)
            return stopped(paddle.cast(counts, self.probs.dtype).reshape(self._extend_shape(shape)))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        n, p = self.total_count, between(self.probs, self.probs.dtype)
        numbers = paddle.arange(n + 1, dtype=p.dtype).reshape([n + 1] + [1] * len(p.shape))
        ways = math.lgamma(n + 1) - paddle.lgamma(numbers + 1) - paddle.lgamma(n + 1 - numbers)
        chances = paddle.exp(ways + numbers * paddle.log(p) + (n - numbers) * paddle.log1p(-p))
        orders = paddle.sum(chances * paddle.lgamma(numbers + 1), axis=[0, -1])
        return orders - n * paddle.sum(p * paddle.log(p), axis=-1) - math.lgamma(n + 1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability that the categories come as often as the last axis of *value* says."""
        value = asked(value, self.probs)
        logarithms = paddle.log(between(self.probs, self.probs.dtype))
        ways = paddle.lgamma(paddle.sum(value, -1) + 1) - paddle.sum(paddle.lgamma(value + 1), -1)
        return ways + paddle.sum(value * logarithms, -1)

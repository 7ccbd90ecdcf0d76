"""``paddle.distribution.Binomial``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._counts import entropy_of_counts
from ._operands import asked, between, parameters, repeated, stopped
from .distribution import Distribution
from .kl import register_kl


class Binomial(Distribution):
    """Number of tries that succeed.

    Args:
        total_count: how many tries.
        probs: the probability of success of each.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Binomial(10, 0.3).mean), 4)
    3.0
    """

    probs: Any
    """The probabilities, where other distributions have the older name of ``prob``."""

    def __init__(self, total_count: Any, probs: Any) -> None:
        self.total_count, self.probs = parameters("paddle.distribution.Binomial", total_count=total_count, probs=probs)
        self.total_count = asked(self.total_count, self.probs)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """``n p``."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """``n p (1 - p)``."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape``, of the type of the probabilities."""
        with paddle.no_grad():
            counts = paddle.cast(repeated(self.total_count, shape), "int32")
            drawn = paddle.binomial(counts, repeated(self.probs, shape))
            return stopped(paddle.cast(drawn, self.probs.dtype))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``: the sum over every number of successes."""
        return entropy_of_counts(self, int(float(paddle.max(self.total_count))), self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of *value* successes; minus infinity of more than there are tries."""
        value, count = asked(value, self.probs), self.total_count
        p = between(self.probs, self.probs.dtype)
        ways = paddle.lgamma(count + 1) - paddle.lgamma(count - value + 1) - paddle.lgamma(value + 1)
        inside = ways + value * paddle.log(p) + (count - value) * paddle.log1p(-p)
        return paddle.where(value <= count, inside, paddle.full_like(inside, -math.inf))


@register_kl(Binomial, Binomial)
def binomial_divergence(p: Binomial, q: Binomial) -> Any:
    """``n (p ln p/p' + (1-p) ln (1-p)/(1-p'))``, of as many tries in both.

    Raises:
        ValueError: they are not as many.
    """
    if not bool((p.total_count == q.total_count).all()):
        raise ValueError("kl_divergence of Binomial distributions needs the same total_count in both.")
    success = p.probs * (paddle.log(p.probs) - paddle.log(q.probs))
    failure = (1 - p.probs) * (paddle.log1p(-p.probs) - paddle.log1p(-q.probs))
    return p.total_count * (success + failure)

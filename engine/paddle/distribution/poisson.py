"""``paddle.distribution.Poisson``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._counts import entropy_of_counts
from ._operands import asked, parameters, repeated, stopped
from .distribution import Distribution
from .kl import register_kl


class Poisson(Distribution):
    """Number of events in a time in which they happen at a mean rate.

    Args:
        rate: how often on average.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Poisson(0.7).entropy()), 4)
    1.105
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = parameters("paddle.distribution.Poisson", rate=rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Any:
        """The rate."""
        return self.rate

    @property
    def variance(self) -> Any:
        """The rate."""
        return self.rate

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape``, of the type of the rate."""
        with paddle.no_grad():
            return stopped(paddle.poisson(repeated(self.rate, shape)))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``: the sum over every number up to thirty deviations above the largest rate."""
        most = float(paddle.max(self.rate))
        return entropy_of_counts(self, math.ceil(most + 30 * math.sqrt(most + 1)), self.rate.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of *value* times."""
        value = asked(value, self.rate)
        return value * paddle.log(self.rate) - self.rate - paddle.lgamma(value + 1)


@register_kl(Poisson, Poisson)
def poisson_divergence(p: Poisson, q: Poisson) -> Any:
    """``r ln r/r' - r + r'``."""
    return p.rate * (paddle.log(p.rate) - paddle.log(q.rate)) - p.rate + q.rate

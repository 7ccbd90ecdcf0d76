"""``paddle.distribution.Geometric``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtool

from ._operands import asked, between, parameters
from .distribution import Distribution


class Geometric(Distribution):
    """How many tries fail before the first that succeeds.

    Args:
        probs: the probability of success of each.

    >>> import gradtool as paddle
    >>> float(paddle.distribution.Geometric(0.5).variance)
    2.0
    """

    probs: Any
    """The probabilities, where other distributions have the older name of ``prob``."""

    def __init__(self, probs: Any) -> None:
        (self.probs,) = parameters("paddle.distribution.Geometric", probs=probs)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """``1/p - 1``."""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Any:
        """``(1/p - 1) / p``."""
        return (1 / self.probs - 1) / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return gradtool.sqrt(self.variance)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameter, of ``shape + batch_shape``; being whole numbers they have a gradient
        of 0.
        """
        dtype = self.probs.dtype
        place = between(gradtool.rand(self._extend_shape(shape), dtype), dtype)
        return gradtool.floor(gradtool.log(place) / gradtool.log1p(-self.probs))

    def entropy(self) -> Any:
        """``(-p ln p - q ln q) / p``."""
        p = self.probs
        return -((1 - p) * gradtool.log1p(-p) + p * gradtool.log(p)) / p

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of the probability that *k* tries fail first."""
        return asked(k, self.probs) * gradtool.log1p(-self.probs) + gradtool.log(self.probs)

    def pmf(self, k: Any) -> Any:
        """The probability that *k* tries fail first."""
        return gradtool.exp(self.log_pmf(k))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability that *value* tries fail first."""
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability that *k* tries or fewer fail first."""
        return -gradtool.expm1((asked(k, self.probs) + 1) * gradtool.log1p(-self.probs))


def geometric_divergence(p: Geometric, q: Geometric) -> Any:
    """``ln p/p' + (1/p - 1) ln (1-p)/(1-p')``."""
    failure = gradtool.log1p(-p.probs) - gradtool.log1p(-q.probs)
    return gradtool.log(p.probs) - gradtool.log(q.probs) + p.mean * failure

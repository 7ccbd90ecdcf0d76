"""``paddle.distribution.Geometric``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, between, parameters
from .distribution import Distribution
from .kl import register_kl


class Geometric(Distribution):
    """Number of tries that fail before the first that succeeds.

    Args:
        probs: the probability of success of each.

    >>> from gradtool import paddle
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
        return paddle.sqrt(self.variance)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameter, of ``shape + batch_shape``; being whole numbers they have a gradient
        of 0.
        """
        dtype = self.probs.dtype
        place = between(paddle.rand(self._extend_shape(shape), dtype), dtype)
        return paddle.floor(paddle.log(place) / paddle.log1p(-self.probs))

    def entropy(self) -> Any:
        """``(-p ln p - q ln q) / p``."""
        p = self.probs
        return -((1 - p) * paddle.log1p(-p) + p * paddle.log(p)) / p

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of the probability that *k* tries fail first."""
        return asked(k, self.probs) * paddle.log1p(-self.probs) + paddle.log(self.probs)

    def pmf(self, k: Any) -> Any:
        """The probability that *k* tries fail first."""
        return paddle.exp(self.log_pmf(k))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability that *value* tries fail first."""
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability that *k* tries or fewer fail first."""
        return -paddle.expm1((asked(k, self.probs) + 1) * paddle.log1p(-self.probs))


@register_kl(Geometric, Geometric)
def geometric_divergence(p: Geometric, q: Geometric) -> Any:
    """``ln p/p' + (1/p - 1) ln (1-p)/(1-p')``."""
    failure = paddle.log1p(-p.probs) - paddle.log1p(-q.probs)
    return paddle.log(p.probs) - paddle.log(q.probs) + p.mean * failure

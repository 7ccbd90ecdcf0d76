"""``paddle.distribution.ContinuousBernoulli``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gradtool

from ._operands import asked, between, parameters
from .distribution import Distribution


class ContinuousBernoulli(Distribution):
    """Numbers from 0 to 1 with a density in proportion to ``p^x (1 - p)^(1 - x)`` (Loaiza-Ganem and Cunningham, 2019).

    Args:
        probs: p.
        lims: between which p series around a half are used.

    >>> import gradtool as paddle
    >>> round(float(paddle.distribution.ContinuousBernoulli(0.2).mean), 4)
    0.388
    """

    probs: Any
    """The probabilities, where other distributions have the older name of ``prob``."""

    def __init__(self, probs: Any, lims: tuple[float, float] = (0.499, 0.501)) -> None:
        (given,) = parameters("paddle.distribution.ContinuousBernoulli", probs=probs)
        self.lims = lims
        self.probs = between(given, given.dtype)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """``p / (2p - 1) + 1 / (2 artanh(1 - 2p))``."""
        p, away = self._far()
        value = p / (2 * p - 1) + 1 / (2 * gradtool.atanh(1 - 2 * p))
        return gradtool.where(self._is_far(), value, 0.5 + away * (1 / 3 + 16 / 45 * gradtool.square(away)))

    @property
    def variance(self) -> Any:
        """``p (p - 1) / (1 - 2p)² + 1 / (2 artanh(1 - 2p))²``."""
        p, away = self._far()
        squares = gradtool.square(1 - 2 * p), gradtool.square(2 * gradtool.atanh(1 - 2 * p))
        value = p * (p - 1) / squares[0] + 1 / squares[1]
        near = gradtool.square(away)
        return gradtool.where(self._is_far(), value, 1 / 12 - near * (1 / 15 - 128 / 945 * near))

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameter, of ``shape + batch_shape``: evenly drawn places of ``icdf``."""
        dtype = self.probs.dtype
        return self.icdf(between(gradtool.rand(self._extend_shape(shape), dtype), dtype))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        p = self.probs
        slope = gradtool.log1p(-p) - gradtool.log(p)
        return slope * self.mean - self._log_constant() - gradtool.log1p(-p)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        value, p = asked(value, self.probs), self.probs
        return value * gradtool.log(p) + (1 - value) * gradtool.log1p(-p) + self._log_constant()

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        value = asked(value, self.probs)
        p, _ = self._far()
        far = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        inside = gradtool.where(self._is_far(), far, value + gradtool.zeros_like(p))
        zero, one = gradtool.zeros_like(inside), gradtool.ones_like(inside)
        return gradtool.where(value <= 0, zero, gradtool.where(value >= 1, one, inside))

    def icdf(self, value: Any) -> Any:
        """The number with that probability of less."""
        value = asked(value, self.probs)
        p, _ = self._far()
        far = (gradtool.log1p(-p + value * (2 * p - 1)) - gradtool.log1p(-p)) / (gradtool.log(p) - gradtool.log1p(-p))
        return gradtool.where(self._is_far(), far, value + gradtool.zeros_like(p))

    def _is_far(self) -> Any:
        """Where p is outside of the limits."""
        return (self.probs <= self.lims[0]) | (self.probs > self.lims[1])

    def _far(self) -> tuple[Any, Any]:
        """p where it is far from a half, the lower limit elsewhere; and how far p is from a half where it is near."""
        far, half = self._is_far(), gradtool.full_like(self.probs, 0.5)
        lower = gradtool.full_like(self.probs, self.lims[0])
        return gradtool.where(far, self.probs, lower), gradtool.where(far, half, self.probs) - 0.5

    def _log_constant(self) -> Any:
        """``ln 2 artanh(1 - 2p) / (1 - 2p)``."""
        p, away = self._far()
        far = gradtool.log(2 * gradtool.abs(gradtool.atanh(1 - 2 * p))) - gradtool.log(gradtool.abs(1 - 2 * p))
        near = gradtool.square(away)
        return gradtool.where(self._is_far(), far, math.log(2) + near * (4 / 3 + 104 / 45 * near))


def continuous_bernoulli_divergence(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Any:
    """What *p*'s entropy lacks of the mean of *q*'s logarithms."""
    slope = gradtool.log(q.probs) - gradtool.log1p(-q.probs)
    return -p.entropy() - p.mean * slope - q._log_constant() - gradtool.log1p(-q.probs)

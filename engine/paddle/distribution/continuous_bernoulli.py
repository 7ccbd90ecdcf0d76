"""``paddle.distribution.ContinuousBernoulli``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, between, parameters
from .distribution import Distribution
from .kl import register_kl


class ContinuousBernoulli(Distribution):
    """Numbers from 0 to 1 with a density in proportion to ``p^x (1 - p)^(1 - x)`` (Loaiza-Ganem and Cunningham, 2019).

    Args:
        probs: p.
        lims: between which p series around a half are used.

    >>> from gradtool import paddle
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
        value = p / (2 * p - 1) + 1 / (2 * paddle.atanh(1 - 2 * p))
        return paddle.where(self._is_far(), value, 0.5 + away * (1 / 3 + 16 / 45 * paddle.square(away)))

    @property
    def variance(self) -> Any:
        """``p (p - 1) / (1 - 2p)² + 1 / (2 artanh(1 - 2p))²``."""
        p, away = self._far()
        squares = paddle.square(1 - 2 * p), paddle.square(2 * paddle.atanh(1 - 2 * p))
        value = p * (p - 1) / squares[0] + 1 / squares[1]
        near = paddle.square(away)
        return paddle.where(self._is_far(), value, 1 / 12 - near * (1 / 15 - 128 / 945 * near))

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameter, of ``shape + batch_shape``: evenly drawn places of ``icdf``."""
        dtype = self.probs.dtype
        return self.icdf(between(paddle.rand(self._extend_shape(shape), dtype), dtype))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        p = self.probs
        slope = paddle.log1p(-p) - paddle.log(p)
        return slope * self.mean - self._log_constant() - paddle.log1p(-p)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        value, p = asked(value, self.probs), self.probs
        return value * paddle.log(p) + (1 - value) * paddle.log1p(-p) + self._log_constant()

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        value = asked(value, self.probs)
        p, _ = self._far()
        far = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        inside = paddle.where(self._is_far(), far, value + paddle.zeros_like(p))
        zero, one = paddle.zeros_like(inside), paddle.ones_like(inside)
        return paddle.where(value <= 0, zero, paddle.where(value >= 1, one, inside))

    def icdf(self, value: Any) -> Any:
        """The number with that probability of less."""
        value = asked(value, self.probs)
        p, _ = self._far()
        far = (paddle.log1p(-p + value * (2 * p - 1)) - paddle.log1p(-p)) / (paddle.log(p) - paddle.log1p(-p))
        return paddle.where(self._is_far(), far, value + paddle.zeros_like(p))

    def _is_far(self) -> Any:
        """Return whether p is outside of the limits."""
        return (self.probs <= self.lims[0]) | (self.probs > self.lims[1])

    def _far(self) -> tuple[Any, Any]:
        """p where it is far from a half, the lower limit elsewhere; and how far p is from a half where it is near."""
        far, half = self._is_far(), paddle.full_like(self.probs, 0.5)
        lower = paddle.full_like(self.probs, self.lims[0])
        return paddle.where(far, self.probs, lower), paddle.where(far, half, self.probs) - 0.5

    def _log_constant(self) -> Any:
        """``ln 2 artanh(1 - 2p) / (1 - 2p)``."""
        p, away = self._far()
        far = paddle.log(2 * paddle.abs(paddle.atanh(1 - 2 * p))) - paddle.log(paddle.abs(1 - 2 * p))
        near = paddle.square(away)
        return paddle.where(self._is_far(), far, math.log(2) + near * (4 / 3 + 104 / 45 * near))


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def continuous_bernoulli_divergence(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Any:
    """Return the cross-entropy of *p* and *q* minus the entropy of *p*."""
    slope = paddle.log(q.probs) - paddle.log1p(-q.probs)
    return -p.entropy() - p.mean * slope - q._log_constant() - paddle.log1p(-q.probs)

"""``paddle.distribution.Laplace``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, between, distance, parameters
from .distribution import Distribution
from .kl import register_kl


class Laplace(Distribution):
    """Laplace distributions, which fall off alike on both sides.

    Args:
        loc: means.
        scale: mean distances from them.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Laplace(0.0, 1.0).cdf(paddle.to_tensor(0.1))), 4)
    0.5476
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = parameters("paddle.distribution.Laplace", loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """Of each distribution."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """``√2 scale``."""
        return math.sqrt(2) * self.scale

    @property
    def variance(self) -> Any:
        """``2 scale²``."""
        return paddle.square(self.stddev)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape``: evenly drawn places of ``icdf``."""
        place = paddle.rand(self._extend_shape(shape), self.loc.dtype)
        return self.icdf(between(place, self.loc.dtype))

    def entropy(self) -> Any:
        """``1 + ln 2 scale``."""
        return 1 + paddle.log(2 * self.scale) + paddle.zeros_like(self.loc)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        return -paddle.abs(distance(value, self.loc, self.scale)) - paddle.log(2 * self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        away = distance(value, self.loc, self.scale)
        return 0.5 - 0.5 * paddle.sign(away) * paddle.expm1(-paddle.abs(away))

    def icdf(self, value: Any) -> Any:
        """The number with that probability of less."""
        away = asked(value, self.loc) - 0.5
        return self.loc - self.scale * paddle.sign(away) * paddle.log1p(-2 * paddle.abs(away))


@register_kl(Laplace, Laplace)
def laplace_divergence(p: Laplace, q: Laplace) -> Any:
    """``r exp(-d) + d s'⁻¹ - 1 - ln r`` with the ratio of the scales and the distance of the means in *p*'s scales."""
    ratio = p.scale / q.scale
    apart = paddle.abs(p.loc - q.loc)
    return ratio * paddle.exp(-apart / p.scale) + apart / q.scale - 1 - paddle.log(ratio)

"""``paddle.distribution.Exponential``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, between, parameters
from .exponential_family import ExponentialFamily
from .kl import register_kl


class Exponential(ExponentialFamily):
    """Exponential distributions: of the time until something happens that happens at any time alike.

    Args:
        rate: how often it happens in a unit of time.

    >>> from gradtool import paddle
    >>> float(paddle.distribution.Exponential(0.5).mean)
    2.0
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = parameters("paddle.distribution.Exponential", rate=rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Any:
        """``1 / rate``."""
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        """``1 / rate²``."""
        return 1 / paddle.square(self.rate)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameter, of ``shape + batch_shape``."""
        place = between(paddle.rand(self._extend_shape(shape), self.rate.dtype), self.rate.dtype)
        return -paddle.log(place) / self.rate

    def entropy(self) -> Any:
        """``1 - ln rate``."""
        return 1 - paddle.log(self.rate)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        return paddle.log(self.rate) - self.rate * asked(value, self.rate)

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        return -paddle.expm1(-self.rate * asked(value, self.rate))

    def icdf(self, value: Any) -> Any:
        """The number with that probability of less."""
        return -paddle.log1p(-asked(value, self.rate)) / self.rate

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        return (-self.rate,)

    def _log_normalizer(self, *natural: Any) -> Any:
        return -paddle.log(-natural[0])


@register_kl(Exponential, Exponential)
def exponential_divergence(p: Exponential, q: Exponential) -> Any:
    """``r - 1 - ln r`` with the ratio of the rates."""
    ratio = q.rate / p.rate
    return ratio - 1 - paddle.log(ratio)

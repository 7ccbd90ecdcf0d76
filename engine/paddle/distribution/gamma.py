"""``paddle.distribution.Gamma``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, parameters, repeated
from .exponential_family import ExponentialFamily
from .kl import register_kl


class Gamma(ExponentialFamily):
    """Gamma distributions.

    Args:
        concentration: their shape.
        rate: one by their scale.

    >>> from gradtool import paddle
    >>> gamma = paddle.distribution.Gamma(3.0, 2.0)
    >>> float(gamma.mean), float(gamma.variance)
    (1.5, 0.75)
    """

    def __init__(self, concentration: Any, rate: Any) -> None:
        where = f"paddle.distribution.{type(self).__name__}"
        self.concentration, self.rate = parameters(where, concentration=concentration, rate=rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self) -> Any:
        """``concentration / rate``."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        """``concentration / rate²``."""
        return self.concentration / paddle.square(self.rate)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of *rate* alone, as in Paddle: to *concentration* no gradient goes."""
        return paddle.standard_gamma(repeated(self.concentration, shape)) / self.rate

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        shape = self.concentration
        return shape - paddle.log(self.rate) + paddle.lgamma(shape) + (1 - shape) * paddle.digamma(shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        value, shape = asked(value, self.rate), self.concentration
        powers = shape * paddle.log(self.rate) + (shape - 1) * paddle.log(value)
        return powers - self.rate * value - paddle.lgamma(shape)

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural: Any) -> Any:
        shape, rate = natural[0] + 1, -natural[1]
        return paddle.lgamma(shape) - shape * paddle.log(rate)


@register_kl(Gamma, Gamma)
def gamma_divergence(p: Gamma, q: Gamma) -> Any:
    """In the terms of Gil, Alajaji and Linder, "Rényi divergence measures", 2013."""
    shapes = (p.concentration - q.concentration) * paddle.digamma(p.concentration)
    norms = paddle.lgamma(q.concentration) - paddle.lgamma(p.concentration)
    rates = q.concentration * (paddle.log(p.rate) - paddle.log(q.rate))
    return shapes + norms + rates + p.concentration * (q.rate / p.rate - 1)

"""``paddle.distribution.Dirichlet``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError

from ._operands import asked, parameters, repeated, stopped
from .exponential_family import ExponentialFamily
from .kl import register_kl


class Dirichlet(ExponentialFamily):
    """Dirichlet distributions: of shares that add up to 1.

    Args:
        concentration: a positive number for each share, in the last axis.

    Raises:
        UsageError: it has no axis (a ValueError).

    >>> from gradtool import paddle
    >>> dirichlet = paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 2.0, 5.0]))
    >>> dirichlet.mean.tolist()
    [0.125, 0.25, 0.625]
    """

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = parameters("paddle.distribution.Dirichlet", concentration=concentration)
        shape = self.concentration.shape
        if not shape:
            raise UsageError(
                "paddle.distribution.Dirichlet: 'concentration' must have at least one dimension, but it is one number."
            )
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Any:
        """Each concentration's share of all."""
        return self.concentration / self._total(keepdim=True)

    @property
    def variance(self) -> Any:
        """Of each share."""
        total = self._total(keepdim=True)
        return self.concentration * (total - self.concentration) / (paddle.square(total) * (total + 1))

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape + event_shape``."""
        with paddle.no_grad():
            gammas = paddle.standard_gamma(repeated(self.concentration, shape))
            return stopped(gammas / paddle.sum(gammas, axis=-1, keepdim=True))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        total, count = self._total(), self.concentration.shape[-1]
        each = (self.concentration - 1) * paddle.digamma(self.concentration)
        return self._log_beta() + (total - count) * paddle.digamma(total) - paddle.sum(each, axis=-1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*, whose last axis holds shares."""
        powers = (self.concentration - 1) * paddle.log(asked(value, self.concentration))
        return paddle.sum(powers, axis=-1) - self._log_beta()

    def _total(self, keepdim: bool = False) -> Any:
        return paddle.sum(self.concentration, axis=-1, keepdim=keepdim)

    def _log_beta(self) -> Any:
        return self._log_normalizer(self.concentration)

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        return (self.concentration,)

    def _log_normalizer(self, *natural: Any) -> Any:
        (one,) = natural
        return paddle.sum(paddle.lgamma(one), axis=-1) - paddle.lgamma(paddle.sum(one, axis=-1))


@register_kl(Dirichlet, Dirichlet)
def dirichlet_divergence(p: Dirichlet, q: Dirichlet) -> Any:
    """``ln B(q) / B(p) + Σ (p - q)(ψ(p) - ψ(Σ p))``."""
    more = p.concentration - q.concentration
    slopes = paddle.digamma(p.concentration) - paddle.digamma(p._total(keepdim=True))
    return q._log_beta() - p._log_beta() + paddle.sum(more * slopes, axis=-1)

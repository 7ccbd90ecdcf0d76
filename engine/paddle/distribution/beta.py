"""``paddle.distribution.Beta``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, parameters
from .dirichlet import Dirichlet, dirichlet_divergence
from .exponential_family import ExponentialFamily
from .kl import register_kl


class Beta(ExponentialFamily):
    """Beta distributions: of one share, whose rest is the other.

    Args:
        alpha: positive numbers.
        beta: positive numbers.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Beta(0.5, 0.5).entropy()), 4)
    -0.2416
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = parameters("paddle.distribution.Beta", alpha=alpha, beta=beta)
        self._dirichlet = Dirichlet(paddle.stack([self.alpha, self.beta], axis=-1))
        super().__init__(self.alpha.shape)

    @property
    def mean(self) -> Any:
        """``alpha / (alpha + beta)``."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """Of each distribution."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (paddle.square(total) * (total + 1))

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape``."""
        return self._dirichlet.sample(shape)[..., 0]

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        return self._dirichlet.entropy()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        value = asked(value, self.alpha)
        return self._dirichlet.log_prob(paddle.stack([value, 1 - value], axis=-1))

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        return self.alpha, self.beta

    def _log_normalizer(self, *natural: Any) -> Any:
        alpha, beta = natural
        return paddle.lgamma(alpha) + paddle.lgamma(beta) - paddle.lgamma(alpha + beta)


@register_kl(Beta, Beta)
def beta_divergence(p: Beta, q: Beta) -> Any:
    """Return the divergence of the distributions of both shares."""
    return dirichlet_divergence(p._dirichlet, q._dirichlet)

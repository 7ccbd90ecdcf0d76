"""``paddle.distribution.LogNormal``."""

from __future__ import annotations

from typing import Any

from gradtool import paddle

from ._elementwise_transforms import ExpTransform
from .kl import register_kl
from .normal import Normal, normal_divergence
from .transformed_distribution import TransformedDistribution


class LogNormal(TransformedDistribution):
    """Distributions of positive numbers whose logarithm is normal.

    Args:
        loc: mean of the logarithm.
        scale: standard deviation of the logarithm.
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        normal = Normal(loc, scale)
        self.loc, self.scale = normal.loc, normal.scale
        super().__init__(normal, [ExpTransform()])

    @property
    def mean(self) -> Any:
        """``exp(loc + ½ scale²)``."""
        return paddle.exp(self.loc + 0.5 * paddle.square(self.scale))

    @property
    def variance(self) -> Any:
        """``(exp(scale²) - 1) exp(2 loc + scale²)``."""
        square = paddle.square(self.scale)
        return paddle.expm1(square) * paddle.exp(2 * self.loc + square)

    def entropy(self) -> Any:
        """Return the entropy of the normal distribution, and its mean."""
        return self._base.entropy() + self.loc


@register_kl(LogNormal, LogNormal)
def lognormal_divergence(p: LogNormal, q: LogNormal) -> Any:
    """Return the divergence of the normal distributions below: both sides take the same exponential."""
    bases: tuple[Any, Any] = p._base, q._base
    return normal_divergence(*bases)

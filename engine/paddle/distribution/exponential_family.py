"""``paddle.distribution.ExponentialFamily``: entropies from the logarithm of what normalises a density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import summed
from .distribution import Distribution, NoFormula
from .kl import register_kl


class ExponentialFamily(Distribution):
    """Distributions with a density ``exp(<t(x), θ> - F(θ) + k(x))``.

    A subclass gives ``_natural_parameters`` (θ, a tuple), ``_log_normalizer`` (F) and ``_mean_carrier_measure`` (the
    mean of k), and has an entropy: ``F(θ) - <θ, ∇F(θ)> - E k(x)`` (Nielsen and Nock, "Entropies and cross-entropies of
    exponential families", 2010).
    """

    _mean_carrier_measure: Any = 0.0

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        raise self._without("natural parameters")

    def _log_normalizer(self, *natural: Any) -> Any:
        raise self._without("normalizer")

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        natural = [leaf(one) for one in self._natural_parameters]
        normalizer = self._log_normalizer(*natural)
        slopes = paddle.grad(paddle.sum(normalizer), natural, create_graph=True)
        value = normalizer - self._mean_carrier_measure
        for one, slope in zip(natural, slopes, strict=True):
            value = value - over_events(one * slope, normalizer)
        return value


def over_events(products: Any, normalizer: Any) -> Any:
    """*products*, summed over the axes that the normalizer lacks."""
    return summed(products, max(0, len(products.shape) - len(normalizer.shape)))


def leaf(natural: Any) -> Any:
    """*natural*, with a gradient to be asked for, still a function of the parameters where they have one."""
    out = natural if not natural.stop_gradient else natural.detach()
    out.stop_gradient = False
    return out


@register_kl(ExponentialFamily, ExponentialFamily)
def family_divergence(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    """Return the Bregman divergence of the logarithm of the normalizer, for one family (Nielsen and Nock, 2010)."""
    if type(p) is not type(q):
        raise NoFormula(
            f"paddle.distribution.kl_divergence has no formula for {type(p).__name__} and {type(q).__name__}.",
            hint="write one and register it with @paddle.distribution.register_kl",
        )
    mine, others = [leaf(one) for one in p._natural_parameters], q._natural_parameters
    normalizer = p._log_normalizer(*mine)
    slopes = paddle.grad(paddle.sum(normalizer), mine, create_graph=True)
    value = q._log_normalizer(*others) - normalizer
    for one, other, slope in zip(mine, others, slopes, strict=True):
        value = value + over_events((one - other) * slope, normalizer)
    return value

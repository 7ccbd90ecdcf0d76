"""``paddle.distribution.kl_divergence`` and ``register_kl``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gradtool import paddle

from .bernoulli import Bernoulli, bernoulli_divergence
from .beta import Beta, beta_divergence
from .binomial import Binomial, binomial_divergence
from .categorical import Categorical, categorical_divergence
from .cauchy import Cauchy, cauchy_divergence
from .continuous_bernoulli import ContinuousBernoulli, continuous_bernoulli_divergence
from .dirichlet import Dirichlet, dirichlet_divergence
from .distribution import Distribution, NoFormula
from .exponential import Exponential, exponential_divergence
from .exponential_family import ExponentialFamily, leaf, over_events
from .gamma import Gamma, gamma_divergence
from .geometric import Geometric, geometric_divergence
from .laplace import Laplace, laplace_divergence
from .lognormal import LogNormal
from .multivariate_normal import MultivariateNormal, multivariate_normal_divergence
from .normal import Normal, normal_divergence
from .poisson import Poisson, poisson_divergence
from .uniform import Uniform

F = TypeVar("F", bound=Callable[..., Any])


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The Kullback-Leibler divergence, in nats: what a code for *q* costs more where *p* holds.

    The formula is the one that :func:`register_kl` was given for the nearest classes of both.

    Raises:
        NoFormula: there is none for such a pair (a NotImplementedError).

    >>> from gradtool import paddle
    >>> D = paddle.distribution
    >>> float(D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0)))
    0.5
    """
    return _formula(type(p), type(q))(p, q)


def register_kl(cls_p: type[Distribution], cls_q: type[Distribution]) -> Callable[[F], F]:
    """A decorator of a formula, a function of two distributions, for those of two classes and of their subclasses.

    Raises:
        TypeError: one is no class of distributions.
    """
    if not (issubclass(cls_p, Distribution) and issubclass(cls_q, Distribution)):
        raise TypeError("cls_p and cls_q must be subclass of Distribution.")

    def keep(formula: F) -> F:
        FORMULAS[cls_p, cls_q] = formula
        return formula

    return keep


def _formula(cls_p: type[Distribution], cls_q: type[Distribution]) -> Callable[..., Any]:
    """The one for the nearest classes: those first in the orders in which *p*'s, then *q*'s methods are looked up."""
    for p in cls_p.__mro__:
        for q in cls_q.__mro__:
            if (p, q) in FORMULAS:
                return FORMULAS[p, q]
    raise NoFormula(
        f"paddle.distribution.kl_divergence has no formula for {cls_p.__name__} and {cls_q.__name__}.",
        hint="write one and register it with @paddle.distribution.register_kl",
    )


def _uniform(p: Uniform, q: Uniform) -> Any:
    """The logarithm of the widths' ratio where *q* holds *p*, infinity elsewhere."""
    ratio = paddle.log((q.high - q.low) / (p.high - p.low))
    outside = (q.low > p.low) | (q.high < p.high)
    return paddle.where(outside, paddle.full_like(ratio, float("inf")), ratio)


def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    """Of two of one family: the Bregman divergence of the logarithm of the normalizer (Nielsen and Nock, 2010)."""
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


FORMULAS: dict[tuple[type[Distribution], type[Distribution]], Callable[..., Any]] = {
    (Bernoulli, Bernoulli): bernoulli_divergence,
    (Beta, Beta): beta_divergence,
    (Binomial, Binomial): binomial_divergence,
    (Categorical, Categorical): categorical_divergence,
    (Cauchy, Cauchy): cauchy_divergence,
    (ContinuousBernoulli, ContinuousBernoulli): continuous_bernoulli_divergence,
    (Dirichlet, Dirichlet): dirichlet_divergence,
    (Exponential, Exponential): exponential_divergence,
    (Gamma, Gamma): gamma_divergence,
    (Geometric, Geometric): geometric_divergence,
    (Laplace, Laplace): laplace_divergence,
    (MultivariateNormal, MultivariateNormal): multivariate_normal_divergence,
    (Normal, Normal): normal_divergence,
    (Poisson, Poisson): poisson_divergence,
    (LogNormal, LogNormal): lambda p, q: normal_divergence(p._base, q._base),
    (Uniform, Uniform): _uniform,
    (ExponentialFamily, ExponentialFamily): _exponential_family,
}

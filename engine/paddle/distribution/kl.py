"""``paddle.distribution.kl_divergence`` and ``register_kl``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .distribution import Distribution, NoFormula

F = TypeVar("F", bound=Callable[..., Any])

FORMULAS: dict[tuple[type[Distribution], type[Distribution]], Callable[..., Any]] = {}
"""By the classes of both distributions; the file of each class registers its own."""


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

"""``paddle.distribution.Bernoulli``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, between, parameters, repeated, stopped
from .exponential_family import ExponentialFamily
from .kl import register_kl


class Bernoulli(ExponentialFamily):
    """1 with a probability, else 0.

    Args:
        probs: of 1.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Bernoulli(0.3).entropy()), 4)
    0.6109
    """

    probs: Any
    """The probabilities, where other distributions have the older name of ``prob``."""

    def __init__(self, probs: Any, name: str | None = None) -> None:
        (given,) = parameters("paddle.distribution.Bernoulli", probs=probs)
        self.name = name or "Bernoulli"
        self.probs = between(given, given.dtype)
        self.logits = paddle.log(self.probs) - paddle.log1p(-self.probs)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    @property
    def variance(self) -> Any:
        """``p (1 - p)``."""
        return self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape``, of the type of the probabilities."""
        with paddle.no_grad():
            return stopped(paddle.bernoulli(repeated(self.probs, shape)))

    def rsample(self, shape: Sequence[int] = (), temperature: float = 1.0) -> Any:
        """Logits of draws that are nearly 0 or 1, as functions of the parameter: their sigmoid is the draw.

        Args:
            temperature: how far from 0 and 1 they may be (Maddison, Mnih and Teh, "The concrete distribution", 2016).
        """
        dtype = self.probs.dtype
        place = between(paddle.rand(self._extend_shape(shape), dtype), dtype)
        return (self.logits + paddle.log(place) - paddle.log1p(-place)) / temperature

    def entropy(self) -> Any:
        """``-p ln p - q ln q``."""
        return paddle.nn.functional.softplus(self.logits) - self.probs * self.logits

    def log_prob(self, value: Any) -> Any:
        """``v ln p + (1 - v) ln q``."""
        return asked(value, self.probs) * self.logits - paddle.nn.functional.softplus(self.logits)

    def cdf(self, value: Any) -> Any:
        """The probability of *value* or less."""
        value = asked(value, self.probs)
        zero, one = paddle.zeros_like(self.probs), paddle.ones_like(self.probs)
        return paddle.where(value < 0, zero, paddle.where(value < 1, one - self.probs, one))

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        return (self.logits,)

    def _log_normalizer(self, *natural: Any) -> Any:
        return paddle.nn.functional.softplus(natural[0])


@register_kl(Bernoulli, Bernoulli)
def bernoulli_divergence(p: Bernoulli, q: Bernoulli) -> Any:
    """``p ln p/p' + (1-p) ln (1-p)/(1-p')``."""
    softplus = paddle.nn.functional.softplus
    return p.probs * (p.logits - q.logits) + softplus(q.logits) - softplus(p.logits)

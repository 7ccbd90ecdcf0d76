"""``paddle.distribution.Distribution``: what every distribution answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError

from ._operands import stopped


class NoFormula(UnsupportedError, NotImplementedError):
    """A distribution or a transform does not have what it was asked for."""


class Distribution:
    """The base of distributions.

    A subclass gives ``log_prob`` and, where a draw can be written as a function of its parameters and of noise,
    ``rsample``; ``prob`` and ``sample`` follow from them.

    Args:
        batch_shape: of the parameters: how many distributions there are.
        event_shape: of one draw.
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Number of distributions along each axis."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """Of each distribution."""
        raise self._without("mean")

    @property
    def variance(self) -> Any:
        """Of each distribution."""
        raise self._without("variance")

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``shape + batch_shape + event_shape``."""
        with paddle.no_grad():
            return stopped(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, which gradients go through.

        Raises:
            NoFormula: draws of this distribution are not written so (a NotImplementedError).
        """
        raise self._without("rsample")

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        raise self._without("entropy")

    def kl_divergence(self, other: Distribution) -> Any:
        """From *other* to this one, in nats; see :func:`kl_divergence`."""
        from .kl import kl_divergence

        return kl_divergence(self, other)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density or probability at *value*."""
        raise self._without("log_prob")

    def prob(self, value: Any) -> Any:
        """The density or probability at *value*."""
        return paddle.exp(self.log_prob(value))

    def probs(self, value: Any) -> Any:
        """The density or probability at *value*: an older name of ``prob``."""
        return self.prob(value)

    def _extend_shape(self, sample_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of draws."""
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _without(self, what: str) -> NoFormula:
        return NoFormula(f"paddle.distribution.{type(self).__name__} has no {what}.")

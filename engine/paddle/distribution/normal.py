"""``paddle.distribution.Normal``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.paddle import _random

from ._operands import distance, located
from .distribution import Distribution
from .kl import register_kl

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Normal(Distribution):
    """Normal distributions.

    Args:
        loc: means: a number, a list, an array or a tensor.
        scale: standard deviations, likewise; both are broadcast to one shape.

    >>> from gradtool import paddle
    >>> normal = paddle.distribution.Normal(0.0, 2.0)
    >>> round(float(normal.entropy()), 4), round(float(normal.log_prob(paddle.to_tensor(1.0))), 4)
    (2.1121, -1.7371)
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = located(f"paddle.distribution.{type(self).__name__}", loc=loc, scale=scale)
        self.name = name or type(self).__name__
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """Of each distribution."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Of each distribution."""
        return paddle.square(self.scale)

    @property
    def stddev(self) -> Any:
        """Of each distribution."""
        return self.scale

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Any:
        """Draws, of ``shape + batch_shape``; like Paddle's, they are functions of parameters that are tensors.

        Args:
            seed: 0 for the process's stream, another number for the same draw every time.

        Raises:
            ArgumentTypeError: *shape* is no list or tuple (a TypeError).
        """
        if not isinstance(shape, list | tuple):
            raise ArgumentTypeError(f"{self.name}.sample: 'shape' must be a list or a tuple, but received {shape!r}.")
        noise = _random.gaussian(self._extend_shape(shape), seed=seed, dtype=self.loc.dtype)
        return self.loc + noise * self.scale

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape``."""
        return self.sample(shape)

    def entropy(self) -> Any:
        """``½ + ½ ln 2π + ln scale``."""
        return 0.5 + HALF_LOG_TAU + paddle.log(self.scale) + paddle.zeros_like(self.loc)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        away = distance(value, self.loc, self.scale)
        return -0.5 * paddle.square(away) - paddle.log(self.scale) - HALF_LOG_TAU


@register_kl(Normal, Normal)
def normal_divergence(p: Normal, q: Normal) -> Any:
    """``½ (r² + d² - 1) - ln r`` with the ratio of the deviations and the distance of the means in *q*'s deviations."""
    ratio = p.scale / q.scale
    apart = (p.loc - q.loc) / q.scale
    return 0.5 * (paddle.square(ratio) + paddle.square(apart) - 1) - paddle.log(ratio)

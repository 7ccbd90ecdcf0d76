"""``paddle.distribution.Gumbel``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle

from ._operands import between, distance, parameters
from .distribution import Distribution


class Gumbel(Distribution):
    """Gumbel distributions: of the largest of many numbers.

    Args:
        loc: the most frequent number.
        scale: how widely they lie.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Gumbel(0.0, 1.0).mean), 4)
    0.5772
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = parameters("paddle.distribution.Gumbel", loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """``loc + γ scale`` with Euler's constant."""
        return self.loc + np.euler_gamma * self.scale

    @property
    def stddev(self) -> Any:
        """``π scale / √6``."""
        return math.pi / math.sqrt(6) * self.scale + paddle.zeros_like(self.loc)

    @property
    def variance(self) -> Any:
        """``π² scale² / 6``."""
        return paddle.square(self.stddev)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape``."""
        place = between(paddle.rand(self._extend_shape(shape), self.loc.dtype), self.loc.dtype)
        return self.loc - self.scale * paddle.log(-paddle.log(place))

    def entropy(self) -> Any:
        """``ln scale + 1 + γ``."""
        return paddle.log(self.scale) + (1 + np.euler_gamma) + paddle.zeros_like(self.loc)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        away = distance(value, self.loc, self.scale)
        return -away - paddle.exp(-away) - paddle.log(self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        return paddle.exp(-paddle.exp(-distance(value, self.loc, self.scale)))

"""``paddle.distribution.Cauchy``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import distance, parameters, stopped
from .distribution import Distribution
from .kl import register_kl


class Cauchy(Distribution):
    """Cauchy distributions, which have neither mean nor variance.

    Args:
        loc: where the peak is.
        scale: half of its width at half of its height.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.Cauchy(0.1, 1.2).entropy()), 4)
    2.7133
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = parameters("paddle.distribution.Cauchy", loc=loc, scale=scale)
        self.name = name or "Cauchy"
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.
        """
        raise ValueError("A Cauchy distribution has no mean.")

    @property
    def variance(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.
        """
        raise ValueError("A Cauchy distribution has no variance.")

    @property
    def stddev(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.
        """
        raise ValueError("A Cauchy distribution has no standard deviation.")

    def sample(self, shape: Sequence[int] = (), name: str | None = None) -> Any:
        """Draws without a gradient, of ``shape + batch_shape``."""
        with paddle.no_grad():
            return stopped(self.rsample(shape, name))

    def rsample(self, shape: Sequence[int] = (), name: str | None = None) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape``: the tangent of evenly drawn angles."""
        angle = math.pi * (paddle.rand(self._extend_shape(shape), self.loc.dtype) - 0.5)
        return self.loc + self.scale * paddle.tan(angle)

    def entropy(self) -> Any:
        """``ln 4π scale``."""
        return math.log(4 * math.pi) + paddle.log(self.scale) + paddle.zeros_like(self.loc)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        away = distance(value, self.loc, self.scale)
        return -math.log(math.pi) - paddle.log(self.scale) - paddle.log1p(paddle.square(away))

    def cdf(self, value: Any) -> Any:
        """The probability of less than *value*."""
        return paddle.atan(distance(value, self.loc, self.scale)) / math.pi + 0.5


@register_kl(Cauchy, Cauchy)
def cauchy_divergence(p: Cauchy, q: Cauchy) -> Any:
    """``ln ((s + s')² + d²) / 4 s s'`` (Chyzak and Nielsen, 2019)."""
    squares = paddle.square(p.scale + q.scale) + paddle.square(p.loc - q.loc)
    return paddle.log(squares / (4 * p.scale * q.scale))

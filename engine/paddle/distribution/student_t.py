"""``paddle.distribution.StudentT``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import distance, parameters
from .distribution import Distribution
from .gamma import Gamma


class StudentT(Distribution):
    """Student's t distributions.

    Args:
        df: degrees of freedom.
        loc: where the peak is.
        scale: how widely the numbers lie.

    >>> from gradtool import paddle
    >>> round(float(paddle.distribution.StudentT(5.0, 0.0, 1.0).variance), 4)
    1.6667
    """

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.df, self.loc, self.scale = parameters("paddle.distribution.StudentT", df=df, loc=loc, scale=scale)
        self.name = name or "StudentT"
        super().__init__(self.df.shape)

    @property
    def mean(self) -> Any:
        """``loc`` of more than one degree of freedom, else NaN."""
        return paddle.where(self.df > 1, self.loc, paddle.full_like(self.loc, math.nan))

    @property
    def variance(self) -> Any:
        """Of more than two degrees of freedom; infinite down to one, NaN below."""
        many = self.df > 2
        safe = paddle.where(many, self.df, paddle.full_like(self.df, 3.0))
        rest = paddle.where(self.df > 1, paddle.full_like(self.df, math.inf), paddle.full_like(self.df, math.nan))
        return paddle.where(many, paddle.square(self.scale) * safe / (safe - 2), rest)

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws, of ``shape + batch_shape``; like Paddle's, functions of *loc*, *scale* and *df* but for chi-squares
        drawn.
        """
        normal = paddle.randn(self._extend_shape(shape), self.df.dtype)
        chi_square = 2 * Gamma(0.5 * self.df, paddle.ones_like(self.df)).sample(shape)
        return self.loc + self.scale * normal * paddle.rsqrt(chi_square / self.df)

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        spread = more * (paddle.digamma(more) - paddle.digamma(half))
        return paddle.log(self.scale) + spread + 0.5 * paddle.log(self.df) + self._log_beta()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*."""
        away = distance(value, self.loc, self.scale)
        shape = 0.5 * (self.df + 1) * paddle.log1p(paddle.square(away) / self.df)
        return -shape - paddle.log(self.scale) - 0.5 * paddle.log(self.df) - self._log_beta()

    def _log_beta(self) -> Any:
        """The logarithm of the beta function of half of the degrees of freedom and a half."""
        halves = paddle.lgamma(0.5 * self.df) - paddle.lgamma(0.5 * (self.df + 1))
        return halves + 0.5 * math.log(math.pi)

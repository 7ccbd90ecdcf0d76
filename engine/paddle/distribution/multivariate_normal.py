"""``paddle.distribution.MultivariateNormal``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError

from ._operands import asked, parameters
from .distribution import Distribution
from .kl import register_kl
from .normal import HALF_LOG_TAU


class MultivariateNormal(Distribution):
    """Normal distributions of vectors.

    Args:
        loc: means, in the last axis; one number is that of every element.
        covariance_matrix: a symmetric positive matrix in the last two axes.
        precision_matrix: its inverse.
        scale_tril: a lower triangular matrix whose product with its transpose is the covariance. One of the three is
            given.

    Raises:
        UsageError: none or several are given, or the one has fewer than two axes (a ValueError).

    >>> from gradtool import paddle
    >>> normal = paddle.distribution.MultivariateNormal(paddle.zeros([2]), covariance_matrix=paddle.eye(2))
    >>> round(float(normal.entropy()), 4)
    2.8379
    """

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
    ) -> None:
        where = "paddle.distribution.MultivariateNormal"
        kinds = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = [name for name, matrix in kinds.items() if matrix is not None]
        if len(given) != 1:
            raise UsageError(
                f"{where}: exactly one of covariance_matrix or precision_matrix or scale_tril may be specified, "
                f"but received {' and '.join(given) or 'none'}."
            )
        matrix = kinds[given[0]]
        if len(matrix.shape) < 2:
            raise UsageError(
                f"{where}: '{given[0]}' must have at least two dimensions, but it has {len(matrix.shape)}."
            )
        self._factor = _FACTORS[given[0]](matrix)
        (mean,) = parameters(where, loc=loc)
        batch = paddle.broadcast_shape(list(mean.shape[:-1]), list(matrix.shape[:-2]))
        size = matrix.shape[-1]
        self.loc = paddle.expand(asked(mean, matrix), [*batch, size])
        super().__init__(batch, [size])

    @property
    def scale_tril(self) -> Any:
        """The lower triangular factor, of ``batch_shape + event_shape + event_shape``."""
        size = self._event_shape[0]
        return paddle.expand(self._factor, [*self._batch_shape, size, size])

    @property
    def covariance_matrix(self) -> Any:
        """Of each distribution, likewise."""
        return paddle.matmul(self.scale_tril, self.scale_tril, transpose_y=True)

    @property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, likewise."""
        return paddle.linalg.cholesky_inverse(self.scale_tril)

    @property
    def mean(self) -> Any:
        """Of each distribution, of ``batch_shape + event_shape``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance, likewise."""
        squares = paddle.sum(paddle.square(self._factor), axis=-1)
        return paddle.expand(squares, [*self._batch_shape, *self._event_shape])

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape + event_shape``."""
        noise = paddle.randn(self._extend_shape(shape), self.loc.dtype)
        return self.loc + paddle.matmul(self._factor, noise.unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        half = self._half_log_det() + self._event_shape[0] * (0.5 + HALF_LOG_TAU)
        return paddle.expand(half, list(self._batch_shape)) if self._batch_shape else half

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*, whose last axis is the vector."""
        squares = squared_distance(self._factor, asked(value, self.loc) - self.loc)
        return -0.5 * squares - self._event_shape[0] * HALF_LOG_TAU - self._half_log_det()

    def _half_log_det(self) -> Any:
        return paddle.sum(paddle.log(paddle.diagonal(self._factor, axis1=-2, axis2=-1)), axis=-1)


def _of_precision(precision: Any) -> Any:
    """The lower factor of the inverse: of the matrix read from its end, its factor's inverse, transposed and read
    back.
    """
    factor = paddle.linalg.cholesky(paddle.flip(precision, [-2, -1]))
    turned = paddle.flip(factor, [-2, -1])
    upper = _transposed(turned)
    unit = paddle.eye(precision.shape[-1], dtype=precision.dtype)
    return paddle.linalg.triangular_solve(upper, paddle.expand(unit, precision.shape), upper=False)


_FACTORS: dict[str, Any] = {
    "scale_tril": lambda matrix: matrix,
    "covariance_matrix": lambda matrix: paddle.linalg.cholesky(matrix),
    "precision_matrix": _of_precision,
}


def _transposed(matrix: Any) -> Any:
    rank = len(matrix.shape)
    return paddle.transpose(matrix, [*range(rank - 2), rank - 1, rank - 2])


def squared_distance(factor: Any, difference: Any) -> Any:
    """Of vectors, in units of a lower factor: ``|L⁻¹ d|²``."""
    batch = paddle.broadcast_shape(list(factor.shape[:-2]), list(difference.shape[:-1]))
    size = factor.shape[-1]
    column = paddle.expand(difference, [*batch, size]).unsqueeze(-1)
    whitened = paddle.linalg.triangular_solve(paddle.expand(factor, [*batch, size, size]), column, upper=False)
    return paddle.sum(paddle.square(whitened), axis=[-2, -1])


@register_kl(MultivariateNormal, MultivariateNormal)
def multivariate_normal_divergence(p: MultivariateNormal, q: MultivariateNormal) -> Any:
    """``½ (tr Σ'⁻¹Σ + d² - n) + ln |L'| / |L|``."""
    size = p.event_shape[0]
    solved = paddle.linalg.triangular_solve(q.scale_tril, p.scale_tril, upper=False)
    trace = paddle.sum(paddle.square(solved), axis=[-2, -1])
    distance = squared_distance(q._factor, p.loc - q.loc)
    return 0.5 * (trace + distance - size) + q._half_log_det() - p._half_log_det()

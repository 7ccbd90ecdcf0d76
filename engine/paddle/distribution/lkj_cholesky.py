"""``paddle.distribution.LKJCholesky``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import UsageError

from ._operands import parameters, stopped
from .beta import Beta
from .distribution import Distribution


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices (Lewandowski, Kurowicka and Joe, "Generating random correlation
    matrices", 2009).

    Args:
        dim: of the matrices, at least 2.
        concentration: 1 for all matrices alike, more for small correlations.
        sample_method: ``"onion"``: row by row, or ``"cvine"``: by partial correlations.

    Raises:
        UsageError: *dim* is less than 2, *concentration* not positive, or *sample_method* another one (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.distribution.LKJCholesky(3).sample([2]).shape
    [2, 3, 3]
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        if dim < 2:
            raise UsageError(f"Expected dim greater than or equal to 2. Found dim={dim}.")
        (self.concentration,) = parameters("paddle.distribution.LKJCholesky", concentration=concentration)
        if not bool((self.concentration > 0).all()):
            raise UsageError("paddle.distribution.LKJCholesky: the arg of `concentration` must be positive.")
        if sample_method not in _METHODS:
            raise UsageError(f"`method` should be one of 'cvine' or 'onion', but received {sample_method!r}.")
        self.dim, self.sample_method = dim, sample_method
        super().__init__(self.concentration.shape, [dim, dim])

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, of ``sample_shape + batch_shape + event_shape``."""
        with paddle.no_grad():
            return stopped(_METHODS[self.sample_method](self, sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*, a lower factor in the last two axes."""
        dim, eta = self.dim, paddle.cast(self.concentration.unsqueeze(-1), value.dtype)
        powers = 2 * (eta - 1) + dim - paddle.arange(2, dim + 1, dtype=value.dtype)
        diagonal = paddle.diagonal(value, axis1=-2, axis2=-1)[..., 1:]
        return paddle.sum(powers * paddle.log(diagonal), axis=-1) - self._log_norm(value.dtype)

    def _log_norm(self, dtype: Any) -> Any:
        """The logarithm of what the densities without it add up to (page 1999 of the source)."""
        less = self.dim - 1
        alpha = paddle.cast(self.concentration, dtype) + 0.5 * less
        volume = _log_multigamma(alpha - 0.5, less) - less * paddle.lgamma(alpha)
        return volume + 0.5 * less * math.log(math.pi)


def _log_multigamma(alpha: Any, order: int) -> Any:
    """The logarithm of the gamma function of *order* dimensions."""
    shifts = paddle.arange(order, dtype=alpha.dtype) * 0.5
    each = paddle.lgamma(alpha.unsqueeze(-1) - shifts)
    return 0.25 * order * (order - 1) * math.log(math.pi) + paddle.sum(each, axis=-1)


def _onion(lkj: LKJCholesky, shape: Sequence[int]) -> Any:
    """Each row: a direction drawn evenly, and what a beta distribution leaves on the diagonal."""
    dim, eta = lkj.dim, lkj.concentration.unsqueeze(-1)
    place = paddle.arange(dim - 1, dtype=eta.dtype)
    share = Beta(0.5 * place + 0.5, eta + 0.5 * (dim - 2) - 0.5 * place).sample(shape)
    share = paddle.concat([paddle.zeros_like(share[..., :1]), share], axis=-1).unsqueeze(-1)
    normal = paddle.tril(paddle.randn([*share.shape[:-1], dim], eta.dtype), -1)
    length = paddle.sqrt(paddle.sum(paddle.square(normal), axis=-1, keepdim=True))
    direction = normal / paddle.where(length > 0, length, paddle.ones_like(length))
    return paddle.sqrt(share) * direction + paddle.diag_embed(paddle.sqrt(1 - share).squeeze(-1))


def _cvine(lkj: LKJCholesky, shape: Sequence[int]) -> Any:
    """Partial correlations from beta distributions, each row by what the ones before leave."""
    dim, eta = lkj.dim, lkj.concentration.unsqueeze(-1)
    rows, columns = np.tril_indices(dim, -1)
    alpha = eta + paddle.to_tensor(0.5 * (dim - 2 - columns), dtype=eta.dtype)
    partial = 2 * Beta(alpha, alpha).sample(shape) - 1
    lower = np.zeros((len(rows), dim * dim))
    lower[np.arange(len(rows)), rows * dim + columns] = 1
    square = paddle.matmul(partial, paddle.to_tensor(lower, dtype=eta.dtype))
    square = square.reshape([*partial.shape[:-1], dim, dim])
    rest = paddle.cumprod(paddle.sqrt(1 - paddle.square(square)), dim=-1)
    before = paddle.concat([paddle.ones_like(rest[..., :1]), rest[..., :-1]], axis=-1)
    return (square + paddle.eye(dim, dtype=eta.dtype)) * paddle.tril(before)


_METHODS = {"onion": _onion, "cvine": _cvine}

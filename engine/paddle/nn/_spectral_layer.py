"""A matrix divided by its largest singular value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError

from . import initializer
from .layer import Layer


class NoMatrix(UsageError, AssertionError):
    """A shape without elements, or a dimension that it does not have (Paddle raises AssertionError)."""


class SpectralNorm(Layer):
    """A weight divided by its largest singular value, which power iteration approaches (Miyato et al. 2018).

    The vectors that it begins with, ``weight_u`` and ``weight_v``, stay as they are: every call begins there.

    Args:
        weight_shape: of the weight that calls take.
        dim: the dimension of its rows; the others are the columns.
        power_iters: how many steps each call takes.
        eps: added to the lengths that vectors are divided by.

    Raises:
        NoMatrix: a shape without elements, or a *dim* that it does not have (a ValueError).
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        self._weight_shape, self._dim = list(weight_shape), dim
        self._power_iters, self._eps = power_iters, eps
        if math.prod(self._weight_shape) <= 0:
            raise NoMatrix("Any dimension of `weight_shape` cannot be equal to 0.")
        if dim >= len(self._weight_shape):
            raise NoMatrix(f"The input `dim` should be less than the length of `weight_shape`, but received dim={dim}")
        rows = self._weight_shape[dim]
        for name, size in (("weight_u", rows), ("weight_v", math.prod(self._weight_shape) // rows)):
            vector: Any = self.create_parameter([size], dtype=dtype, default_initializer=initializer.Normal(0.0, 1.0))
            vector.stop_gradient = True
            setattr(self, name, vector)

    def forward(self, x: Any) -> Any:
        axes = [self._dim, *(i for i in range(len(self._weight_shape)) if i != self._dim)]
        matrix = paddle.reshape(paddle.transpose(x, axes), [self._weight_shape[self._dim], -1])
        u: Any = self.weight_u
        v: Any = self.weight_v
        with paddle.no_grad():
            still = matrix.detach()
            for _ in range(self._power_iters):
                v = self._unit(paddle.matmul(still, u, transpose_x=True))
                u = self._unit(paddle.matmul(still, v))
        return x / paddle.sum(u.detach() * paddle.matmul(matrix, v.detach()))

    def _unit(self, vector: Any) -> Any:
        return vector / (paddle.sqrt(paddle.sum(vector * vector)) + self._eps)

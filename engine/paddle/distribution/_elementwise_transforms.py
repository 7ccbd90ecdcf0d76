"""Transforms of each element by itself: ``paddle.distribution.AffineTransform``, ``ExpTransform``, …"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.core.value import AnyTensor

from . import constraint, variable
from ._transform import Transform, Type


def _tensor(value: Any, name: str) -> Any:
    if not isinstance(value, AnyTensor):
        raise ArgumentTypeError(f"Expected '{name}' is a Tensor, but got {type(value).__name__}.")
    return value


class AbsTransform(Transform):
    """``|x|``; the way back gives both numbers, minus and plus."""

    _type = Type.SURJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return paddle.abs(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = paddle.zeros([], dtype=y.dtype)
        return zero, zero


class AffineTransform(Transform):
    """``loc + scale x``.

    Args:
        loc: a tensor.
        scale: a tensor.

    Raises:
        ArgumentTypeError: one is no tensor (a TypeError).
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Any, scale: Any) -> None:
        self._loc, self._scale = _tensor(loc, "loc"), _tensor(scale, "scale")

    @property
    def loc(self) -> Any:
        """Number that is added."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The factor."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.log(paddle.abs(self._scale))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        both = paddle.broadcast_shape(list(self._loc.shape), list(self._scale.shape))
        return paddle.broadcast_shape(list(shape), both)  # type: ignore[no-any-return]

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._forward_shape(shape)


class ExpTransform(Transform):
    """``exp(x)``."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return paddle.exp(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """``x`` to a power, of positive numbers.

    Args:
        power: a tensor.

    Raises:
        ArgumentTypeError: it is no tensor (a TypeError).
    """

    _type = Type.BIJECTION

    def __init__(self, power: Any) -> None:
        self._power = _tensor(power, "power")

    @property
    def power(self) -> Any:
        """The exponent."""
        return self._power

    @property
    def _domain(self) -> variable.Variable:
        return variable.positive

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return paddle.pow(x, self._power)

    def _inverse(self, y: Any) -> Any:
        return paddle.pow(y, 1 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.log(paddle.abs(self._power * paddle.pow(x, self._power - 1)))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return paddle.broadcast_shape(list(shape), list(self._power.shape))  # type: ignore[no-any-return]

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._forward_shape(shape)


class SigmoidTransform(Transform):
    """``1 / (1 + exp(-x))``."""

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return paddle.nn.functional.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.log(y) - paddle.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        softplus = paddle.nn.functional.softplus
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """``tanh(x)``."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return paddle.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return 2 * (math.log(2) - x - paddle.nn.functional.softplus(-2 * x))

"""Transforms of the last axes as one value: ``paddle.distribution.SoftmaxTransform``, ``ReshapeTransform``, …"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from . import constraint, variable
from ._transform import Transform, Type


class ReshapeTransform(Transform):
    """One value in another shape.

    Args:
        in_event_shape: its last axes before.
        out_event_shape: and after.

    Raises:
        ArgumentTypeError: one is no sequence (a TypeError).
        UsageError: they do not hold as many elements (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.distribution.ReshapeTransform((2, 3), (6,)).forward(paddle.ones([4, 2, 3])).shape
    [4, 6]
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        if not isinstance(in_event_shape, Sequence) or not isinstance(out_event_shape, Sequence):
            raise ArgumentTypeError("Expected type of 'in_event_shape' and 'out_event_shape' is Sequence[int].")
        sizes = math.prod(in_event_shape), math.prod(out_event_shape)
        if sizes[0] != sizes[1]:
            raise UsageError(
                f"The numel of 'in_event_shape' should be that of 'out_event_shape', but got {sizes[0]}!={sizes[1]}."
            )
        self._in, self._out = tuple(in_event_shape), tuple(out_event_shape)

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The last axes before."""
        return self._in

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The last axes after."""
        return self._out

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out))

    def _forward(self, x: Any) -> Any:
        return x.reshape(list(self._forward_shape(x.shape)))

    def _inverse(self, y: Any) -> Any:
        return y.reshape(list(self._inverse_shape(y.shape)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.zeros(list(x.shape[: len(x.shape) - len(self._in)]), dtype=x.dtype)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _exchanged(shape, self._in, self._out)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _exchanged(shape, self._out, self._in)


def _exchanged(shape: Sequence[int], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    batch = len(shape) - len(old)
    if batch < 0 or tuple(shape[batch:]) != old:
        raise UsageError(f"Expected a shape that ends with {old}, but got {tuple(shape)}.")
    return (*shape[:batch], *new)


class SoftmaxTransform(Transform):
    """The softmax of the last axis; the way back gives logarithms, one of the many that are mapped to it."""

    _type = Type.OTHER

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Any) -> Any:
        return paddle.nn.functional.softmax(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return paddle.log(y)


class StickBreakingTransform(Transform):
    """Shares that add up to 1, one more than there are numbers in the last axis: each takes a part of what is left.

    >>> from gradtool import paddle
    >>> paddle.distribution.StickBreakingTransform().forward(paddle.zeros([3])).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    _type = Type.BIJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Any) -> Any:
        part = paddle.nn.functional.sigmoid(x - _log_places(x.shape[-1], x.dtype))
        left = paddle.cumprod(1 - part, dim=-1)
        one = paddle.ones_like(x[..., :1])
        return paddle.concat([part, one], axis=-1) * paddle.concat([one, left], axis=-1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = 1 - paddle.cumsum(shares, axis=-1)
        return paddle.log(shares) - paddle.log(left) + _log_places(shares.shape[-1], y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        moved = x - _log_places(x.shape[-1], x.dtype)
        shares = self._forward(x)[..., :-1]
        return paddle.sum(paddle.nn.functional.log_sigmoid(moved) - moved + paddle.log(shares), axis=-1)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _longer(shape, 1)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _longer(shape, -1)


def _log_places(count: int, dtype: Any) -> Any:
    """The logarithms of how many numbers are left, from *count* down to 1."""
    return paddle.log(paddle.arange(count, 0, -1, dtype=dtype))


def _longer(shape: Sequence[int], by: int) -> tuple[int, ...]:
    if not shape:
        raise UsageError("Expected a shape of at least one axis, but got ().")
    return (*shape[:-1], shape[-1] + by)

"""Transforms that are made of others: ``paddle.distribution.ChainTransform``, ``IndependentTransform`` and
``StackTransform``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from . import variable
from ._transform import Transform, log_det_over


def transforms_of(transforms: Any) -> list[Transform]:
    """A sequence of transforms as a list.

    Raises:
        ArgumentTypeError: it is no sequence, or something in it is no transform (a TypeError).
    """
    if not isinstance(transforms, Sequence) or not all(isinstance(one, Transform) for one in transforms):
        raise ArgumentTypeError(
            f"Expected 'transforms' is a Sequence, all elements of it being Transform type, but got {transforms!r:.80}."
        )
    return list(transforms)


class ChainTransform(Transform):
    """One transform after another.

    Args:
        transforms: a sequence of them, in the order in which they are applied.

    Raises:
        ArgumentTypeError: it is none (a TypeError).
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = transforms_of(transforms)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(one._is_injective() for one in self.transforms)

    @property
    def _domain(self) -> variable.Variable:
        rank = 0
        for one in reversed(self.transforms):
            rank = max(one._domain.event_rank, rank + one._domain.event_rank - one._codomain.event_rank)
        return _of_rank(self.transforms[0]._domain, rank)

    @property
    def _codomain(self) -> variable.Variable:
        rank = 0
        for one in self.transforms:
            rank = max(one._codomain.event_rank, rank + one._codomain.event_rank - one._domain.event_rank)
        return _of_rank(self.transforms[-1]._codomain, rank)

    def _forward(self, x: Any) -> Any:
        for one in self.transforms:
            x = one.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for one in reversed(self.transforms):
            y = one.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total: Any = 0.0
        rank = self._domain.event_rank
        for one in self.transforms:
            total = total + log_det_over(one, x, rank)
            x = one.forward(x)
            rank += one._codomain.event_rank - one._domain.event_rank
        return total

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for one in self.transforms:
            shape = one.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for one in reversed(self.transforms):
            shape = one.inverse_shape(shape)
        return shape


def _of_rank(kind: variable.Variable, rank: int) -> variable.Variable:
    return variable.Independent(kind, rank - kind.event_rank)


class IndependentTransform(Transform):
    """A transform some of whose batch axes are counted as axes of one value.

    Args:
        base: a transform.
        reinterpreted_batch_rank: how many axes.

    Raises:
        ArgumentTypeError: *base* is no transform (a TypeError).
        UsageError: there are to be no axes (a ValueError).
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise ArgumentTypeError(f"Expected 'base' is Transform type, but got {type(base).__name__}.")
        if reinterpreted_batch_rank <= 0:
            raise UsageError(
                f"Expected 'reinterpreted_batch_rank' greater than zero, but got {reinterpreted_batch_rank}."
            )
        self._base, self._rank = base, reinterpreted_batch_rank

    def _is_injective(self) -> bool:  # type: ignore[override]
        return self._base._is_injective()

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._rank)

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log_det_over(self._base, x, self._domain.event_rank)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.inverse_shape(shape)


class StackTransform(Transform):
    """A transform of its own for each place of an axis.

    Args:
        transforms: one for each place.
        axis: which axis.

    Raises:
        ArgumentTypeError: *transforms* is no sequence of transforms, or *axis* no int (a TypeError).
        UsageError: it is empty (a ValueError).

    >>> from gradtool import paddle
    >>> D = paddle.distribution
    >>> stack = D.StackTransform([D.ExpTransform(), D.PowerTransform(paddle.to_tensor(2.0))])
    >>> stack.forward(paddle.to_tensor([0.0, 3.0])).tolist()
    [1.0, 9.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        self._transforms = transforms_of(transforms)
        if not self._transforms:
            raise UsageError("Expected 'transforms' is not empty.")
        if not isinstance(axis, int):
            raise ArgumentTypeError(f"Expected 'axis' is int, but got {type(axis).__name__}.")
        self._axis = axis

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(one._is_injective() for one in self._transforms)

    @property
    def transforms(self) -> list[Transform]:
        """One for each place."""
        return self._transforms

    @property
    def axis(self) -> int:
        """Axis that tensors are stacked along."""
        return self._axis

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([one._domain for one in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([one._codomain for one in self._transforms], self._axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)

    def _each(self, way: str, value: Any) -> Any:
        size = value.shape[self._axis]
        if size != len(self._transforms):
            raise UsageError(f"There are {len(self._transforms)} transforms along an axis of size {size}.")
        parts = paddle.unstack(value, self._axis)
        results = [getattr(one, way)(part) for one, part in zip(self._transforms, parts, strict=True)]
        # the change of volume of an affine transform has the shape of its factor
        return paddle.stack([paddle.expand_as(result, parts[0]) for result in results], self._axis)

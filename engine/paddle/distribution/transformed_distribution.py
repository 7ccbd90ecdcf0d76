"""``paddle.distribution.TransformedDistribution``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from ._combined_transforms import ChainTransform, transforms_of
from ._operands import summed
from ._transform import Transform, log_det_over
from .distribution import Distribution
from .independent import Independent


class TransformedDistribution(Distribution):
    """The distribution of what transforms make of draws from another one.

    Args:
        base: the other one.
        transforms: a sequence of transforms, in the order in which they are applied.

    Raises:
        ArgumentTypeError: *base* is no distribution or *transforms* no such sequence (a TypeError).
        UsageError: a draw has fewer axes than the transforms take (a ValueError).

    >>> from gradtool import paddle
    >>> D = paddle.distribution
    >>> squashed = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.TanhTransform()])
    >>> round(float(squashed.log_prob(paddle.to_tensor(0.5))), 4)
    -0.7821
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise ArgumentTypeError(f"Expected type of 'base' is Distribution, but got {type(base).__name__}.")
        self._transforms = transforms_of(transforms)
        chain = ChainTransform(self._transforms)
        if not self._transforms:
            self._base = base
            super().__init__(base.batch_shape, base.event_shape)
            return
        shape = (*base.batch_shape, *base.event_shape)
        taken = chain._domain.event_rank
        if len(shape) < taken:
            raise UsageError(
                f"'base' needs to have shape with size at least {taken}, but got {len(shape)}: the transforms take as "
                "many axes as one value."
            )
        more = taken - len(base.event_shape)
        self._base = Independent(base, more) if more > 0 else base
        rank = chain._codomain.event_rank + max(-more, 0)
        mapped = chain.forward_shape(shape)
        super().__init__(mapped[: len(mapped) - rank], mapped[len(mapped) - rank :])

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Return transformed draws, without a gradient where those have none."""
        return self._mapped(self._base.sample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Return transformed draws that are functions of the base's parameters."""
        return self._mapped(self._base.rsample(shape))

    def _mapped(self, value: Any) -> Any:
        for one in self._transforms:
            value = one.forward(value)
        return value

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at *value*: of the base's on the way back, less the growth of volumes."""
        total: Any = 0.0
        rank = len(self._event_shape)
        for one in reversed(self._transforms):
            before = one.inverse(value)
            rank += one._domain.event_rank - one._codomain.event_rank
            total = total - log_det_over(one, before, rank)
            value = before
        return total + summed(self._base.log_prob(value), rank - len(self._base.event_shape))

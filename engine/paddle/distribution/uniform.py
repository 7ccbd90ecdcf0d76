"""``paddle.distribution.Uniform``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle

from ._operands import asked, located
from .distribution import Distribution
from .kl import register_kl


class Uniform(Distribution):
    """Numbers between two bounds, all of them alike.

    Args:
        low: lower bounds: a number, a list, an array or a tensor.
        high: upper bounds, likewise; both are broadcast to one shape.

    >>> from gradtool import paddle
    >>> uniform = paddle.distribution.Uniform(0.0, 4.0)
    >>> float(uniform.probs(paddle.to_tensor(1.0))), float(uniform.probs(paddle.to_tensor(5.0)))
    (0.25, 0.0)
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.low, self.high = located("paddle.distribution.Uniform", low=low, high=high)
        self.name = name or "Uniform"
        super().__init__(self.low.shape)

    @property
    def mean(self) -> Any:
        """Halfway between the bounds."""
        return 0.5 * (self.low + self.high)

    @property
    def variance(self) -> Any:
        """A twelfth of the squared width."""
        return paddle.square(self.high - self.low) / 12

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Any:
        """Draws, of ``shape + batch_shape``; like Paddle's, they are functions of parameters that are tensors.

        Args:
            seed: 0 for the process's stream, another number for the same draw every time.
        """
        share = paddle.uniform(self._extend_shape(shape), self.low.dtype, 0.0, 1.0, seed=seed)
        return self.low + share * (self.high - self.low)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Draws as functions of the parameters, of ``shape + batch_shape``."""
        return self.sample(shape)

    def entropy(self) -> Any:
        """The logarithm of the width."""
        return paddle.log(self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """Minus the logarithm of the width between the bounds, minus infinity elsewhere."""
        return paddle.log(self._inside(value)) - paddle.log(self.high - self.low)

    def prob(self, value: Any) -> Any:
        """One by the width between the bounds, 0 elsewhere."""
        return self._inside(value) / (self.high - self.low)

    def _inside(self, value: Any) -> Any:
        value = asked(value, self.low)
        return paddle.cast((self.low < value) & (value < self.high), self.low.dtype)


@register_kl(Uniform, Uniform)
def uniform_divergence(p: Uniform, q: Uniform) -> Any:
    """Return the logarithm of the widths' ratio where *q* holds *p*, infinity elsewhere."""
    ratio = paddle.log((q.high - q.low) / (p.high - p.low))
    outside = (q.low > p.low) | (q.high < p.high)
    return paddle.where(outside, paddle.full_like(ratio, float("inf")), ratio)

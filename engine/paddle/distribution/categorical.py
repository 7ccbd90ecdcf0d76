"""``paddle.distribution.Categorical``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.value import AnyTensor

from ._operands import parameters, repeated, stopped
from .distribution import Distribution
from .kl import register_kl


class Categorical(Distribution):
    """One of several categories.

    *logits* mean two things in Paddle, and do here: ``probs`` and ``log_prob`` take them for weights, each by the
    sum of all, while ``sample``, ``entropy`` and ``kl_divergence`` take their softmax. Where all of them shall
    agree, give logarithms of probabilities to one and probabilities to another.

    Args:
        logits: a number for each category, in the last axis.

    >>> from gradtool import paddle
    >>> category = paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0]))
    >>> category.probs(paddle.to_tensor([0, 1])).tolist()
    [0.25, 0.75]
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        (self.logits,) = parameters("paddle.distribution.Categorical", logits=logits)
        self.name = name or "Categorical"
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Draws without a gradient, int64, of ``shape + batch_shape``."""
        with paddle.no_grad():
            weights = paddle.nn.functional.softmax(self.logits)
            rows = weights.reshape([-1, weights.shape[-1]])
            drawn = paddle.multinomial(rows, math.prod(shape), replacement=True)
            return stopped(paddle.transpose(drawn, [1, 0]).reshape([*shape, *self._batch_shape]))

    def entropy(self) -> Any:
        """In nats, of ``batch_shape``."""
        logarithms = paddle.nn.functional.log_softmax(self.logits)
        return -paddle.sum(paddle.exp(logarithms) * logarithms, axis=-1)

    def probs(self, value: Any) -> Any:
        """The weight of each category in *value* by the sum of all.

        Args:
            value: numbers of categories, int64. Those of one axis are asked of each distribution; those of more axes
                have the axes of *logits*, with any size in the last.
        """
        shares = self.logits / paddle.sum(self.logits, axis=-1, keepdim=True)
        value = value if isinstance(value, AnyTensor) else paddle.to_tensor(value)
        value = value if value.dtype.name == "int64" else paddle.cast(value, "int64")
        if len(shares.shape) == 1:
            return paddle.gather(shares, value.reshape([-1])).reshape(value.shape)
        if len(value.shape) == 1:
            value = repeated(value, self._batch_shape)
        return paddle.take_along_axis(shares, value, axis=-1)

    def prob(self, value: Any) -> Any:
        """The same as ``probs``."""
        return self.probs(value)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of :meth:`probs`."""
        return paddle.log(self.probs(value))


@register_kl(Categorical, Categorical)
def categorical_divergence(p: Categorical, q: Categorical) -> Any:
    """``Σ p ln p/p'`` of the softmax of the logits; the last axis stays, of size 1, as in Paddle."""
    log_softmax = paddle.nn.functional.log_softmax
    mine, others = log_softmax(p.logits), log_softmax(q.logits)
    return paddle.sum(paddle.exp(mine) * (mine - others), axis=-1, keepdim=True)

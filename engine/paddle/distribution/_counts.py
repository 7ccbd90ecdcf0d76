"""Entropies of whole numbers from 0."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle

from .distribution import Distribution


def entropy_of_counts(counts: Distribution, most: int, dtype: Any) -> Any:
    """``-Σ p ln p`` over the numbers up to *most*."""
    numbers = paddle.arange(most + 1, dtype=dtype).reshape([most + 1] + [1] * len(counts.batch_shape))
    logarithm = counts.log_prob(numbers)
    possible = logarithm > -math.inf
    finite = paddle.where(possible, logarithm, paddle.zeros_like(logarithm))
    each = paddle.where(possible, paddle.exp(finite) * finite, paddle.zeros_like(finite))
    return -paddle.sum(each, axis=0)

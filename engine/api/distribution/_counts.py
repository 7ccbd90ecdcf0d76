"""Entropies of whole numbers from 0."""

from __future__ import annotations

import math
from typing import Any

import gradtool

from .distribution import Distribution


def entropy_of_counts(counts: Distribution, most: int, dtype: Any) -> Any:
    """``-Σ p ln p`` over the numbers up to *most*."""
    numbers = gradtool.arange(most + 1, dtype=dtype).reshape([most + 1] + [1] * len(counts.batch_shape))
    logarithm = counts.log_prob(numbers)
    possible = logarithm > -math.inf
    finite = gradtool.where(possible, logarithm, gradtool.zeros_like(logarithm))
    each = gradtool.where(possible, gradtool.exp(finite) * finite, gradtool.zeros_like(finite))
    return -gradtool.sum(each, axis=0)

"""Losses that are minus the logarithm of a density."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.state import in_static_mode
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS

from ._ranking import reduced

_WIDE = ("float32", "float64")


def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-06,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """``(log(variance) + (input - label)² / variance) / 2``, for a label that is drawn from a normal distribution.

    Args:
        input: its mean.
        variance: its variance: of the shape of *input*, or without the last dimension, or with 1 there. No gradient
            flows to it, as in Paddle.
        full: add the constant, ``log(2 π) / 2``.
        epsilon: the least variance that is reckoned with.

    Raises:
        UsageError: another shape, a negative variance, an unknown reduction (a ValueError).
    """
    for what, v in (("input", input), ("label", label), ("variance", variance)):
        tensor(v, what, "gaussian_nll_loss", _WIDE)
    if list(variance.shape) != list(input.shape):
        if list(input.shape[:-1]) == list(variance.shape):
            variance = paddle.unsqueeze(variance, -1)
        elif list(input.shape[:-1]) != list(variance.shape[:-1]) or variance.shape[-1] != 1:
            raise UsageError(
                f"variance is of incorrect shape: it is {list(variance.shape)}, and input {list(input.shape)}"
            )
    _known(reduction)
    if not in_static_mode() and bool(paddle.any(variance < 0)):
        raise UsageError("variance has negative entry/entries")
    spread = paddle.clip(variance.detach(), min=epsilon)
    loss = 0.5 * (paddle.log(spread) + paddle.square(input - label) / spread)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _known(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise UsageError(f"{reduction} is not valid: the reduction is 'none', 'mean' or 'sum'")


def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-08,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """``exp(input) - label · input``, for a label that is drawn from a Poisson distribution.

    Args:
        input: the logarithm of its mean, or with *log_input* False the mean itself.
        full: add Stirling's approximation of ``log(label!)`` where the label is greater than 1.
        epsilon: added to the mean before its logarithm is taken.

    Raises:
        UsageError: another shape, an epsilon that is not positive, an unknown reduction (a ValueError).
    """
    if epsilon <= 0:
        raise UsageError(
            f"The value of `epsilon` in poisson_nll_loss should be positive, but received {epsilon:f}, which is not "
            "allowed"
        )
    if reduction not in ("sum", "mean", "none"):
        raise UsageError(
            "The value of 'reduction' in poisson_nll_loss should be 'sum', 'mean' or 'none', but received "
            f"{reduction}, which is not allowed."
        )
    for what, v in (("input", input), ("label", label)):
        tensor(v, what, "poisson_nll_loss", FLOATS)
    if list(input.shape) != list(label.shape):
        raise UsageError(
            f"input's shape must equal to label's shape: they are {list(input.shape)} and {list(label.shape)}"
        )
    loss = paddle.exp(input) - label * input if log_input else input - label * paddle.log(input + epsilon)
    if full:
        stirling = label * paddle.log(label) - label + 0.5 * paddle.log(2 * math.pi * label)
        loss = loss + paddle.where(label > 1, stirling, paddle.zeros_like(stirling))
    return reduced(loss, reduction)

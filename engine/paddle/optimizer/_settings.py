"""Checks of what optimizers are given."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, LossError, UsageError
from gradtool.paddle.regularizer import L2Decay, WeightDecayRegularizer


class MissingSetting(UsageError, AssertionError):
    """A setting that must be given is None (Paddle raises ValueError or AssertionError)."""


class LossSizeError(LossError, AssertionError):
    """A loss of several elements (Paddle's minimize raises AssertionError)."""


class FixedRateError(UsageError, RuntimeError):
    """The learning rate is set by hand although a scheduler sets it (Paddle raises RuntimeError)."""


def required(what: str, value: Any) -> Any:
    """*value*, which must not be None; raises :class:`MissingSetting`."""
    if value is None:
        raise MissingSetting(f"{what} is not set.")
    return value


def within(what: str, value: Any, low: float, high: float | None = None) -> float:
    """*value* as a float from *low* up to but without *high*.

    Raises:
        MissingSetting: it is None (a ValueError and an AssertionError).
        ArgumentTypeError: it is no number (a TypeError).
        UsageError: it is outside (a ValueError).
    """
    required(what, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} must be a number, but received {type(value).__name__}.")
    if not (value >= low and (high is None or value < high)):
        bounds = f"{what} >= {low:g}" if high is None else f"{what} in [{low:g},{high:g})"
        raise UsageError(f"Invalid value of {what}, expect {bounds}, but received {value}.")
    return float(value)


def as_regularizer(weight_decay: Any, where: str) -> WeightDecayRegularizer | None:
    """Return the regularizer for a ``weight_decay`` argument.

    Raises:
        ArgumentTypeError: it is no number, regularizer or None (a TypeError).
    """
    if weight_decay is None or isinstance(weight_decay, WeightDecayRegularizer):
        return weight_decay
    if isinstance(weight_decay, (int, float)) and not isinstance(weight_decay, bool):
        return L2Decay(float(weight_decay))
    raise ArgumentTypeError(
        f"The type of 'weight_decay' in {where} must be float or a regularizer, "
        f"but received {type(weight_decay).__name__}."
    )

"""Schedules that go down by steps or along a curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from ._schedule import LRScheduler, decreasing, number, require


class NoamDecay(LRScheduler):
    """``learning_rate · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)`` (Vaswani et al. 2017)."""

    def __init__(
        self,
        d_model: float,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require(d_model > 0, "NoamDecay", "d_model must be greater than 0")
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rising = self.last_epoch * self.warmup_steps**-1.5
        falling = self.last_epoch**-0.5 if self.last_epoch else math.inf
        return float(self.base_lr * self.d_model**-0.5 * min(rising, falling))


class PiecewiseDecay(LRScheduler):
    """``values[i]`` up to step ``boundaries[i]``, the last value from then on."""

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if len(values) != len(boundaries) + 1:
            raise UsageError(
                f"PiecewiseDecay: values must have one element more than boundaries, "
                f"but received {len(values)} and {len(boundaries)}."
            )
        self.boundaries = list(boundaries)
        self.values = list(values)
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        passed = next((i for i, b in enumerate(self.boundaries) if self.last_epoch < b), len(self.boundaries))
        return float(self.values[passed])


class _Shrinking(LRScheduler):
    """A schedule with one number, *gamma*."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = number("gamma", gamma, type(self).__name__)
        super().__init__(learning_rate, last_epoch, verbose)


class NaturalExpDecay(_Shrinking):
    """``learning_rate · exp(-gamma · step)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require(number("gamma", gamma, "NaturalExpDecay") > 0, "NaturalExpDecay", "gamma must be positive")
        super().__init__(learning_rate, gamma, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(_Shrinking):
    """``learning_rate / (1 + gamma · step)``."""

    def get_lr(self) -> float:
        return float(self.base_lr / (1 + self.gamma * self.last_epoch))


class ExponentialDecay(_Shrinking):
    """``learning_rate · gamma^step``, with gamma between 0 and 1."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        inside = 0 < number("gamma", gamma, "ExponentialDecay") < 1
        require(inside, "ExponentialDecay", "gamma must be between 0 and 1")
        super().__init__(learning_rate, gamma, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma**self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From *learning_rate* to *end_lr* in *decay_steps*, along ``(1 - step/decay_steps)^power``.

    Args:
        cycle: start anew at *learning_rate* with twice, three times, … as many steps each time the end is reached.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        whole = isinstance(decay_steps, int) and decay_steps > 0
        require(whole, "PolynomialDecay", "decay_steps must be a positive integer")
        require(power > 0, "PolynomialDecay", "power must be positive")
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        step, total = self.last_epoch, self.decay_steps
        if self.cycle:
            total *= max(1, math.ceil(step / total))
        left = 1 - min(step, total) / total
        return float((self.base_lr - self.end_lr) * left**self.power + self.end_lr)


class MultiStepDecay(LRScheduler):
    """Multiplied by *gamma* at each of *milestones*."""

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, (tuple, list)):
            raise ArgumentTypeError(
                "The type of 'milestones' in MultiStepDecay must be tuple or list, "
                f"but received {type(milestones).__name__}."
            )
        if any(a >= b for a, b in pairwise(milestones)):
            raise UsageError(f"MultiStepDecay: the milestones must grow, but received {list(milestones)}.")
        decreasing(gamma, "MultiStepDecay")
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma ** sum(m <= self.last_epoch for m in self.milestones))


class StepDecay(LRScheduler):
    """Multiplied by *gamma* every *step_size* steps."""

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        number("step_size", step_size, "StepDecay", whole=True)
        require(step_size > 0, "StepDecay", "step_size must be positive")
        decreasing(gamma, "StepDecay")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))


class _ByFunction(LRScheduler):
    """A schedule by a function of the step."""

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not callable(lr_lambda):
            raise ArgumentTypeError(
                f"The type of 'lr_lambda' in {type(self).__name__} must be function, "
                f"but received {type(lr_lambda).__name__}."
            )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)


class LambdaDecay(_ByFunction):
    """``learning_rate · lr_lambda(step)``."""

    def get_lr(self) -> float:
        return float(self.base_lr * self.lr_lambda(self.last_epoch))


class MultiplicativeDecay(_ByFunction):
    """The learning rate before, times ``lr_lambda(step)``."""

    def get_lr(self) -> float:
        factor = 1.0
        for step in range(1, self.last_epoch + 1):
            factor *= self.lr_lambda(step)
        return float(self.base_lr * factor)

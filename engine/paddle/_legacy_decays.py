"""Learning rates of ``fluid.dygraph``: they go on by themselves with every ``minimize``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.paddle.optimizer import lr
from gradtool.paddle.optimizer.lr import LRScheduler


class LearningRateDecay(LRScheduler):
    """Base of the learning rates that follow a number of steps; the optimizers of version 1 count them.

    Args:
        begin: the number of the first step.
        step: how much the number grows with a step.
    """

    def __init__(self, begin: int = 0, step: int = 1, dtype: Any = "float32") -> None:
        self.begin, self.step_size, self.dtype = begin, step, dtype
        super().__init__(0.0)

    @property
    def step_num(self) -> int:
        """The number of the step now."""
        return self.begin + self.last_epoch * self.step_size

    def get_lr(self) -> float:
        value = self.rate(self.step_num)
        return float(value() if isinstance(value, LRScheduler) else value)

    def rate(self, n: int) -> Any:
        """The learning rate of the step with that number; subclasses define it."""
        raise TypeError(f"{type(self).__name__} does not define rate()")


class PiecewiseDecay(LearningRateDecay):
    """*values* one after the other, changed at *boundaries*."""

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], begin: int, step: int = 1, dtype: Any = "float32"
    ) -> None:
        self.boundaries, self.values = boundaries, values
        super().__init__(begin, step, dtype)

    def rate(self, n: int) -> float:
        return next((v for b, v in zip(self.boundaries, self.values, strict=False) if n < b), self.values[-1])


class _Falling(LearningRateDecay):
    """A rate that falls with the number of steps in units of *decay_steps*."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        self.learning_rate, self.decay_steps, self.decay_rate = learning_rate, decay_steps, decay_rate
        self.staircase = staircase
        super().__init__(begin, step, dtype)

    def units(self, n: int) -> float:
        """Return how often *decay_steps* have passed."""
        passed = n / self.decay_steps
        return math.floor(passed) if self.staircase else passed


class NaturalExpDecay(_Falling):
    """``learning_rate * e^(-decay_rate * n / decay_steps)``."""

    def rate(self, n: int) -> float:
        return self.learning_rate * math.exp(-self.decay_rate * self.units(n))


class ExponentialDecay(_Falling):
    """``learning_rate * decay_rate^(n / decay_steps)``."""

    def rate(self, n: int) -> float:
        return float(self.learning_rate * self.decay_rate ** self.units(n))


class InverseTimeDecay(_Falling):
    """``learning_rate / (1 + decay_rate * n / decay_steps)``."""

    def rate(self, n: int) -> float:
        return self.learning_rate / (1 + self.decay_rate * self.units(n))


class PolynomialDecay(LearningRateDecay):
    """From *learning_rate* to *end_learning_rate* within *decay_steps*; with *cycle* again and again."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        self.learning_rate, self.decay_steps, self.end_learning_rate = learning_rate, decay_steps, end_learning_rate
        self.power, self.cycle = power, cycle
        super().__init__(begin, step, dtype)

    def rate(self, n: int) -> float:
        length: float = self.decay_steps
        if self.cycle:
            length *= max(1.0, math.ceil(n / self.decay_steps))
        share = (1 - min(n, length) / length) ** self.power
        return float((self.learning_rate - self.end_learning_rate) * share + self.end_learning_rate)


class CosineDecay(LearningRateDecay):
    """``learning_rate * (cos(π * epoch / epochs) + 1) / 2``, the epoch being ``n // step_each_epoch``."""

    def __init__(
        self,
        learning_rate: float,
        step_each_epoch: int,
        epochs: int,
        begin: int = 0,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        self.learning_rate, self.step_each_epoch, self.epochs = learning_rate, step_each_epoch, epochs
        super().__init__(begin, step, dtype)

    def rate(self, n: int) -> float:
        return self.learning_rate * 0.5 * (math.cos(n // self.step_each_epoch * math.pi / self.epochs) + 1)


class NoamDecay(LearningRateDecay):
    """``learning_rate * d_model^-0.5 * min(n^-0.5, n * warmup_steps^-1.5)`` (Vaswani et al. 2017)."""

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        begin: int = 1,
        step: int = 1,
        dtype: Any = "float32",
        learning_rate: float = 1.0,
    ) -> None:
        self.d_model, self.warmup_steps, self.learning_rate = d_model, warmup_steps, learning_rate
        super().__init__(begin, step, dtype)

    def rate(self, n: int) -> float:
        rising = n * self.warmup_steps**-1.5
        return float(self.learning_rate * self.d_model**-0.5 * min(n**-0.5 if n else math.inf, rising))


class LinearLrWarmup(LearningRateDecay):
    """From *start_lr* to *end_lr* within *warmup_steps*, then *learning_rate*, which may be one of these itself."""

    def __init__(
        self,
        learning_rate: float | LearningRateDecay,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        begin: int = 1,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        self.learning_rate, self.warmup_steps, self.start_lr, self.end_lr = (
            learning_rate,
            warmup_steps,
            start_lr,
            end_lr,
        )
        super().__init__(begin, step, dtype)

    def rate(self, n: int) -> Any:
        if n < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * n / self.warmup_steps
        if not isinstance(self.learning_rate, LearningRateDecay):
            return self.learning_rate
        value = self.learning_rate()
        self.learning_rate.step()
        return value


class _ByEpoch:
    """A schedule of today whose epochs the user counts: ``epoch()`` goes on to the next one."""

    step: Callable[..., None]

    def epoch(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to *epoch*."""
        self.step(epoch)


class StepDecay(_ByEpoch, lr.StepDecay):
    """As ``paddle.optimizer.lr.StepDecay``, with the factor called *decay_rate*; ``epoch()`` goes on."""

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, step_size, decay_rate)


class MultiStepDecay(_ByEpoch, lr.MultiStepDecay):
    """As ``paddle.optimizer.lr.MultiStepDecay``, with the factor called *decay_rate*; ``epoch()`` goes on."""

    def __init__(self, learning_rate: float, milestones: Sequence[int], decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, list(milestones), decay_rate)


class LambdaDecay(_ByEpoch, lr.LambdaDecay):
    """As ``paddle.optimizer.lr.LambdaDecay``; ``epoch()`` goes on."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float]) -> None:
        super().__init__(learning_rate, lr_lambda)

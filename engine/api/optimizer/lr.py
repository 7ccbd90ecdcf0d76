"""``paddle.optimizer.lr``: schedules of the learning rate (paddle.md 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from gradtool import _lazy
from gradtool.engine.errors import ArgumentTypeError, NotFound, UsageError

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]


class ScheduleError(UsageError, AssertionError):
    """A setting outside its range (Paddle raises ValueError or AssertionError)."""


class StateError(NotFound, RuntimeError):
    """A state dict that lacks an entry (Paddle raises RuntimeError)."""


def _number(what: str, value: Any, where: str, *, whole: bool = False) -> Any:
    """*value*, if it is a number (an integer with *whole*)."""
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        wanted = "int" if whole else "float"
        raise ArgumentTypeError(
            f"The type of '{what}' in {where} must be {wanted}, but received {type(value).__name__}."
        )
    return value


def _require(holds: bool, where: str, message: str) -> None:
    if not holds:
        raise ScheduleError(f"{where}: {message}.")


class LRScheduler:
    """Base of all schedules: calling it gives the learning rate now, :meth:`step` goes on to the next.

    A subclass defines ``get_lr()`` in terms of ``self.last_epoch``, which counts steps from 0, and ``self.base_lr``;
    it sets its own attributes before it calls ``super().__init__``.

    Args:
        learning_rate: where it starts.
        last_epoch: the step to go on from; -1 starts anew.
        verbose: print the learning rate at every step.

    Raises:
        ArgumentTypeError: *learning_rate* is no number (a TypeError).
        UsageError: it is negative (a ValueError).
    """

    keys: Sequence[str] = ("last_epoch", "last_lr")
    """The attributes that make up the state."""

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        _number("learning_rate", learning_rate, type(self).__name__)
        if learning_rate < 0:
            raise UsageError(f"Invalid learning rate: {learning_rate}")
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self) -> float:
        return self.last_lr

    def get_lr(self) -> float:
        """The learning rate of step ``self.last_epoch``."""
        raise TypeError(f"{type(self).__name__} does not define get_lr()")

    def at_epoch(self) -> float:
        """The learning rate after a jump to ``self.last_epoch``; where get_lr builds on the one before, not that."""
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next step, or to *epoch*."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr() if epoch is None else self.at_epoch()
        self._announce()

    def _announce(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_dict(self) -> dict[str, Any]:
        """What :meth:`set_state_dict` needs to go on from here."""
        return {k: getattr(self, k) for k in self.keys}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state; raises :class:`StateError` (a RuntimeError) when it lacks an entry."""
        for k in self.keys:
            if k not in state_dict:
                raise StateError(f"{type(self).__name__}: the state has no {k!r}", hint=f"it has {sorted(state_dict)}")
            setattr(self, k, state_dict[k])

    set_dict = set_state_dict


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
        _require(d_model > 0, "NoamDecay", "d_model must be greater than 0")
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
        self.gamma = _number("gamma", gamma, type(self).__name__)
        super().__init__(learning_rate, last_epoch, verbose)


class NaturalExpDecay(_Shrinking):
    """``learning_rate · exp(-gamma · step)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _require(_number("gamma", gamma, "NaturalExpDecay") > 0, "NaturalExpDecay", "gamma must be positive")
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
        inside = 0 < _number("gamma", gamma, "ExponentialDecay") < 1
        _require(inside, "ExponentialDecay", "gamma must be between 0 and 1")
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
        _require(whole, "PolynomialDecay", "decay_steps must be a positive integer")
        _require(power > 0, "PolynomialDecay", "power must be positive")
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


class LinearWarmup(LRScheduler):
    """From *start_lr* to *end_lr* in *warmup_steps*, then *learning_rate*: a number, or a schedule that begins then."""

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, LRScheduler):
            _number("learning_rate", learning_rate, "LinearWarmup")
        _require(end_lr > start_lr, "LinearWarmup", f"end_lr {end_lr} must be greater than start_lr {start_lr}")
        _require(
            isinstance(warmup_steps, int) and warmup_steps > 0,
            "LinearWarmup",
            "warmup_steps must be a positive integer",
        )
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        done = self.last_epoch / self.warmup_steps
        if done < 1:
            return (self.end_lr - self.start_lr) * done + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return float(self.learning_rate)

    def state_dict(self) -> dict[str, Any]:
        """As in every schedule; that of the schedule inside is under ``LinearWarmup_LR``."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state; raises :class:`StateError` (a RuntimeError) when it lacks an entry."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            if "LinearWarmup_LR" not in state_dict:
                raise StateError("LinearWarmup: the state has no 'LinearWarmup_LR'")
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict


def _decreasing(gamma: float, where: str) -> None:
    if gamma >= 1.0:
        raise UsageError(f"{where}: gamma should be < 1.0, but received {gamma}.")


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
        _decreasing(gamma, "MultiStepDecay")
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
        _number("step_size", step_size, "StepDecay", whole=True)
        _require(step_size > 0, "StepDecay", "step_size must be positive")
        _decreasing(gamma, "StepDecay")
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


class CosineAnnealingDecay(LRScheduler):
    """``eta_min + (learning_rate - eta_min)/2 · (1 + cos(π·step/T_max))`` (Loshchilov and Hutter 2017)."""

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _number("T_max", T_max, "CosineAnnealingDecay", whole=True)
        _number("eta_min", eta_min, "CosineAnnealingDecay")
        _require(T_max > 0, "CosineAnnealingDecay", "T_max must be a positive integer")
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        wave = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave


class CosineAnnealingWarmRestarts(LRScheduler):
    """A cosine from *learning_rate* to *eta_min* that starts anew after *T_0* steps (Loshchilov and Hutter 2017).

    Args:
        T_mult: each period is as many times longer than the one before.
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        for what, value in (("T_0", T_0), ("T_mult", T_mult)):
            _number(what, value, "CosineAnnealingWarmRestarts", whole=True)
            if value < 1:
                raise UsageError(f"CosineAnnealingWarmRestarts: {what} must be at least 1, but received {value}.")
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        step, period = self.last_epoch, self.T_0
        while step >= period:
            step, period = step - period, period * self.T_mult
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * step / period)) / 2


class LinearLR(LRScheduler):
    """From ``start_factor · learning_rate`` to ``end_factor · learning_rate`` in *total_steps*, along a line."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise UsageError(f"LinearLR: start_factor must be above 0 and at most 1, but received {start_factor}.")
        if not 0 <= end_factor <= 1:
            raise UsageError(f"LinearLR: end_factor must be from 0 to 1, but received {end_factor}.")
        if total_steps <= 0:
            raise UsageError(f"LinearLR: total_steps must be positive, but received {total_steps}.")
        self.total_steps = total_steps
        self.start_factor = start_factor
        self.end_factor = end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        done = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ReduceOnPlateau(LRScheduler):
    """Multiplied by *factor* once a metric has not improved for more than *patience* steps.

    Args:
        mode: whether ``"min"`` or ``"max"`` of the metric is wanted.
        threshold, threshold_mode: by how much it must change to count as better, ``"rel"`` or ``"abs"``.
        cooldown: how many steps to wait after a change.
        min_lr: the least learning rate.
        epsilon: changes smaller than that are not made.
    """

    keys = ("cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr")

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        for what, value, known in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in known:
                raise UsageError(f"ReduceOnPlateau: {what} must be one of {', '.join(known)}, but received {value!r}.")
        _number("learning_rate", learning_rate, "ReduceOnPlateau")
        _decreasing(factor, "ReduceOnPlateau")
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self.best: float | None = None
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose

    def get_lr(self) -> float:
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on to the next step, or to *epoch*, with the metric of the one that has ended: a number or one element.

        Raises:
            ArgumentTypeError: *metrics* is neither (a TypeError).
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        try:
            value = float(metrics.item() if hasattr(metrics, "item") else metrics)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"ReduceOnPlateau.step takes one number, but received {type(metrics).__name__}."
            ) from None
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self._is_better(value):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            lower = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - lower > self.epsilon:
                self.last_lr = lower
                self._announce()

    def _is_better(self, value: float) -> bool:
        if self.best is None:
            return True
        margin = self.threshold * self.best if self.threshold_mode == "rel" else self.threshold
        return value < self.best - margin if self.mode == "min" else value > self.best + margin


__getattr__ = _lazy.refuse(__name__, globals())

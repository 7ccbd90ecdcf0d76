"""Schedules that also go up, start anew, or follow a metric."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from ._schedule import LRScheduler, StateError, decreasing, number, require


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
            number("learning_rate", learning_rate, "LinearWarmup")
        require(end_lr > start_lr, "LinearWarmup", f"end_lr {end_lr} must be greater than start_lr {start_lr}")
        require(
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


class CosineAnnealingDecay(LRScheduler):
    """``eta_min + (learning_rate - eta_min)/2 · (1 + cos(π·step/T_max))`` (Loshchilov and Hutter 2017).

    ``get_lr`` goes on from the rate before, ``last_lr``, as in Paddle: who changed that changes what follows.
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        number("T_max", T_max, "CosineAnnealingDecay", whole=True)
        number("eta_min", eta_min, "CosineAnnealingDecay")
        require(T_max > 0, "CosineAnnealingDecay", "T_max must be a positive integer")
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate before was the least one, from which no proportion leads up again.
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        ratio = self._wave(self.last_epoch) / self._wave(self.last_epoch - 1)
        return ratio * (self.last_lr - self.eta_min) + self.eta_min

    def at_epoch(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * self._wave(self.last_epoch) / 2

    def _wave(self, step: int) -> float:
        return 1 + math.cos(math.pi * step / self.T_max)


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
            number(what, value, "CosineAnnealingWarmRestarts", whole=True)
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
        for what, value, choices in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in choices:
                raise UsageError(
                    f"ReduceOnPlateau: {what} must be one of {', '.join(choices)}, but received {value!r}."
                )
        number("learning_rate", learning_rate, "ReduceOnPlateau")
        decreasing(factor, "ReduceOnPlateau")
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
        self._go_on(metrics)
        self._note_step()

    def _go_on(self, metrics: Any) -> None:
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

"""Schedules that go up to a greatest learning rate and down again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from ._schedule import LRScheduler, number


def _positive(what: str, value: Any, where: str) -> None:
    number(what, value, where, whole=True)
    if value <= 0:
        raise UsageError(f"{where}: '{what}' must be a positive integer, but received {value}.")


class OneCycleLR(LRScheduler):
    """Once up to *max_learning_rate* and down to almost nothing (Smith and Topin 2019).

    Args:
        total_steps: how many steps there are.
        divide_factor: it starts at ``max_learning_rate / divide_factor``.
        end_learning_rate: where it ends.
        phase_pct: which part of the steps goes up.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        three_phase: go down to the start in as many steps as up, and to the end in those that are left.

    Raises:
        UsageError: a setting outside its range, or a step after the last (a ValueError).
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        number("max_learning_rate", max_learning_rate, "OneCycleLR")
        _positive("total_steps", total_steps, "OneCycleLR")
        if max_learning_rate < 0 or end_learning_rate < 0:
            raise UsageError("OneCycleLR: learning rates must not be negative.")
        if not 0 <= phase_pct <= (0.5 if three_phase else 1):
            raise UsageError(f"OneCycleLR: phase_pct must be from 0 to 1 (0.5 with three phases), not {phase_pct}.")
        if anneal_strategy not in ("cos", "linear"):
            raise UsageError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}.")
        start = max_learning_rate / divide_factor
        up = phase_pct * total_steps - 1
        ends = [up, 2 * up, total_steps - 1] if three_phase else [up, total_steps - 1]
        rates = [start, max_learning_rate, *([start] if three_phase else []), end_learning_rate]
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        self.phases = list(zip([0.0, *ends], ends, rates, rates[1:], strict=False))
        super().__init__(start, last_epoch, verbose)

    def get_lr(self) -> float:
        step = self.last_epoch
        if step > self.total_steps:
            raise UsageError(f"OneCycleLR: step {step} was asked for, but there are {self.total_steps}.")
        first, last, low, high = next((p for p in self.phases if step <= p[1]), self.phases[-1])
        done = (step - first) / (last - first) if last != first else 1.0
        if self.anneal_strategy == "linear":
            return low + (high - low) * done
        return high + (low - high) / 2 * (1 + math.cos(math.pi * done))


class CyclicLR(LRScheduler):
    """Up and down between two learning rates, again and again (Smith 2017).

    Args:
        step_size_up, step_size_down: how many steps go up and down; as many down as up when None.
        mode: ``"triangular"``; ``"triangular2"`` halves the height in each cycle; ``"exp_range"`` multiplies it by
            *exp_gamma* in each step.
        scale_fn: what to multiply the height by instead: a function of the cycle's number, from 1, or of the step's
            with ``scale_mode="iterations"``.

    Raises:
        UsageError: a setting outside its range (a ValueError).
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        number("max_learning_rate", max_learning_rate, "CyclicLR")
        _positive("step_size_up", step_size_up, "CyclicLR")
        if step_size_down is not None:
            _positive("step_size_down", step_size_down, "CyclicLR")
        if scale_fn is not None and not callable(scale_fn):
            raise ArgumentTypeError(f"CyclicLR: scale_fn must be a function, but received {type(scale_fn).__name__}.")
        if scale_mode not in ("cycle", "iterations"):
            raise UsageError(f"CyclicLR: scale_mode must be 'cycle' or 'iterations', but received {scale_mode!r}.")
        scales: dict[str, tuple[str, Callable[[int], float]]] = {
            "triangular": ("cycle", lambda cycle: 1.0),
            "triangular2": ("cycle", lambda cycle: 0.5 ** (cycle - 1)),
            "exp_range": ("iterations", lambda step: exp_gamma**step),
        }
        if scale_fn is None and mode not in scales:
            raise UsageError(f"CyclicLR: mode must be one of {', '.join(scales)}, but received {mode!r}.")
        self.scale_mode, self.scale_fn = scales[mode] if scale_fn is None else (scale_mode, scale_fn)
        self.max_lr = float(max_learning_rate)
        self.up = step_size_up
        self.down = step_size_up if step_size_down is None else step_size_down
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        before, place = divmod(self.last_epoch, self.up + self.down)
        part = place / self.up if place <= self.up else 1 - (place - self.up) / self.down
        scale = self.scale_fn(before + 1 if self.scale_mode == "cycle" else self.last_epoch)
        return float(self.base_lr + (self.max_lr - self.base_lr) * part * scale)

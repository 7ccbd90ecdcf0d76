"""Times of groups: a plan whose steps report how long they were, the groups next to their members one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from ..backend import Clock, StepDuration
from .fused import FusedKernel
from .fusing import FusingBackend
from .tuning import Tuning

_numbers = itertools.count()


class MeasuredBackend(FusingBackend):
    """Compiles plans in their first run, and tells *clock* what their steps take from then on.

    Plans of blocks do so, too. An operator that holds blocks is not told: its steps are.
    """

    def __init__(self, own: FusingBackend, clock: Clock) -> None:
        super().__init__(own.name, own.chain)
        self.eager, self.key = own.eager, f"{own.name} measured {next(_numbers)}"
        self._clock = clock

    def tuning(self, plan: Any) -> Tuning:
        return _MeasuredTuning(plan, self._clock)


class _MeasuredTuning(Tuning):
    def __init__(self, plan: Any, clock: Clock) -> None:
        super().__init__(plan)
        self._clock = clock

    def __call__(self, steps: Iterable[Any]) -> bool:
        super().__call__(steps)
        self.plan.carry_out([self._measure(step) for step in self.plan.path[0]])
        return True

    def _measure(self, step: Any) -> Any:
        if isinstance(step.kernel, FusedKernel):
            return replace(step, kernel=_together(step.kernel, self._clock))
        if step.op is None or step.op.op.holds_blocks:
            return step
        return replace(step, kernel=_alone(step.op, step.kernel, self._clock))


def _alone(op: Any, kernel: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    members = (op,)

    def run(*values: Any) -> Any:
        start = perf_counter()
        result = kernel(*values)
        clock(StepDuration(members, perf_counter() - start))
        return result

    return run


def _together(kernel: FusedKernel, clock: Clock) -> Callable[..., Any]:
    members = tuple(kernel.operators)
    ways: list[Callable[[Sequence[Any]], Any]] = [lambda values: kernel(*values), kernel.separately]

    order = [0, 1]

    def run(*values: Any) -> Any:
        seconds, results = [0.0, 0.0], [None, None]
        order.reverse()  # who comes second finds the values in the caches
        for way in order:
            start = perf_counter()
            results[way] = ways[way](values)
            seconds[way] = perf_counter() - start
        clock(StepDuration(members, seconds[0], seconds[1], kernel.differs))
        return results[0]

    return run

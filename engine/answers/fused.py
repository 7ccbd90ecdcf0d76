"""Groups of operators that are computed together, by one compiled function, and what that takes."""

from __future__ import annotations

import statistics
from dataclasses import field
from typing import Any

from ..core.records import dataclass
from ..core.result import Result
from ..kernels.backend import StepDuration


@dataclass
class StepTime:
    """A step of a plan: a group of operators, or one alone.

    Attributes:
        members: its operators, in their order.
        calls: how often a run of the program carries it out; that of a block is carried out once for each round.
        seconds: of each repeat, of all its calls together.
        apart: what the operators of a group took one by one on the same values; empty of one alone.
        given_up: whether the group is computed one by one, since its first run has shown another result than NumPy's.
    """

    members: tuple[Any, ...]
    calls: int = 0
    seconds: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    given_up: bool = False

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else 0.0

    @property
    def median_apart(self) -> float:
        return statistics.median(self.apart) if self.apart else 0.0


@dataclass
class FusedStory(Result):
    """The cost of steps of plans.

    Attributes:
        groups: the slowest first.
        alone: operators that are computed by themselves, in the order of the run.
        why: why there are no groups; empty where there are.
    """

    groups: list[StepTime]
    alone: list[StepTime]
    why: str = ""

    @property
    def operators(self) -> int:
        """Return how many operators are in groups."""
        return sum(len(g.members) for g in self.groups)

    @property
    def repeats(self) -> int:
        return max((len(s.seconds) for s in (*self.groups, *self.alone)), default=0)

    def __str__(self) -> str:
        if self.why:
            return f"nothing is fused: {self.why}"
        return "\n".join(f"{len(g.members)} operators: {1e6 * g.median:.1f} µs" for g in self.groups)


class StepClock:
    """Is told what steps took, and adds it up, run by run.

    Runs before the first call of :meth:`begin` do not count.
    """

    def __init__(self) -> None:
        self._steps: dict[tuple[Any, ...], StepTime] = {}
        self._runs = 0

    def begin(self) -> None:
        """Take note that a repeat begins."""
        self._runs += 1
        for step in self._steps.values():
            step.calls = 0

    def __call__(self, taken: StepDuration) -> None:
        if not self._runs:
            return
        step = self._steps.setdefault(taken.members, StepTime(taken.members))
        step.calls += 1
        step.given_up = step.given_up or taken.given_up
        _add(step.seconds, taken.seconds, step.calls)
        if taken.apart is not None:
            _add(step.apart, taken.apart, step.calls)

    def story(self) -> FusedStory:
        steps = [*self._steps.values()]
        groups = sorted((s for s in steps if s.apart), key=lambda s: -s.median)
        why = "" if groups else NO_NEIGHBOURS
        return FusedStory(groups, [s for s in steps if not s.apart], why)


NO_NEIGHBOURS = "no neighbours among its operators are elementwise and large enough to be worth a function"


def _add(seconds: list[float], more: float, calls: int) -> None:
    """Count *more* to the last repeat, or begin the next one with it."""
    if calls == 1:
        seconds.append(more)
    else:
        seconds[-1] += more


def fuse_nothing(why: str) -> FusedStory:
    """Nothing is computed together."""
    return FusedStory([], [], why)

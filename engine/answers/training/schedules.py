"""Schedules of learning rates, beside the steps of the optimizers that they set the rate of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...eager.tensor import Tensor


@dataclass
class ScheduleCourse:
    """A schedule and what became of it.

    Attributes:
        by: its class.
        tensors: what its optimizer holds.
        loc: where it was made.
        length: after how many of its steps it has run once; None where that is not known.
        begins: the rate that it began with.
        base: the rate that the optimizer was made with.
        optimizer: the class of the optimizer; empty before its first step.
        update: the line of the optimizer's last step.
        rates: the learning rate of each step of the optimizer.
        steps: for each step of the schedule, how many of these were made before it.
        course: the rates that it began with and gave.
        lines: where the schedule was stepped.
        is_jumped: whether the program said once which step it is.
        passes: how many passes over the data had steps of the optimizer; 0 where nobody saw the data.
        left_out: how many steps of the optimizer were left out since a gradient was not finite.
    """

    by: str
    tensors: tuple[Tensor, ...]
    loc: Location
    length: int | None
    begins: float | None
    base: float | None
    optimizer: str = ""
    update: Location = NOWHERE
    rates: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    course: list[float] = field(default_factory=list)
    lines: list[Location] = field(default_factory=list)
    is_jumped: bool = False
    passes: int = 0
    left_out: int = 0
    _pass: int = 0

    def note_update(self, event: watch.Updating, data_pass: int) -> None:
        """Note a step of the optimizer."""
        self.optimizer, self.update = event.by, source.here()
        if event.rate is not None:
            self.rates.append(event.rate)
        if data_pass != self._pass:
            self._pass = data_pass
            self.passes += 1

    def note_step(self, event: watch.Advanced) -> None:
        """Note a step of the schedule."""
        self.steps.append(len(self.rates))
        if event.rate is not None:
            self.course.append(event.rate)
        self.is_jumped = self.is_jumped or event.jumped
        where = source.here()
        if where not in self.lines:
            self.lines.append(where)


@dataclass
class Schedules:
    """Hears of schedules, and of the steps of their optimizers.

    Attributes:
        found: by what stands for them, all that are no part of another.
    """

    found: dict[Any, ScheduleCourse] = field(default_factory=dict)
    _data_pass: int = 0

    @handles(watch.Scheduled, watch.Advanced, watch.DataBegan, watch.Updating, watch.Unscaled)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if isinstance(event, watch.Scheduled):
            self._begin(event)
        elif isinstance(event, watch.DataBegan):
            self._data_pass += 1
        elif isinstance(event, watch.Advanced):
            if event.schedule in self.found:
                self.found[event.schedule].note_step(event)
        elif self.found:
            self._note_optimizer(event)

    def _begin(self, event: watch.Scheduled) -> None:
        for part in event.parts:
            self.found.pop(part, None)
        about = event.length, event.rate, event.base
        course = ScheduleCourse(event.by, event.tensors, source.here(), *about)
        course.course += [] if event.rate is None else [event.rate]
        self.found[event.schedule] = course

    def _note_optimizer(self, event: watch.Updating | watch.Unscaled) -> None:
        """Note a step of an optimizer, or one that is left out."""
        for course in self._find(event.tensors):
            if isinstance(event, watch.Updating):
                course.note_update(event, self._data_pass)
            elif not event.finite:
                course.left_out += 1

    def _find(self, tensors: tuple[Tensor, ...]) -> Iterator[ScheduleCourse]:
        """Yield the schedules of the optimizer that holds *tensors*; groups may have been added to it since."""
        held = set(map(identity, tensors))
        for course in self.found.values():
            if course.tensors and identity(course.tensors[0]) in held:
                yield course

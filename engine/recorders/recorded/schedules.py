"""Replacements for names of a framework that report the schedules of learning rates, and passes over the data."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from ...core.identity import identity
from ...core.schedules import find_length
from . import events
from .patched_names import Row
from .recorder import FrameworkRecorder
from .relays import wrap_relay

Put = Callable[[Any, str, Any], None]
"""Has something stand there until the end: whose name it is, the name, and what stands there."""


class ScheduleRecorder:
    """Tells of schedules of learning rates: where they are made, and each of their steps.

    Args:
        tensors: of an optimizer, the tensors that it holds.
        rate: its learning rate, if that is a number.
        base: of a schedule and its optimizer, the rate that this was made with.
        parts: of a schedule, those that it steps by itself.
        put: stands something in for a name of a class until the end.
        bound: the optimizer that a schedule sets the rate of; None where schedules do not know that.
    """

    def __init__(
        self,
        recorder: FrameworkRecorder,
        tensors: Callable[[Any], list[Any]],
        rate: Callable[[Any], float | None],
        base: Callable[[Any, Any], float | None],
        parts: Callable[[Any], Iterable[Any]],
        put: Put,
        bound: Callable[[Any], Any] | None = None,
    ) -> None:
        self._recorder = recorder
        self._tensors, self._rate, self._base, self._parts = tensors, rate, base, parts
        self._put, self._bound = put, bound
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._sites: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """Where the schedules were made."""
        self._next = itertools.count(1)
        self._busy: set[int] = set()
        """The schedules whose constructor or step runs: a class calls that of its base."""
        self._wrapped: set[type] = set()

    def rows(self, classes: Iterable[type]) -> Iterator[Row]:
        """Yield the rows for classes of schedules."""
        for cls in classes:
            if "__init__" in vars(cls):
                yield cls, "__init__", self._wrap_constructor(vars(cls)["__init__"])
            if "step" in vars(cls):
                self._wrapped.add(cls)
                yield cls, "step", self._wrap_step(vars(cls)["step"])

    def bind(self, schedule: Any, optimizer: Any) -> None:
        """Tell that a schedule sets the learning rate of an optimizer."""
        recorder = self._recorder
        if recorder.quiet:
            return
        recorder.flush()
        site = self._sites.get(schedule) or recorder.site()
        tensors = tuple([recorder.number(p, site) for p in self._tensors(optimizer)])
        parts = tuple([self._number(part) for part in self._parts(schedule)])
        by, length = type(schedule).__name__, find_length(schedule)
        about = length, parts, self._rate(optimizer), self._base(schedule, optimizer)
        recorder.sink(events.ScheduleMade(self._number(schedule), by, tensors, *about, site))

    def _number(self, schedule: Any) -> int:
        if schedule not in self._numbers:
            self._numbers[schedule] = next(self._next)
        return self._numbers[schedule]

    def _wrap_constructor(self, original: Callable[..., Any]) -> Callable[..., Any]:
        called = wrap_relay(original)

        @functools.wraps(original)
        def init(schedule: Any, *args: Any, **named: Any) -> None:
            if self._recorder.quiet or identity(schedule) in self._busy:
                called(schedule, *args, **named)
                return
            self._busy.add(identity(schedule))
            try:
                called(schedule, *args, **named)
            finally:
                self._busy.discard(identity(schedule))
            self._sites[schedule] = self._recorder.site()
            self._follow(type(schedule))
            if self._bound is not None:
                self.bind(schedule, self._bound(schedule))

        return init

    def _follow(self, cls: type) -> None:
        """Hear of the steps of classes that the program itself defines."""
        for base in cls.__mro__:
            if "step" in vars(base) and base not in self._wrapped:
                self._wrapped.add(base)
                self._put(base, "step", self._wrap_step(vars(base)["step"]))

    def _wrap_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        takes_metric = "metrics" in original.__code__.co_varnames[: original.__code__.co_argcount]
        called = wrap_relay(original)

        @functools.wraps(original)
        def step(schedule: Any, *args: Any, **named: Any) -> Any:
            known = schedule in self._sites
            if self._recorder.quiet or not known or identity(schedule) in self._busy:
                return called(schedule, *args, **named)
            self._busy.add(identity(schedule))
            try:
                result = called(schedule, *args, **named)
            finally:
                self._busy.discard(identity(schedule))
            self._recorder.flush()
            rate = _last_rate(schedule) if self._bound is None else self._rate(self._bound(schedule))
            jumped = bool(args or named) and not takes_metric
            self._recorder.sink(events.ScheduleStepped(self._number(schedule), rate, jumped, self._recorder.site()))
            return result

        return step


def _last_rate(schedule: Any) -> float | None:
    rate = getattr(schedule, "last_lr", None)
    return float(rate) if isinstance(rate, (int, float)) else None


def report_data_passes(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tell that the program begins to go through its data."""
    numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    @functools.wraps(original)
    def begin(data: Any) -> Any:
        if not recorder.quiet:
            recorder.flush()
            number = numbers.setdefault(data, len(numbers) + 1)
            recorder.sink(events.DataPassBegan(number, recorder.site()))
        return original(data)

    return begin

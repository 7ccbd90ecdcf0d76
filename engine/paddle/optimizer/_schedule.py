"""Base of schedules of the learning rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from gradtool.engine.core import source, watch
from gradtool.engine.core.errors import ArgumentTypeError, NotFound, UsageError
from gradtool.engine.core.schedules import find_length
from gradtool.engine.core.source import NOWHERE, Location


class ScheduleError(UsageError, AssertionError):
    """A setting outside its range (Paddle raises ValueError or AssertionError)."""


class StateError(NotFound, RuntimeError):
    """A state dict that lacks an entry (Paddle raises RuntimeError)."""


def number(what: str, value: Any, where: str, *, whole: bool = False) -> Any:
    """*value*, if it is a number (an integer with *whole*)."""
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        wanted = "int" if whole else "float"
        raise ArgumentTypeError(
            f"The type of '{what}' in {where} must be {wanted}, but received {type(value).__name__}."
        )
    return value


def require(holds: bool, where: str, message: str) -> None:
    if not holds:
        raise ScheduleError(f"{where}: {message}.")


def decreasing(gamma: float, where: str) -> None:
    if gamma >= 1.0:
        raise UsageError(f"{where}: gamma should be < 1.0, but received {gamma}.")


_places: WeakKeyDictionary[LRScheduler, Location] = WeakKeyDictionary()
"""Where schedules were made while somebody watched."""


def note_schedule(schedule: LRScheduler, tensors: tuple[Any, ...]) -> None:
    """Tell who watches that *schedule* sets the learning rate of the optimizer that holds *tensors*."""
    before = source.pretend(_places.get(schedule, NOWHERE) or source.here())
    try:
        by, length = type(schedule).__name__, find_length(schedule)
        watch.note(watch.Scheduled(schedule, by, tensors, length, (), schedule.last_lr, schedule.base_lr))
    finally:
        source.pretend(before)


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

    def __new__(cls, *args: Any, **named: Any) -> LRScheduler:
        """Make one, and note where, if somebody watches."""
        made = super().__new__(cls)
        if watch.noting:
            _places[made] = source.here()
        return made

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        number("learning_rate", learning_rate, type(self).__name__)
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
        self._note_step(jumped=epoch is not None)

    def _note_step(self, jumped: bool = False) -> None:
        """Tell who watches that the schedule went on."""
        if watch.noting:
            watch.note(watch.Advanced(self, self.last_lr, jumped))

    def _announce(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_keys(self) -> None:
        """Say in ``self.keys`` which attributes make up the state; for subclasses that have others."""
        self.keys = [*type(self).keys]

    def state_dict(self) -> dict[str, Any]:
        """Return the state that :meth:`set_state_dict` needs to go on from here."""
        self.state_keys()
        return {k: getattr(self, k) for k in self.keys}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state; raises :class:`StateError` (a RuntimeError) when it lacks an entry."""
        self.state_keys()
        for k in self.keys:
            if k not in state_dict:
                raise StateError(f"{type(self).__name__}: the state has no {k!r}", hint=f"it has {sorted(state_dict)}")
            setattr(self, k, state_dict[k])

    set_dict = set_state_dict

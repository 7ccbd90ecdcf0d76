"""The values of a run, within a budget of bytes.

Values are held by reference and never changed. Beyond the budget the oldest are let go of; every so many entries the
results stay, so that computing others again starts from there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_FIRST_STRIDE = 16
"""One value of so many stays when others are let go of; the distance doubles when these are too many."""


class Store:
    """Arrays by the number of their value.

    Args:
        budget: how many bytes to hold, beside those that cannot be computed again; None for no limit.

    Attributes:
        bytes: how many of these there are now; 0 where there is no budget.
        dropped: how many were let go of.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.dropped = 0
        self.bytes = 0
        self._held: dict[int, Any] = {}
        self._queue: OrderedDict[int, None] = OrderedDict()
        self._anchors: OrderedDict[int, None] = OrderedDict()
        self._stride = _FIRST_STRIDE
        self.get: Callable[[int], Any] = self._held.get
        """The array of a number, or None when it is not held."""

    def __contains__(self, number: int) -> bool:
        return number in self._held

    def __len__(self) -> int:
        return len(self._held)

    def home(self, value: Any) -> Any:
        """*value*, as somebody looks at it."""
        return value

    def keep(self, number: int, array: Any) -> None:
        """Hold an array for good."""
        self._uncount(number)
        self._held[number] = array

    def put(self, number: int, array: Any) -> None:
        """Hold an array that can be computed again."""
        if number in self._held:
            return
        self._held[number] = array
        if self.budget is None:
            return
        self.bytes += _size(array)
        self._queue[number] = None
        if self.bytes > self.budget:
            self._shrink(number)

    def replace(self, number: int, array: Any) -> None:
        """Hold another array, with the same values, in the place of one."""
        self._held[number] = array

    def drop(self, number: int) -> Any:
        """Let go of a value that nobody will ask for; the array, or None if it was not held."""
        self._uncount(number)
        return self._held.pop(number, None)

    def release(self, number: int) -> None:
        """Let go of a value that somebody may ask for."""
        self.drop(number)

    def copy(self) -> Store:
        """A store that holds the same values and no longer changes with this one; nothing is let go of there."""
        copy = Store()
        copy._held.update(self._held)
        return copy

    def items(self) -> Iterator[tuple[int, Any]]:
        return iter(self._held.items())

    def _uncount(self, number: int) -> None:
        if self.budget is None:
            return
        for queue in (self._queue, self._anchors):
            if number in queue:
                del queue[number]
                self.bytes -= _size(self._held[number])

    def _shrink(self, newest: int) -> None:
        """Let go of the oldest until the budget is kept: first what lies between anchors, then every other anchor."""
        assert self.budget is not None
        while self.bytes > self.budget:
            number = next(iter(self._queue), newest)
            if number == newest:
                if not self._anchors:
                    return
                self._stride *= 2
                self._queue, self._anchors = OrderedDict([*self._anchors.items(), *self._queue.items()]), OrderedDict()
                continue
            if number and number % self._stride == 0:
                del self._queue[number]
                self._anchors[number] = None
                continue
            self.dropped += 1
            self.release(number)


class Remote(Store):
    """Arrays that stay where they were computed until somebody looks at them.

    Args:
        home: gives a value with NumPy's arrays in it.
    """

    def __init__(self, budget: int | None, home: Callable[[Any], Any]) -> None:
        super().__init__(budget)
        self._there = home
        self.get = self._fetch

    def home(self, value: Any) -> Any:
        """As in the base: with NumPy's arrays in it."""
        return value if value is None or isinstance(value, np.ndarray) else self._there(value)

    def copy(self) -> Store:
        """As in the base."""
        copy = Remote(None, self._there)
        copy._held.update(self._held)
        return copy

    def _fetch(self, number: int) -> Any:
        there = self._held.get(number)
        here = self.home(there)
        if here is not there and _size(here) == _size(there):
            self._held[number] = here
        return here


def _size(array: Any) -> int:
    return int(getattr(array, "nbytes", 0)) if not isinstance(array, np.generic) else 0

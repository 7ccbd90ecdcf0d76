"""The values of a run, within a budget of bytes.

Values are held by reference and never changed. Beyond the budget the oldest are let go of; every so many entries the
results stay, so that computing others again starts from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

_FIRST_STRIDE = 16
"""One value of so many stays when others are let go of; the distance doubles when these are too many."""


class Store:
    """Arrays by the number of their value.

    Args:
        budget: how many bytes to hold, beside those that cannot be computed again; None for no limit.

    Attributes:
        dropped: how many were let go of.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.dropped = 0
        self.bytes = 0
        self._held: dict[int, Any] = {}
        self._kept: set[int] = set()
        self._queue: deque[int] = deque()
        self._anchors: deque[int] = deque()
        self._stride = _FIRST_STRIDE

    def __contains__(self, number: int) -> bool:
        return number in self._held

    def __len__(self) -> int:
        return len(self._held)

    def get(self, number: int) -> Any:
        """The array, or None when it is not held."""
        return self._held.get(number)

    def keep(self, number: int, array: Any) -> None:
        """Hold an array for good."""
        if self.budget is not None and number in self._held and number not in self._kept:
            self.bytes -= _size(self._held[number])
        self._held[number] = array
        self._kept.add(number)

    def put(self, number: int, array: Any) -> None:
        """Hold an array that can be computed again."""
        if number in self._held:
            return
        self._held[number] = array
        if self.budget is None:
            return
        self.bytes += _size(array)
        self._queue.append(number)
        if self.bytes > self.budget:
            self._shrink(number)

    def replace(self, number: int, array: Any) -> None:
        """Hold another array, with the same values, in the place of one."""
        self._held[number] = array

    def drop(self, number: int) -> None:
        """Let go of a value that nobody will ask for."""
        array = self._held.pop(number, None)
        if self.budget is not None and array is not None and number not in self._kept:
            self.bytes -= _size(array)
        self._kept.discard(number)

    def copied(self) -> Store:
        """A store that holds the same values and no longer changes with this one; nothing is let go of there."""
        made = Store()
        made._held, made._kept = dict(self._held), set(self._kept)
        return made

    def items(self) -> Iterator[tuple[int, Any]]:
        return iter(self._held.items())

    def _shrink(self, newest: int) -> None:
        """Let go of the oldest until the budget is kept: first what lies between anchors, then every other anchor."""
        assert self.budget is not None
        while self.bytes > self.budget:
            if not self._queue or self._queue[0] == newest:
                if not self._anchors:
                    return
                self._stride *= 2
                self._queue.extendleft(reversed(self._anchors))
                self._anchors.clear()
            number = self._queue.popleft()
            if number in self._kept:
                continue
            if number and number % self._stride == 0:
                self._anchors.append(number)
                continue
            array = self._held.pop(number, None)
            if array is not None:
                self.bytes -= _size(array)
                self.dropped += 1


def _size(array: Any) -> int:
    return int(getattr(array, "nbytes", 0)) if not isinstance(array, np.generic) else 0

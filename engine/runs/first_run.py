"""Running a timeline from its beginning, once: what fills its store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from ..core import state
from ..core.streams import Position
from .bound_kernels import number_results
from .timeline import Entry, FixedOperand, Timeline


def fill(
    timeline: Timeline,
    draws: Callable[[Entry], bool] = lambda entry: False,
    explained: Callable[[Entry, Exception, list[Any]], BaseException] = lambda entry, error, operands: error,
) -> None:
    """Compute all values that can be and are not there, up to the first operator that fails.

    A value stays at hand until its last reader has run, whatever the store lets go of meanwhile.

    Args:
        draws: whether an entry may draw random numbers now; it draws the same ones whenever it runs again.
        explained: what an operator raised, with what it was given, as people should see it.
    """
    filling = _Filling(timeline)
    end = timeline.failed[0] if timeline.failed is not None else len(timeline.entries)
    for entry in timeline.entries[:end]:
        if entry.kernel is not None and filling.can_run(entry):
            before = state.random.position if draws(entry) else None
            operands = [_operand(o, filling.at_hand) for o in entry.operands]
            try:
                with np.errstate(all="ignore"):
                    results = entry.kernel(*operands)
            except Exception as error:
                timeline.failed = entry.index, explained(entry, error, operands)
                return
            if before is not None:
                entry.kernel, entry.drawn = redraw(entry.kernel, before), before
            for number, array in number_results(entry, results):
                filling.hold(number, array)
        for total in entry.sums:
            filling.add(total)
        filling.let_go(entry)


class _Filling:
    """The values of a timeline that are at hand: those that are still to be read."""

    def __init__(self, timeline: Timeline) -> None:
        self._values = timeline.values
        self._store = timeline.store
        self._last: dict[int, int] = {}
        """Values -> the last entry that reads them."""
        for entry in timeline.entries:
            self._last.update(dict.fromkeys(self._read(entry), entry.index))
        self._before = {n for n, _ in timeline.store.items()}
        self.at_hand = {n: a for n, a in timeline.store.items() if n in self._last}

    def _read(self, entry: Entry) -> set[int]:
        """Return the values that an entry reads, as operands and as parts of the sums that end there."""
        parts = [self._values[total].parts or () for total in entry.sums]
        return {*entry.inputs, *chain.from_iterable(parts)}

    def can_run(self, entry: Entry) -> bool:
        """Return whether all that the entry reads is at hand, and not all that it makes is there."""
        is_there = bool(entry.outs) and self._before >= {n for _, n in entry.outs if n >= 0}
        return not is_there and self.at_hand.keys() >= {*entry.inputs}

    def hold(self, number: int, array: Any) -> None:
        """Have a value that an entry made."""
        if number < 0 or number in self.at_hand:  # then it was there before the run, and stays
            return
        self._store.put(number, array)
        if number in self._last:
            self.at_hand[number] = array

    def add(self, total: int) -> None:
        """Have the sum of two values, if they are at hand."""
        parts = self._values[total].parts
        if parts is None or total in self._before or not self.at_hand.keys() >= {*parts}:
            return
        with np.errstate(all="ignore"):
            array = self.at_hand[parts[0]] + self.at_hand[parts[1]]
        self.hold(total, array)

    def let_go(self, entry: Entry) -> None:
        """Of what nobody reads after the entry."""
        for number in self._read(entry):
            if self._last[number] == entry.index:
                self.at_hand.pop(number, None)


def _operand(operand: Any, at_hand: dict[int, Any]) -> Any:
    if isinstance(operand, list):
        return [_operand(o, at_hand) for o in operand]
    if isinstance(operand, FixedOperand):
        return operand.value
    return None if operand is None else at_hand[operand]


def redraw(kernel: Callable[..., Any], before: Position) -> Callable[..., Any]:
    """*kernel* drawing the random numbers again that it drew when their stream was at *before*."""

    def run(*arrays: Any) -> Any:
        now, state.random.position = state.random.position, before
        try:
            return kernel(*arrays)
        finally:
            state.random.position = now

    return run

"""Running a timeline from its beginning, once: what fills its store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import state
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
    store, values = timeline.store, timeline.values
    last: dict[int, int] = {}
    for entry in timeline.entries:
        last.update(dict.fromkeys(entry.inputs, entry.index))
        last.update(dict.fromkeys((n for t in entry.sums for n in values[t].parts or ()), entry.index))
    held = {n for n, _ in store.items()}
    at_hand = {n: a for n, a in store.items() if n in last}
    end = timeline.failed[0] if timeline.failed is not None else len(timeline.entries)
    for entry in timeline.entries[:end]:
        there = bool(entry.outs) and held.issuperset(n for _, n in entry.outs if n >= 0)
        if entry.kernel is not None and not there and all(n in at_hand for n in entry.inputs):
            before: Any = state.random.generator.bit_generator.state if draws(entry) else None
            operands = [_operand(o, at_hand) for o in entry.operands]
            try:
                with np.errstate(all="ignore"):
                    results = entry.kernel(*operands)
            except Exception as error:
                timeline.failed = entry.index, explained(entry, error, operands)
                return
            if before is not None:
                entry.kernel, entry.drawn = redrawing(entry.kernel, before), before
            for (_, number), array in zip(entry.outs, results, strict=True):
                if number >= 0:
                    _hold(timeline, number, array, last, at_hand)
        for total in entry.sums:
            parts = values[total].parts
            if parts is not None and total not in held and all(n in at_hand for n in parts):
                with np.errstate(all="ignore"):
                    array = at_hand[parts[0]] + at_hand[parts[1]]
                _hold(timeline, total, array, last, at_hand)
        for number in {*entry.inputs, *(n for t in entry.sums for n in values[t].parts or ())}:
            if last[number] == entry.index:
                at_hand.pop(number, None)


def _hold(timeline: Timeline, number: int, array: Any, last: dict[int, int], at_hand: dict[int, Any]) -> None:
    if number in at_hand:  # it was there before the run, and stays
        return
    timeline.store.put(number, array)
    if number in last:
        at_hand[number] = array


def _operand(operand: Any, at_hand: dict[int, Any]) -> Any:
    if isinstance(operand, list):
        return [_operand(o, at_hand) for o in operand]
    if isinstance(operand, FixedOperand):
        return operand.value
    return None if operand is None else at_hand[operand]


def redrawing(kernel: Callable[..., Any], before: Any) -> Callable[..., Any]:
    """*kernel* drawing the random numbers again that it drew when their state was *before*."""

    def run(*arrays: Any) -> Any:
        generator = state.random.generator
        now = generator.bit_generator.state
        generator.bit_generator.state = before
        try:
            return kernel(*arrays)
        finally:
            generator.bit_generator.state = now

    return run

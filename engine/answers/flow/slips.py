"""Labels that stand in the data of some batches alone: seen in their values, pass by pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...core.rows import RowArray
from ...core.source import Location
from ...runs.calls import CallRecord, flat
from .change_propagation import Array
from .labels import CHOOSING, COMPARED, equal_column, is_told_from_chance
from .next_steps import is_one_step_before


def find_slips(calls: Iterable[CallRecord], get: Callable[[int], Any]) -> Iterator[Location]:
    """Yield the line of each loss of classes whose label is a column of data, or the next step of data.

    This costs one comparison of each array of data. What leads to the prediction is for others to say.

    Args:
        calls: the operators of a pass.
        get: returns the array of a value; None where nobody holds it.
    """
    called = list(calls)
    data = _find_data(called)
    for call in called:
        for number in _labels(call):
            label = get(number)
            if label is not None and _stands_among(np.asarray(label), (get(n) for n in data if n != number)):
                yield call.loc


def _find_data(calls: Iterable[CallRecord]) -> list[int]:
    """Return the values that no call has made, and those that are a choice of their elements."""
    data: dict[int, None] = {}
    made: set[int] = set()
    for call in calls:
        read, outs = flat(call.operands), flat(call.outs)
        data.update((n, None) for n in read if n not in made)
        made.update(outs)
        if call.op.type in CHOOSING and data.keys() & read[:1]:
            data.update((n, None) for n in outs)
    return list(data)


def _labels(call: CallRecord) -> list[int]:
    """Return the labels of a loss of classes; none of another operator."""
    _, slot = COMPARED.get(call.op.type, ("", ""))
    return flat([value for s, value in zip(call.op.inputs, call.operands, strict=False) if s.name == slot])


def _stands_among(label: Array, arrays: Iterable[Any]) -> bool:
    """Return whether one of these arrays holds a label: as a column, or one step on."""
    if not label.size:
        return False
    line = label.reshape(-1)
    told: bool | None = None
    for array in arrays:
        if not _may_hold(array, line.size):
            continue
        # Sorting a label costs more than a look at the shape of an array: only where one is to be compared.
        told = is_told_from_chance(line) if told is None else told
        if told and (equal_column(array, line) is not None or _is_next(array, label)):
            return True
    return False


def _may_hold(array: Any, rows: int) -> bool:
    """Return whether an array has rows enough for a label, or holds classes itself."""
    if getattr(array, "ndim", 0) != 2 or isinstance(array, RowArray):  # rows of a table are no batch
        return False
    return array.shape[0] == rows or array.dtype.kind in "iu"


def _is_next(array: Array, label: Array) -> bool:
    return label.dtype.kind in "iu" and is_one_step_before(array, label)

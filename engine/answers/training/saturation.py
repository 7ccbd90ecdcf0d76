"""Units of tanh and sigmoid that are nearly all flat, while a few of them still learn."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ...core.records import dataclass
from ...core.source import Location
from ...runs.timeline import Entry, Timeline

FLAT = 1e-3
"""A slope below this is flat: of four standard deviations of inputs, a unit of unit weights has none."""

_SLOPES = {"tanh": lambda y: 1 - y * y, "sigmoid": lambda y: 4 * y * (1 - y)}
"""The slope by the result, as a part of the steepest one."""


@dataclass(frozen=True, slots=True)
class Saturated:
    """An operator with flat units.

    Attributes:
        name, type, loc: of the operator.
        share: which part of its results is flat.
        largest: the largest size of what it reads.
    """

    name: str
    type: str
    loc: Location
    share: float
    largest: float


def find_saturated(run: Timeline, parameters: Collection[int], share: float) -> Iterator[Saturated]:
    """The hidden layers of units of which at least that share is flat.

    What a trained model predicts may well be flat, and gates without a parameter behind them are one: only results are
    looked at that an operator reads together with a parameter, after moving them at most.

    Args:
        parameters: the numbers of the parameters.
    """
    hidden = _read_with_parameters(run, parameters)
    for entry in run.entries:
        slope = _SLOPES.get(entry.type)
        if slope is None or not _makes_one_of(entry, hidden):
            continue
        before, after = (run.store.get(n) for n in (entry.inputs[0], entry.outs[0][1]))
        if before is None or after is None or not np.size(after) or not np.isfinite(after).all():
            continue
        slopes = slope(np.asarray(after, np.float64))
        flat = float(np.mean(slopes < FLAT))
        if flat >= share and slopes.any():  # what has no slope at all is told by the zero gradient that it makes
            yield Saturated(entry.name, entry.type, entry.loc, flat, float(np.abs(np.asarray(before)).max()))


def _makes_one_of(entry: Entry, values: Collection[int]) -> bool:
    """Return whether a forward operator's first result is one of these values."""
    return not entry.backward and bool(entry.outs) and entry.outs[0][1] in values


def _read_with_parameters(run: Timeline, parameters: Collection[int]) -> set[int]:
    """The values that lead to an operator with a parameter by operators that only move or drop elements."""
    hidden: set[int] = set()
    for entry in reversed(run.entries):
        if entry.backward:
            continue
        if any(n in parameters for n in entry.inputs):
            hidden.update(n for n in entry.inputs if n not in parameters)
        elif entry.type in _MOVING and not hidden.isdisjoint(entry.made):
            hidden.update(entry.inputs)
    return hidden


_MOVING = frozenset(
    ("reshape2", "transpose2", "flatten_contiguous_range", "squeeze2", "unsqueeze2", "dropout", "concat", "slice")
)

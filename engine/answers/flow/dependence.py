"""Dependence of one value of a run on another, and by which operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...core import watch
from ...core.records import dataclass
from ...runs.branch import Branch, disable_breakpoints
from ...runs.repeating import find_stop
from ...runs.timeline import NOBODY, Entry, FixedOperand, Timeline
from .change_propagation import Array, Spread, find_differences, upstream
from .perturb import alter

YES: Final = "yes"
NO: Final = "no"
UNKNOWN: Final = "unknown"

Index = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ValueInfluence:
    """The influence of a change of one value on another.

    Attributes:
        answer: ``yes``, ``no`` or ``unknown``.
        change: the largest difference that was seen; None where there are no numbers to compare.
        elements: how many of the asked elements differ, and of how many.
        path: the operators that carry it, in the order of the run; of a change that ends on its way, those before.
        end: where it ends, if it does.
        why: why the answer is not known.
    """

    answer: str
    change: float | None = None
    elements: tuple[int, int] = (0, 0)
    path: Sequence[Entry] = ()
    end: Entry | None = None
    why: str = ""


def find_influence(run: Timeline, source: int, at: Index | None, target: int, of: Index | None) -> ValueInfluence:
    """Return whether the elements *of* one value differ where those *at* another are changed.

    A change that shows nothing is tried again, larger and with other numbers: a relu may have hidden it.

    Args:
        source, target: numbers of values.
        at, of: indices into them; None for all.
    """
    if source not in run.store and run.values[source].maker == NOBODY:
        return ValueInfluence(UNKNOWN, why=f"the value of {run.values[source].name} was freed")
    if source not in upstream(run, (target,)):
        return ValueInfluence(NO, 0.0, why="no operator leads from one to the other")
    stop = find_stop(run, (source,), (target,))
    if stop is not None:
        return ValueInfluence(UNKNOWN, end=stop.entry, why=str(stop))
    array = np.asarray(Branch(run).make(source))
    where = np.zeros(array.shape, bool)
    where[() if at is None else at] = True
    last = ValueInfluence(UNKNOWN, why="it holds one value only, and no other one is known that the model takes")
    for trial, size in enumerate((1.0, 1.0, 10.0)):
        other = alter(array, where, np.random.default_rng(trial), size)
        if np.array_equal(other, array):
            continue
        last = _read_influence(Spread(run, {source: other}, (target,), computed=True), source, target, of)
        if last.answer != NO:
            break
    return last


def _read_influence(spread: Spread, source: int, target: int, of: Index | None) -> ValueInfluence:
    mask = spread.masks.get(target)
    if mask is None and spread.stops:
        stop = spread.stops[0]
        return ValueInfluence(UNKNOWN, path=_path(spread, source, stop.entry), end=stop.entry, why=stop.why)
    if mask is None:
        end = spread.dies_at
        path = () if end is None else _path(spread, source, end)
        return ValueInfluence(NO, 0.0, path=path, end=end)
    index = () if of is None else of
    asked = mask[index]
    if not asked.any():
        return ValueInfluence(NO, 0.0, (0, asked.size), why="other elements of it differ, and not those asked for")
    wanted = np.zeros(mask.shape, bool)
    wanted[index] = asked
    before, after = (np.asarray(v)[index] for v in (spread.value_before(target), spread.value_after(target)))
    return ValueInfluence(
        YES, _largest(before, after), (int(asked.sum()), asked.size), _back(spread, source, target, wanted)
    )


def _largest(before: Array, after: Array) -> float | None:
    if before.dtype.kind not in "fiu" or before.shape != after.shape:
        return None
    with np.errstate(invalid="ignore"):
        sizes = np.abs(after.astype(np.float64) - before.astype(np.float64))
    return float(np.nanmax(sizes)) if np.isfinite(sizes).any() else None


def _path(spread: Spread, source: int, until: Entry) -> list[Entry]:
    """The operators that carry a change to the one that ends it."""
    carried = list(spread.read_by(until))
    return _back(spread, source, carried[0], spread.masks[carried[0]]) if carried else []


def _back(spread: Spread, source: int, number: int, asked: Array) -> list[Entry]:
    """The operators by which elements of a value come to differ, in the order of the run."""
    path: list[Entry] = []
    while number != source and (maker := spread.timeline.values[number].maker) != NOBODY:
        entry = spread.timeline.entries[maker]
        path.append(entry)
        number, before = _carrier(spread, entry, number, asked), number
        if number == before:
            break
        asked = _narrow(spread.masks[number], asked)
    return path[::-1]


def _narrow(mask: Array, asked: Array) -> Array:
    """Return what differs of an operand in the rows that the asked elements of the result are in, if anything does."""
    axes = 0
    for one, two in zip(mask.shape, asked.shape, strict=False):
        if one != two:
            break
        axes += 1
    rows = asked.reshape(*asked.shape[:axes], -1).any(axis=-1)
    same = mask & rows.reshape(rows.shape + (1,) * (mask.ndim - axes))
    return same if same.any() else mask


def _carrier(spread: Spread, entry: Entry, number: int, asked: Array) -> int:
    """The operand whose change alone makes the asked elements of a result differ; else the first one that differs."""
    operands = list(spread.read_by(entry))
    outs = [n for _, n in entry.outs]
    if len(operands) < 2 or entry.kernel is None or number not in outs:
        return operands[0] if operands else number
    if any(np.shape(spread.value_before(n)) != np.shape(spread.value_after(n)) for n in operands):
        return operands[0]  # selected by other values: with what was selected before it does not go together
    for operand in operands:
        results = _compute_with_one_changed(spread, entry, operand)
        if results is None:
            continue
        if find_differences(spread.value_before(number), results[outs.index(number)])[asked].any():
            return operand
    return operands[0]


def _compute_with_one_changed(spread: Spread, entry: Entry, operand: int) -> Sequence[Any] | None:
    """Return the results where one operand alone has its changed value.

    None where the kernel refuses that: sizes that have changed, and what has them, are taken together only.
    """
    assert entry.kernel is not None
    given = [_only(spread, o, operand) for o in entry.operands]
    try:
        with watch.pause_watchers(), np.errstate(all="ignore"), disable_breakpoints():
            results: Sequence[Any] = entry.kernel(*given)
    except (ValueError, IndexError):
        return None
    return results


def _only(spread: Spread, operand: Any, changed: int) -> Any:
    """Return what a kernel takes where one operand alone is changed."""
    if isinstance(operand, list):
        return [_only(spread, o, changed) for o in operand]
    if isinstance(operand, FixedOperand):
        return operand.value
    if operand is None:
        return None
    return spread.value_after(operand) if operand == changed else spread.value_before(operand)

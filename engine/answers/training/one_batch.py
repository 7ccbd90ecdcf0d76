"""Whether the batch of a recorded pass can be learned: steps on a copy of the parameters, in the recorded run alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core.source import Location
from ...runs.branch import Branch, Edit
from ...runs.timeline import Entry, Timeline

RATES: Final = (1e-2, 1e-3, 1e-1)
"""Rates of Adam that are tried, one after the other."""

NO_GRADIENT, DEAD, RATE, MISMATCH = "no gradient", "dead units", "the learning rate", "loss and target"


@dataclass(frozen=True, slots=True)
class OneBatch:
    """What came of it.

    Attributes:
        first, best: the loss at the start, and the lowest one that was reached.
        learned: whether it fell far enough.
        stopped_by: of the constants above, or empty.
        loc: the line of what stopped it, or of the loss.
        said: sentences that say more.
    """

    first: float
    best: float
    learned: bool
    stopped_by: str = ""
    loc: Location = ()
    said: tuple[str, ...] = ()


def learn(run: Timeline, steps: int, part: float, rate: float | None) -> OneBatch | None:
    """Steps of Adam on the parameters of a run, all else as it was recorded; None where there is nothing to learn.

    Args:
        steps: how many.
        part: the loss has to fall by that part of what it was at first.
        rate: the learning rate of the user's optimizer, if it is known.

    Raises:
        GradtoolError: an operator of the run cannot run again.
    """
    pairs = _pairs(run)
    if run.loss is None or not pairs:
        return None
    first = _number(Branch(run).made(run.loss))
    if not math.isfinite(first) or first <= 1e-3:
        return None  # there is nothing to learn, or another rule says why
    enough = first * (1 - part)
    best = first
    for tried in RATES:
        best = min(best, _descend(run, pairs, steps, tried, enough))
        if best <= enough:
            break
    if best > enough:
        return _stopped(run, pairs, first, best)
    if rate:
        own = _descend(run, pairs, steps, rate, enough)
        if not own <= enough and not math.isfinite(own):
            return OneBatch(first, own, False, RATE, _line(run), (f"at {rate:g} it is no number any more",))
    return OneBatch(first, best, True)


def _pairs(run: Timeline) -> dict[int, int]:
    """The numbers of parameters and of their gradients."""
    pairs = {}
    for name, gradient in run.results.items():
        number = run.find(name, 0)
        if gradient is not None and number is not None and number in run.store:
            pairs[number] = gradient
    return pairs


def _descend(run: Timeline, pairs: Mapping[int, int], steps: int, rate: float, enough: float) -> float:
    """The lowest loss of so many steps of Adam; it ends where that is low enough."""
    values = {n: np.asarray(run.store.get(n)).copy() for n in pairs}
    means = {n: np.zeros(v.shape) for n, v in values.items()}
    squares = {n: np.zeros(v.shape) for n, v in values.items()}
    best = math.inf
    for step in range(1, steps + 1):
        branch = Branch.with_edits(run, "copy", 0, [Edit(0, n, v, "") for n, v in values.items()])
        loss = _number(branch.made(run.loss or 0))
        if not math.isfinite(loss):
            return best if best < math.inf else loss
        best = min(best, loss)
        if best <= enough:
            return best
        for number, gradient in pairs.items():
            g = np.asarray(getattr(branch.made(gradient), "array", branch.made(gradient)), np.float64)
            means[number] = 0.9 * means[number] + 0.1 * g
            squares[number] = 0.999 * squares[number] + 0.001 * g * g
            mean, square = means[number] / (1 - 0.9**step), squares[number] / (1 - 0.999**step)
            moved = values[number] - rate * mean / (np.sqrt(square) + 1e-8)
            values[number] = moved.astype(values[number].dtype)
    return best


def _stopped(run: Timeline, pairs: Mapping[int, int], first: float, best: float) -> OneBatch:
    """What keeps the loss where it is."""
    branch = Branch(run)
    gradients = [np.asarray(branch.made(g)) for g in pairs.values()]
    zero = sum(not np.any(g) for g in gradients)
    if zero == len(gradients):
        dead = _dead(run, branch)
        loc, cause = (_line(run), NO_GRADIENT) if dead is None else (dead.loc, DEAD)
        behind = "" if dead is None else f", behind {dead.name}"
        return OneBatch(first, best, False, cause, loc, (f"all of {len(gradients)} gradients are zero{behind}",))
    said = ["with none of the rates " + ", ".join(f"{r:g}" for r in sorted(RATES)) + " of Adam"]
    return OneBatch(first, best, False, MISMATCH, _line(run), (*said, *_ranges(run, branch)))


def _dead(run: Timeline, branch: Branch) -> Entry | None:
    """The first relu whose results are all zero."""
    for entry in run.entries:
        if entry.type == "relu" and entry.outs and not np.any(np.asarray(branch.made(entry.outs[0][1]))):
            return entry
    return None


def _ranges(run: Timeline, branch: Branch) -> list[str]:
    """What the loss compares: the ranges of the operands of the last operator that reads two of one shape."""
    for entry in reversed(run.entries[: run.begin]):
        arrays = [np.asarray(branch.made(n)) for _, n in entry.reads]
        if len(arrays) == 2 and arrays[0].shape == arrays[1].shape and arrays[0].size > 1:
            ranges = [
                f"{slot} from {a.min():.4g} to {a.max():.4g}" for (slot, _), a in zip(entry.reads, arrays, strict=True)
            ]
            return [f"{entry.name} compares {' with '.join(ranges)}"]
    return []


def _line(run: Timeline) -> Location:
    """The line of the loss."""
    maker = run.values[run.loss].maker if run.loss is not None else -1
    return run.entries[maker].loc if maker >= 0 else ()


def _number(value: Any) -> float:
    array = np.asarray(value, np.float64)
    return float(array.sum())

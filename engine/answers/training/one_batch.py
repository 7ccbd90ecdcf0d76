"""Trial of learning the batch of a recorded pass: steps on a copy of the parameters, in the recorded run alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ...core.records import dataclass
from ...core.source import Location
from ...runs.branch import Branch, Edit
from ...runs.repeating import find_stop
from ...runs.timeline import Entry, Timeline

Array = np.ndarray[Any, Any]

RATES: Final = (1e-2, 1e-3, 1e-1)
"""Rates of Adam that are tried, one after the other."""

NO_GRADIENT, DEAD, RATE, MISMATCH = "no gradient", "dead units", "the learning rate", "loss and target"
CLIPPED = "clipping of gradients"

_PLAIN: Final = {"SGD": 0.0, "Momentum": 0.9}
"""Optimizers whose steps are as large as gradients are, and what they keep of the last step; others make up for it."""


@dataclass(frozen=True, slots=True)
class Own:
    """Facts about the first step of the user's optimizer.

    Attributes:
        by: its class.
        raw, limit: the norm of its gradients before and after they were clipped; 0 where they were not.
        loc: the line of the step.
    """

    by: str = ""
    rate: float | None = None
    raw: float = 0.0
    limit: float = 0.0
    loc: Location = ()


@dataclass(frozen=True, slots=True)
class OneBatch:
    """The outcome.

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


def learn(run: Timeline, steps: int, part: float, optimizer: Own) -> OneBatch | str | None:
    """Steps of Adam on the parameters of a run, all else as it was recorded; None where there is nothing to learn.

    A text says which operator cannot be repeated.

    Args:
        steps: how many.
        part: the loss has to fall by that part of what it was at first.
        optimizer: what is known of the user's.

    Raises:
        GradtoolError: an operator of the run cannot run again.
    """
    pairs = _pairs(run)
    if run.loss is None or not pairs:
        return None
    first = _number(Branch(run).make(run.loss))
    if not math.isfinite(first) or first <= 1e-3:
        return None  # there is nothing to learn, or another rule says why
    stop = find_stop(run, pairs, (run.loss, *pairs.values()))
    if stop is not None:
        return str(stop)
    enough = first * (1 - part)
    best = first
    for tried in RATES:
        best = min(best, _descend(run, pairs, steps, tried, enough))
        if best <= enough:
            break
    if best > enough:
        return _find_stop(run, pairs, first, best)
    return _explain_optimizer(run, pairs, steps, optimizer, first, enough) or OneBatch(first, best, True)


def _explain_optimizer(
    run: Timeline, pairs: Mapping[int, int], steps: int, optimizer: Own, first: float, enough: float
) -> OneBatch | None:
    """Return what keeps the user's optimizer from learning what others learn, if that is a known cause."""
    rate = optimizer.rate
    if not rate:
        return None
    if optimizer.by not in _PLAIN:
        own = _descend(run, pairs, steps, rate, enough)
    else:
        own = _descend(run, pairs, steps, rate, enough, _Plain(_PLAIN[optimizer.by], math.inf))
        clipped = 0 < optimizer.limit < 0.99 * optimizer.raw
        if clipped and own <= enough:
            slow = _descend(run, pairs, steps, rate, enough, _Plain(_PLAIN[optimizer.by], optimizer.limit))
            if slow > first - 0.1 * (first - enough):
                norms = (
                    f"gradients of the norm {optimizer.raw:.4g} are clipped to {optimizer.limit:.4g} at the first step"
                )
                said = (norms, f"without that {optimizer.by} at {rate:g} brings the loss to {own:.4g} in as many steps")
                return OneBatch(first, slow, False, CLIPPED, optimizer.loc or _line(run), said)
    if not own <= enough and not math.isfinite(own):
        return OneBatch(first, own, False, RATE, _line(run), (f"at {rate:g} it is no number any more",))
    return None


def _pairs(run: Timeline) -> dict[int, int]:
    """The numbers of parameters and of their gradients."""
    pairs = {}
    for name, gradient in run.results.items():
        number = run.find(name, 0)
        if gradient is not None and number is not None and number in run.store:
            pairs[number] = gradient
    return pairs


class _Adam:
    """Steps of Adam."""

    def __init__(self) -> None:
        self._means: dict[int, Array] = {}
        self._squares: dict[int, Array] = {}
        self._step = 0

    def __call__(self, gradients: Mapping[int, Array]) -> dict[int, Array]:
        """By how much each parameter is moved at the rate 1."""
        self._step += 1
        moves = {}
        for number, g in gradients.items():
            self._means[number] = 0.9 * self._means.get(number, 0.0) + 0.1 * g
            self._squares[number] = 0.999 * self._squares.get(number, 0.0) + 0.001 * g * g
            mean = self._means[number] / (1 - 0.9**self._step)
            moves[number] = mean / (np.sqrt(self._squares[number] / (1 - 0.999**self._step)) + 1e-8)
        return moves


class _Plain:
    """Steps of gradient descent, with momentum, of gradients that together are no longer than a limit."""

    def __init__(self, momentum: float, limit: float) -> None:
        self._momentum, self._limit = momentum, limit
        self._speeds: dict[int, Array] = {}

    def __call__(self, gradients: Mapping[int, Array]) -> dict[int, Array]:
        """By how much each parameter is moved at the rate 1."""
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        factor = min(1.0, self._limit / norm) if norm > 0 else 1.0
        for number, g in gradients.items():
            self._speeds[number] = self._momentum * self._speeds.get(number, 0.0) + factor * g
        return self._speeds


def _descend(
    run: Timeline,
    pairs: Mapping[int, int],
    steps: int,
    rate: float,
    enough: float,
    rule: Callable[[Mapping[int, Array]], Mapping[int, Array]] | None = None,
) -> float:
    """The lowest loss of so many steps, of Adam if not said otherwise; it ends where that is low enough."""
    values = {n: np.asarray(run.store.get(n)).copy() for n in pairs}
    rule = rule or _Adam()
    best = math.inf
    for _ in range(steps):
        branch = Branch.add_edits(run, "copy", 0, [Edit(0, n, v, "") for n, v in values.items()])
        loss = _number(branch.make(run.loss or 0))
        if not math.isfinite(loss):
            return best if best < math.inf else loss
        best = min(best, loss)
        if best <= enough:
            return best
        gradients = _make_gradients(branch, pairs)
        for number, move in rule(gradients).items():
            values[number] = (values[number] - rate * move).astype(values[number].dtype)
    return best


def _make_gradients(branch: Branch, pairs: Mapping[int, int]) -> dict[int, Array]:
    """Return the gradients of a branch in double precision, by the parameters that they are of."""
    made = {n: branch.make(gradient) for n, gradient in pairs.items()}
    return {n: np.asarray(getattr(g, "array", g), np.float64) for n, g in made.items()}


def _find_stop(run: Timeline, pairs: Mapping[int, int], first: float, best: float) -> OneBatch:
    """Return what keeps the loss where it is."""
    branch = Branch(run)
    gradients = [np.asarray(branch.make(g)) for g in pairs.values()]
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
        if entry.type == "relu" and entry.outs and not np.any(np.asarray(branch.make(entry.outs[0][1]))):
            return entry
    return None


def _ranges(run: Timeline, branch: Branch) -> list[str]:
    """Return what the loss compares: the ranges of the operands of the last operator that reads two of one shape."""
    for entry in reversed(run.entries[: run.begin]):
        arrays = [np.asarray(branch.make(n)) for _, n in entry.reads]
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

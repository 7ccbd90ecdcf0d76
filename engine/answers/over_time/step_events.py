"""Events that began at one step of a training, and can be seen in its numbers alone."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ..magnitudes import LEAST_SHARE
from .history import History, HistoryPoint, Track, TrainingStep

NOT_FINITE, SPIKE, ZERO, UNMOVED = "not finite", "jump", "all zero", "unmoved"
GONE, CAME, NEVER, STALE, OLD = "no gradient", "first gradient", "not updated", "not cleared", "old gradient"
EMPTY, PASSING = "cleared too early", "zero for a while"
WRITTEN, RATE, CLIPPED, CHANGED = "overwritten", "learning rate", "clipped", "changed"
KINDS = (
    NOT_FINITE,
    SPIKE,
    ZERO,
    PASSING,
    GONE,
    CAME,
    NEVER,
    EMPTY,
    STALE,
    OLD,
    WRITTEN,
    UNMOVED,
    RATE,
    CLIPPED,
    CHANGED,
)
_WRONG = frozenset({NOT_FINITE, ZERO, STALE, OLD, NEVER, UNMOVED, SPIKE})
"""Those to look at; the others may be meant."""

JUMP = 100.0
"""A norm so many times the usual one of the steps before is a jump."""
_BEFORE = 3
"""Steps that a usual norm is taken from, at least."""
_LEAST = 2
"""Steps at the end for which something must have gone on."""
_ANNEALED = 1e-2
"""A learning rate that has become this part of the first one was made small on purpose, by a schedule."""
_PART = 0.1
"""The part of a training that may change nothing at its end, where a schedule comes to nothing."""
_MOST_RATES = 4
"""Changes of the learning rate that are told one by one."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that began at a step.

    Attributes:
        kind: of :data:`KINDS`.
        step: the number of the step.
        count: for how many steps it was so.
        tracks: whom it happened to; none where it concerns all.
        backward: the pass to ask about.
        loc: the line that did it, or of that pass.
        numbers: what the kind says of it: from, to.
        wrong: whether it is something to look at, and not perhaps meant.
    """

    kind: str
    step: int
    count: int
    tracks: tuple[Track, ...] = ()
    backward: int | None = None
    loc: Location = NOWHERE
    numbers: tuple[float, ...] = ()
    wrong: bool = False


Seen = tuple[int, int, Any]
"""Index of the first step, number of steps, and what else tells happenings apart."""


def happenings(history: History) -> list[Happening]:
    """All that began, by step."""
    if not history.steps:
        return []
    told = sorted(
        [*_join_annealed([*_find_in_tracks(history)], history), *_compare_steps(history)],
        key=lambda h: (h.step, KINDS.index(h.kind)),
    )
    first = next((h for h in told if h.kind == NOT_FINITE), None)
    # One cause, one finding: numbers that are not finite spread.
    return [replace(h, wrong=False) if h.kind == NOT_FINITE and h is not first else h for h in told]


def _join_annealed(told: Sequence[Happening], history: History) -> Iterator[Happening]:
    """Join updates that change nothing since the learning rate has fallen: parameters come to that one by one."""
    rates = {step.number: step.rate for step in history.steps if step.rate}
    first_rate = next(iter(rates.values()), 0.0)
    small = {number for number, rate in rates.items() if rate <= first_rate * _ANNEALED}
    annealed = sorted((h for h in told if h.kind == UNMOVED and h.step in small), key=lambda h: h.step)
    yield from (h for h in told if h not in annealed)
    if annealed:
        lasts = annealed[0].count >= len(history.steps) * _PART
        yield _merge_annealed(annealed, (first_rate, rates[annealed[0].step]), lasts)


def _merge_annealed(annealed: Sequence[Happening], rates: tuple[float, float], lasts: bool) -> Happening:
    """Return the first of these with the tracks of all; wrong where one is and it *lasts*."""
    tracks = tuple(chain.from_iterable(h.tracks for h in annealed))
    return replace(annealed[0], tracks=tracks, numbers=rates, wrong=lasts and any(h.wrong for h in annealed))


def _find_in_tracks(history: History) -> Iterator[Happening]:
    """Of parameters: those to which the same happened at the same step together."""
    groups: dict[tuple[str, int, int, Any], list[Track]] = {}
    tracks = [t for t in history.tracks if t.listed]
    for track in tracks:
        points = history.points(track)
        for kind, look in _LOOKS.items():
            seen = look(points, track, history)
            if seen is not None:
                groups.setdefault((kind, *seen), []).append(track)
    for (kind, first, count, told), members in groups.items():
        step = history.steps[first]
        loc, numbers = told if told is not None else (_line_of(step), ())
        backward = max((step.points[t].backward for t in members if t in step.points), default=None)
        wrong = kind in _WRONG and not _may_be_meant(kind, first, members, history)
        yield Happening(kind, step.number, count, tuple(members), backward, loc, numbers, wrong)


def _may_be_meant(kind: str, first: int, members: Sequence[Track], history: History) -> bool:
    """Return whether these numbers do not show that something is wrong; ``why`` may know."""
    if kind == ZERO:
        before = chain.from_iterable(step.points for step in history.steps[:first])
        return set(before).isdisjoint(members)  # by structure, perhaps
    return kind == NEVER and first == 0 and all(t.offered for t in members)  # left out of a list, perhaps


def _line_of(step: TrainingStep) -> Location:
    """The line of its last pass."""
    return step.passes[-1].loc if step.passes else NOWHERE


def _not_finite(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    bad = [i for i, p in enumerate(points) if p is not None and p.gradient.nonfinite]
    return (bad[0], len(bad), None) if bad else None


def _zero(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """All zero until the end, or until numbers are not finite, for longer than it ever was before."""
    end = next((i for i, p in enumerate(points) if p is not None and p.gradient.nonfinite), len(points))
    there = [i for i, p in enumerate(points[:end]) if p is not None]
    flags = [p.gradient.all_zero for p in points[:end] if p is not None]
    run = count_trailing(flags)
    whole = run == len(flags)
    if run < _LEAST or (not whole and run < 2 * longest(flags[: len(flags) - run])):
        return None
    return there[len(flags) - run], run, None


def _find_passes(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """All zero in some steps, and not in others after them: what starts at zeros, or a batch that selects nothing."""
    flags = [p is not None and p.gradient.all_zero for p in points]
    if count_trailing(flags) or not any(flags):
        return None
    return flags.index(True), sum(flags), None


def _find_lost(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """No gradient until the end, for longer than it ever lacked one before."""
    flags = [p is None for p in points]
    run = count_trailing(flags)
    if run == len(flags) or run < max(_LEAST, 2 * longest(flags[: len(flags) - run])):
        return None
    first = len(flags) - run
    number = history.steps[first].number
    cut = next((loc for step, loc in reversed(track.cuts) if step <= number), None)
    return first, run, None if cut is None else (cut, ())


def _came(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """No gradient at first, for longer than it ever lacked one after."""
    flags = [p is None for p in points]
    first = count_trailing(flags[::-1])
    if not 0 < first < len(flags) or first <= 2 * longest(flags[first:]):
        return None
    return first, len(flags) - first, None


def _never(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """Gradients, and nothing that updates."""
    there = [i for i, p in enumerate(points) if p is not None]
    if not history.is_update or not there or any(p is not None and p.weight is not None for p in points):
        return None
    if len(there) == 1 and not history.steps[there[0]].updates:
        return None  # the script was stopped before the update
    return there[0], len(there), None


def _stale(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    steps = [i for i, p in enumerate(points) if p is not None and p.stale and p.passes and p.weight is not None]
    return (steps[0], len(steps), None) if steps else None


def _old(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    steps = [i for i, p in enumerate(points) if p is not None and not p.passes and not _searches(history.steps[i])]
    return (steps[0], len(steps), None) if steps else None


def _find_writes(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    if not track.writes:
        return None
    first = track.writes[0]
    return min(first.after, len(points) - 1), len(track.writes), (first.loc, (first.ratio,))


_SEARCHING = frozenset({"LBFGS"})
"""Optimizers that compute the loss at several points of a step, come back to one of them, and end by themselves."""


def _searches(step: TrainingStep) -> bool:
    """Return whether an update of a step is by an optimizer that decides itself where it looks, and when it is done."""
    return any(update.by in _SEARCHING for update in step.updates)


def _is_unmoved(point: HistoryPoint | None, step: TrainingStep) -> bool:
    """Return whether an update changed nothing although there was a gradient and a learning rate.

    A gradient that is tiny next to the weights is the reason itself, and no fault of updates.
    """
    if point is None or point.update != 0 or not point.weight or point.gradient.all_zero:
        return False
    arrived = point.gradient.norm / (point.changed or 1.0)
    return step.rate != 0 and not _searches(step) and not arrived < LEAST_SHARE * point.weight


def _find_unmoved(points: Sequence[HistoryPoint | None], track: Track, history: History) -> Seen | None:
    """Updates that change nothing, until the end, although there is a gradient and a learning rate."""
    there = [i for i, p in enumerate(points) if p is not None and p.weight is not None]
    flags = [_is_unmoved(points[i], history.steps[i]) for i in there]
    run = count_trailing(flags)
    return (there[len(flags) - run], run, None) if run >= _LEAST else None


_LOOKS: dict[str, Callable[[Sequence[HistoryPoint | None], Track, History], Seen | None]] = {
    NOT_FINITE: _not_finite,
    ZERO: _zero,
    PASSING: _find_passes,
    GONE: _find_lost,
    CAME: _came,
    NEVER: _never,
    STALE: _stale,
    OLD: _old,
    WRITTEN: _find_writes,
    UNMOVED: _find_unmoved,
}


def count_trailing(flags: Sequence[bool]) -> int:
    """Return how many at the end are true."""
    run = 0
    for flag in reversed(flags):
        if not flag:
            break
        run += 1
    return run


def longest(flags: Sequence[bool]) -> int:
    """The most in a row that are true."""
    most = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        most = max(most, run)
    return most


# -- of whole steps ---------------------------------------------------------------------------------------------------


def _compare_steps(history: History) -> Iterator[Happening]:
    yield from _jump(history)
    yield from _clearings(history)
    yield from _rates(history.steps)
    clipped = [(s, s.clip_factor) for s in history.steps if s.clip_factor is not None and s.clip_factor < 1]
    yield from _factors(CLIPPED, [(s, f) for s, f in clipped if f is not None])
    changed = [(s, [p.changed for p in s.points.values() if p.changed is not None]) for s in history.steps]
    yield from _factors(CHANGED, [(s, min(factors)) for s, factors in changed if factors])


def _clearings(history: History) -> Iterator[Happening]:
    """Gradients that were cleared before the update that was to use them, as one: it is a line of the script."""
    if history.clearings:
        first = history.clearings[0]
        ends = [s.passes[-1].number if s.passes else 0 for s in history.steps]
        step = history.steps[min(bisect_left(ends, first.backward), len(ends) - 1)]
        count = len(history.clearings)
        yield Happening(EMPTY, step.number, count, first.tracks, first.backward, first.loc, wrong=True)


def _factors(kind: str, steps: Sequence[tuple[TrainingStep, float]]) -> Iterator[Happening]:
    """Gradients were multiplied in these steps: the smallest and the largest factor."""
    if steps:
        factors = [f for _, f in steps]
        first = steps[0][0]
        loc = first.updates[-1].loc if first.updates else NOWHERE
        yield Happening(kind, first.number, len(steps), loc=loc, numbers=(min(factors), max(factors)))


def _jump(history: History) -> Iterator[Happening]:
    """The first step at which all gradients together are far larger than they usually were until then."""
    norms: list[float] = []
    for step in history.steps:
        norm = total(step)
        if norm is None or not math.isfinite(norm):
            continue
        usual = statistics.median(norms) if len(norms) >= _BEFORE else 0.0
        if usual > 0 and norm > JUMP * usual:
            number = step.passes[-1].number if step.passes else None
            yield Happening(SPIKE, step.number, 1, (), number, _line_of(step), (usual, norm), wrong=True)
            return
        norms.append(norm)


def total(step: TrainingStep) -> float | None:
    """The norm of all gradients of a step together; None where there is none."""
    norms = [p.gradient.norm for t, p in step.points.items() if t.listed]
    return math.hypot(*norms) if norms else None


def _rates(steps: Sequence[TrainingStep]) -> Iterator[Happening]:
    """Yield changes of the learning rate, each change, or all of them as one if there are many."""
    rated = [(s, s.rate) for s in steps if s.rate is not None]
    changes = [(s, before, rate) for (_, before), (s, rate) in pairwise(rated) if rate != before]
    if len(changes) > _MOST_RATES:
        first, before, _ = changes[0]
        yield Happening(RATE, first.number, len(changes), numbers=(before or 0.0, changes[-1][2] or 0.0))
        return
    for step, before, rate in changes:
        yield Happening(RATE, step.number, 1, loc=step.updates[-1].loc, numbers=(before or 0.0, rate or 0.0))

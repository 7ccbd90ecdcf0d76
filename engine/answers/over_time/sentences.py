"""Sentences about what began at one step of a training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ...core import source
from ...core.wording import NOTHING, count
from . import step_events as what
from .step_events import Happening


def size(value: float | None) -> str:
    """Three significant digits."""
    return NOTHING if value is None else f"{value:.3g}"


def sentence(h: Happening, everyone: Sequence[str], steps: int) -> str:
    """Return what happened, to which parameters, and where.

    Args:
        everyone: names of all parameters that the training has: those below one path are named together.
        steps: number of its steps.
    """
    place = source.short(h.loc)
    return words(h, everyone, steps) + (f"   {place}" if place else "")


def words(h: Happening, everyone: Sequence[str], steps: int) -> str:
    """Return the same without its place."""
    return _SENTENCES[h.kind](h, ", ".join(together([t.name for t in h.tracks], everyone)), steps)


def _describe_length(h: Happening, steps: int) -> str:
    """For how long."""
    if h.count == steps:
        return "in every step"
    return "from here on" if h.step + h.count - 1 == steps else f"in {count(h.count, 'step')}"


def _describe_while(h: Happening, steps: int) -> str:
    """Return in how many steps something was so that is over; what begins with zeros is so in the first alone."""
    if h.count > 1:
        return f"in {h.count} of {steps} steps"
    return "in this step alone, which it starts with" if h.step == 1 else "in this step alone"


def _rate(h: Happening, whom: str, steps: int) -> str:
    before, after = map(size, h.numbers)
    changes = f", in {h.count} changes from here on" if h.count > 1 else ""
    return f"learning rate {before} → {after}{changes}"


def _describe_fall(h: Happening) -> str:
    """Return the learning rate that makes updates change nothing, if it was made so small."""
    if not h.numbers:
        return ""
    before, after = map(size, h.numbers)
    return f"; the learning rate has fallen from {before} to {after} by then"


def _times(h: Happening) -> str:
    low, high = map(size, h.numbers)
    return f"×{low}" if low == high else f"×{low} to ×{high}"


_SENTENCES: dict[str, Callable[[Happening, str, int], str]] = {
    what.NOT_FINITE: lambda h, whom, n: (
        f"{'first NaN' if h.wrong else 'NaN'} or infinity in {whom}, {_describe_length(h, n)}"
    ),
    what.SPIKE: lambda h, whom, n: f"gradients jump from {size(h.numbers[0])} to {size(h.numbers[1])}",
    what.ZERO: lambda h, whom, n: f"all zero {_describe_length(h, n)}: {whom}",
    what.PASSING: lambda h, whom, n: f"all zero {_describe_while(h, n)}: {whom}",
    what.GONE: lambda h, whom, n: f"no gradient any more: {whom}",
    what.CAME: lambda h, whom, n: f"first gradient: {whom}",
    what.NEVER: lambda h, whom, n: f"gradients that nothing updates by {_describe_length(h, n)}: {whom}",
    what.EMPTY: lambda h, whom, n: f"cleared before the update that was to use them {_describe_length(h, n)}: {whom}",
    what.STALE: lambda h, whom, n: f"not cleared after the update before, added to it {_describe_length(h, n)}: {whom}",
    what.OLD: lambda h, whom, n: f"updated by a gradient of an earlier step, {_describe_length(h, n)}: {whom}",
    what.WRITTEN: lambda h, whom, n: f"overwritten by values {size(h.numbers[0])} times its size away: {whom}",
    what.UNMOVED: lambda h, whom, n: f"updates change nothing {_describe_length(h, n)}: {whom}{_describe_fall(h)}",
    what.RATE: _rate,
    what.CLIPPED: lambda h, whom, n: f"clipped {_describe_length(h, n)}: {_times(h)}",
    what.CHANGED: lambda h, whom, n: f"changed between backward and update {_describe_length(h, n)}: {_times(h)}",
}


def together(names: Sequence[str], everyone: Sequence[str]) -> list[str]:
    """Names, those below a path as ``path.*`` where all that lie there are among them.

    >>> together(["a.w", "a.b", "c.w"], ["a.w", "a.b", "c.w", "c.b"])
    ['a.*', 'c.w']
    """
    if len(names) == len(everyone) > 1:
        return [f"all {len(names)} gradients"]
    below, chosen = Counter[str](), Counter[str]()
    for name in everyone:
        below.update(_paths(name))
    for name in names:
        chosen.update(_paths(name))
    whole = {path for path, n in chosen.items() if n == below[path] > 1}
    told = dict.fromkeys(next((f"{p}.*" for p in _paths(name) if p in whole), name) for name in names)
    return [*told]


def _paths(name: str) -> list[str]:
    """Return the paths above a name, the longest path last."""
    steps = name.split(".")
    return [".".join(steps[:i]) for i in range(1, len(steps))]

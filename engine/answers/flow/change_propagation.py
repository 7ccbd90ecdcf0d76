"""Spread of a changed value in a recorded run: operator by operator, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...core.errors import FixedError, GradtoolError
from ...core.records import dataclass
from ...core.rows import RowArray
from ...runs.branch import Branch
from ...runs.timeline import NOBODY, Entry, Timeline

Array = np.ndarray[Any, Any]


def find_differences(before: Any, after: Any) -> Array:
    """Return which elements of two arrays differ; NaN is equal to NaN. All of them where the shapes do."""
    a, b = np.asarray(before), np.asarray(after)
    if a.shape != b.shape:
        return np.ones(b.shape, bool)
    unequal = a != b
    if a.dtype.kind in "fc" and unequal.any():
        unequal &= ~((a != a) & (b != b))
    return np.asarray(unequal)


def upstream(timeline: Timeline, wanted: Iterable[int]) -> set[int]:
    """The values that any of *wanted* was computed from, and these."""
    reached = set(wanted)
    for entry in reversed(timeline.entries):
        if not entry.backward and not reached.isdisjoint(entry.made):
            reached.update(entry.inputs)
            reached.update(entry.needs)
    return reached


@dataclass(frozen=True, slots=True)
class SpreadStop:
    """An operator that cannot run again on other values: the spread ends there."""

    entry: Entry
    why: str


class Spread:
    """The forward values of a run that are others where some of its values are.

    Args:
        timeline: the recorded run.
        changes: number of a value -> what it is to be.
        towards: only what leads to one of these values is followed; all if None.
        computed: whether what is compared is computed here on both sides. Recorded values may be another framework's,
            or those of a compiled program, which differ in their last digits where nothing was changed.

    Attributes:
        masks: number of a value that differs -> which elements do, for the values that were changed first, then in the
            order of the run.
        stops: where the spread could not be followed; what comes after is not in *masks*.
    """

    def __init__(
        self,
        timeline: Timeline,
        changes: Mapping[int, Any],
        towards: Iterable[int] | None = None,
        computed: bool = False,
    ) -> None:
        self.timeline = timeline
        self.masks: dict[int, Array] = {}
        self.stops: list[SpreadStop] = []
        self._base, self._branch = Branch(timeline), Branch(timeline)
        for number, array in changes.items():
            self._branch.edit(number, array, "")
            if timeline.compiled or computed:  # on both sides, so that they differ by nothing else
                self._base.edit(number, Branch(timeline).make(number), "")
        self._wanted = None if towards is None else upstream(timeline, towards)
        self._lost: set[int] = set()
        for number, array in changes.items():
            self._note(number, self._base.make(number), array)
        for entry in timeline.entries:
            if not entry.backward:
                self._follow(entry)

    def value_after(self, number: int) -> Any:
        """Return what a value is after the changes."""
        return self._branch.value(number, len(self.timeline.entries))

    def value_before(self, number: int) -> Any:
        """Return what a value was."""
        return self._base.make(number)

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The operators that make something that differs."""
        return [e for e in self.timeline.entries if any(n in self.masks for n in e.made)]

    def read_by(self, entry: Entry) -> Iterator[int]:
        """The values that differ among those that an operator reads."""
        return (n for n in dict.fromkeys(entry.inputs) if n in self.masks)

    @cached_property
    def dies_at(self) -> Entry | None:
        """The last operator that reads something that differs and makes nothing that does; None where there is none."""
        ends = None
        for entry in self.timeline.entries:
            if entry.backward or (self._wanted is not None and self._wanted.isdisjoint(entry.made)):
                continue
            if any(True for _ in self.read_by(entry)) and not any(n in self.masks for n in entry.made):
                ends = entry
        return ends

    def _follow(self, entry: Entry) -> None:
        if self._wanted is not None and self._wanted.isdisjoint(entry.made):
            return
        inputs = {*entry.inputs, *entry.needs}
        if not self._lost.isdisjoint(inputs):
            self._lost.update(entry.made)
            return
        if self.masks.keys().isdisjoint(inputs):  # the other way round every mask would be looked at
            return
        try:
            for number in entry.made:
                self._note(number, self._base.make(number), self._branch.make(number))
        except (FixedError, GradtoolError) as error:
            self.stops.append(SpreadStop(entry, error.message))
            self._lost.update(entry.made)

    def _note(self, number: int, before: Any, after: Any) -> None:
        if before is None or isinstance(before, RowArray) or not hasattr(before, "dtype"):
            return
        mask = find_differences(before, after)
        if mask.any():
            self.masks[number] = mask


def find_inputs(timeline: Timeline) -> Iterator[int]:
    """The values that no operator of the run made."""
    return (n for n, v in enumerate(timeline.values) if v.maker == NOBODY)

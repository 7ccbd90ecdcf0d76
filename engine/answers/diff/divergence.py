"""Divergence of two runs: the first operator whose results differ although everything that it read is the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.records import dataclass
from ...core.source import Location
from ...runs.timeline import NOBODY, Entry, Timeline
from .alignment import align
from .matching import Matching, match
from .of_timeline import outline


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two arrays.

    Attributes:
        differing, elements: how many elements differ, and how many there are.
        relative: the largest difference of two elements by the larger one's size; infinite where one is not finite.
        ulps: the largest difference in units of the last place; None where the types are no floats or differ.
        shapes: both shapes, where these differ; nothing else is known then.
    """

    differing: int
    elements: int
    relative: float
    ulps: int | None
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Parting:
    """Two values that belong together and differ.

    Attributes:
        before, after: the names of what made them: of the operators, or of the leaves.
        part: ``forward`` or ``backward``; ``leaf`` for what was there before the run.
        slot: of the operators; empty for leaves.
        apart: how far the values are apart.
        began: whether everything that the operators read is the same, so that they differ by themselves; what operators
            make that are on one side only does not count.
        loc, loc_after: the user's lines.
    """

    before: str
    after: str
    part: str
    slot: str
    apart: Distance
    began: bool
    loc: Location
    loc_after: Location
    layer: str = ""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The values of two runs side by side.

    Attributes:
        partings: what differs, in the order of execution.
        compared: how many values were compared.
        unmatched: how many operators are on one side only; their values were not compared.
        unknown: how many values were not held on either side.
        gradients: name of a parameter or leaf -> the largest relative difference of its gradient, 0 where it is the
            same, None where only one side has one.
    """

    partings: Sequence[Parting]
    compared: int
    unmatched: int
    unknown: int
    gradients: dict[str, float | None]

    @property
    def first(self) -> list[Parting]:
        """The partings that no other one explains."""
        return [p for p in self.partings if p.began]

    @property
    def empty(self) -> bool:
        """Return whether every value that belongs to another one is the same to the bit."""
        return not self.partings


def divergence(before: Timeline, after: Timeline) -> Divergence:
    """Compare two runs value by value; equal is equal to the bit, NaN is equal to NaN."""
    return _Comparing(before, after).divergence()


class _Comparing:
    """Entries one after the other, and what is known of the values before them."""

    def __init__(self, before: Timeline, after: Timeline) -> None:
        self.before, self.after = before, after
        self.matching = match(outline(before), outline(after))
        self.partner = _partners(self.matching, before, after)
        self.same: dict[int, bool] = {}
        self.alone: set[int] = set()
        self.partings: list[Parting] = []
        self.compared = self.unknown = 0

    def divergence(self) -> Divergence:
        self._leaves()
        for entry in self.before.entries:
            there = self.partner.get(entry.index)
            if there is not None:
                self._entry(entry, self.after.entries[there])
            elif self._reads_the_same(entry):
                self.alone.update(entry.made)
        lengths = len(self.before.entries) + len(self.after.entries)
        unmatched = lengths - 2 * len(self.partner)
        return Divergence(self.partings, self.compared, unmatched, self.unknown, self._gradients())

    def _leaves(self) -> None:
        """Match values from before the run: parameters and data by name, constants by the operators that read them."""
        for here, there in sorted(self.partner.items()):
            left, right = self.before.entries[here], self.after.entries[there]
            for (_, a), (_, b) in zip(left.reads, right.reads, strict=False):
                if self.before.values[a].maker < 0 and self.after.values[b].maker < 0 and a not in self.same:
                    self._value(a, b, None)

    def _entry(self, left: Entry, right: Entry) -> None:
        began = self._reads_the_same(left)
        numbers = zip((*left.outs, *_sums(left)), (*right.outs, *_sums(right)), strict=False)
        for (slot, a), (_, b) in numbers:
            if a >= 0 and b >= 0:
                self._value(a, b, (left, right, slot, began))

    def _reads_the_same(self, left: Entry) -> bool:
        """Return whether what two operators read is the same, but for what operators make that are on one side only."""
        return all(self.same.get(a, a in self.alone) for _, a in left.reads)

    def _value(self, a: int, b: int, made: tuple[Entry, Entry, str, bool] | None) -> None:
        first, second = self.before.store.get(a), self.after.store.get(b)
        if first is None or second is None:
            self.unknown += 1
            return
        first, second = np.asarray(first), np.asarray(second)
        if first.dtype.hasobject or second.dtype.hasobject:
            self.same[a] = True  # what a block left for its gradient follows from what it reads, and is no value
            return
        self.compared += 1
        self.same[a] = _same(first, second)
        if not self.same[a]:
            self.partings.append(self._make_parting(a, b, first, second, made))

    def _make_parting(
        self, a: int, b: int, first: Any, second: Any, made: tuple[Entry, Entry, str, bool] | None
    ) -> Parting:
        apart = _measure(first, second)
        if made is None:
            names = self.before.values[a].name, self.after.values[b].name
            return Parting(*names, "leaf", "", apart, True, (), ())
        left, right, slot, began = made
        return Parting(left.name, right.name, left.part, slot, apart, began, left.loc, right.loc, left.layer)

    def _gradients(self) -> dict[str, float | None]:
        leaves = self.matching.leaves
        gradients: dict[str, float | None] = {}
        for name, number in self.before.results.items():
            there = self.after.results.get(name, self.after.results.get(leaves.get(name, "")))
            if number is None and there is None:
                continue
            first = self.before.store.get(number) if number is not None else None
            second = self.after.store.get(there) if there is not None else None
            if first is None or second is None:
                gradients[name] = None
            else:
                first, second = np.asarray(first), np.asarray(second)
                gradients[name] = 0.0 if _same(first, second) else _measure(first, second).relative
        return gradients


def _partners(matching: Matching, before: Timeline, after: Timeline) -> dict[int, int]:
    """Entries that belong together: forward ones as aligned, backward ones by what they differentiate and by type.

    What is differentiated may be a gradient operator itself, and those that differentiate nothing are aligned.
    """
    partners = dict(matching.operations)
    left, right = (run.entries[o.forward :] for run, o in ((before, matching.before), (after, matching.after)))
    loose, loose_after = ([e for e in entries if _forward_operator(e) < 0] for entries in (left, right))
    aligned = align([e.type for e in loose], [e.type for e in loose_after])
    partners.update((loose[n].index, loose_after[m].index) for n, m in aligned)
    waiting = _group_by_forward_operator(right)
    for entry in left:
        pair = partners.get(_forward_operator(entry))
        others = waiting.get((pair, entry.type)) if pair is not None else None
        if others:
            partners[entry.index] = others.popleft()
    return partners


def _group_by_forward_operator(entries: Iterable[Entry]) -> dict[tuple[int, str], deque[int]]:
    """Return the gradient operators, in order, by what they differentiate and by their type."""
    groups: dict[tuple[int, str], deque[int]] = {}
    for entry in entries:
        if _forward_operator(entry) >= 0:
            groups.setdefault((entry.pair, entry.type), deque()).append(entry.index)
    return groups


def _forward_operator(entry: Entry) -> int:
    """The operator that a gradient operator differentiates; :data:`NOBODY` for others, whose pair comes after them."""
    return entry.pair if entry.backward and entry.pair < entry.index else NOBODY


def _sums(entry: Entry) -> list[tuple[str, int]]:
    return [("sum", number) for number in entry.sums]


def _same(first: Any, second: Any) -> bool:
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return first.tobytes() == second.tobytes() or bool(np.array_equal(first, second, equal_nan=_inexact(first)))


def _inexact(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


def _measure(first: Any, second: Any) -> Distance:
    if first.shape != second.shape:
        elements = max(first.size, second.size)
        return Distance(elements, elements, float("inf"), None, (first.shape, second.shape))
    wide = complex if first.dtype.kind == "c" or second.dtype.kind == "c" else float
    a, b = first.astype(wide), second.astype(wide)
    with np.errstate(all="ignore"):
        apart = (a != b) & ~(np.isnan(a) & np.isnan(b))
        size = np.maximum(np.abs(a), np.abs(b))
        relative = np.abs(a - b)[apart] / size[apart]
    largest = float(np.nan_to_num(relative, nan=np.inf).max()) if relative.size else 0.0
    return Distance(int(apart.sum()), int(first.size), largest, _ulps(first, second))


def _ulps(first: Any, second: Any) -> int | None:
    """The largest distance of two floats, counted in floats of their type; None for other types and what is not finite.

    Bit patterns of IEEE floats are in the order of their values within a sign, so distances are differences of these.
    """
    if first.dtype != second.dtype or first.dtype.kind != "f" or first.dtype.itemsize > 8 or not first.size:
        return None
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    a, b = _order_floats(first), _order_floats(second)
    return int(np.where(a > b, a - b, b - a).max())


def _order_floats(array: Any) -> Any:
    """Whole numbers from 0 on in the order of the floats, one for each."""
    size = array.dtype.itemsize
    whole = np.ascontiguousarray(array).reshape(-1).view(f"u{size}").astype(np.uint64)
    sign, every = np.uint64(1 << (8 * size - 1)), np.uint64((1 << (8 * size)) - 1)
    return np.where(whole & sign, every - whole, whole | sign)

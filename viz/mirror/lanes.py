"""Rows and lanes for nodes in an order, as far as they need numbers alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from .picture_arrays import Bools, Ints

WIDEST: Final = 8
"""Lanes of a column. What a row has beyond that goes on in a row below it."""


def sink(rows: list[int], sources: list[int], targets: list[int]) -> None:
    """Move targets below their sources, which are in the order of the targets."""
    for s, t in zip(sources, targets, strict=True):
        if rows[t] <= rows[s]:
            rows[t] = rows[s] + 1


def chains(rows: Ints, sources: Ints, targets: Ints, blocks: Ints) -> Ints:
    """A lane for each node: that of the writer that waits for it, else the first that no other writer waits in.

    Blocks of the program have rows of their own, so each begins with all lanes free.
    """
    count = len(rows)
    far = np.iinfo(np.int64).max
    first = np.full(count, far)
    np.minimum.at(first, sources, rows[targets])
    waits = np.where(first == far, -1, first)
    # Of everything that a node reads, the lowest lane among the writers that have nothing to wait for before it.
    due = np.flatnonzero(waits[sources] == rows[targets])
    due = due[np.argsort(targets[due], kind="stable")]
    reads = sources[due].tolist()
    begin = np.searchsorted(targets[due], np.arange(count + 1)).tolist()
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    anew = np.diff(blocks[order][starts], prepend=0) != 0
    in_rows = zip(
        starts.tolist(), [*starts[1:].tolist(), count], rows[order][starts].tolist(), anew.tolist(), strict=True
    )
    lanes, until, order_ = [0] * count, waits.tolist(), order.tolist()
    busy = [-1] * (WIDEST + 1)
    for start, end, row, is_anew in in_rows:
        if is_anew:
            busy = [-1] * (WIDEST + 1)
        if end - start == 1:  # most rows: nobody else can have the lane
            i = order_[start]
            mine = reads[begin[i] : begin[i + 1]]
            lane = min([lanes[s] for s in mine]) if mine else _free(0, (), busy, row)
            lanes[i] = lane
            if lane < WIDEST:
                busy[lane] = until[i]
            continue
        taken: set[int] = set()
        late: list[int] = []
        for i in order_[start:end]:
            wished = [lanes[s] for s in reads[begin[i] : begin[i + 1]] if lanes[s] not in taken]
            if wished:
                lanes[i] = min(wished)
                taken.add(lanes[i])
            else:
                late.append(i)
        lane = 0
        for i in late:
            lanes[i] = lane = _free(lane, taken, busy, row)
            taken.add(lane)
        for i in order_[start:end]:
            if lanes[i] < WIDEST:
                busy[lanes[i]] = until[i]
    return np.array(lanes, dtype=np.int64)


def _free(lane: int, taken: Collection[int], busy: Sequence[int], row: int) -> int:
    """The first lane from *lane* on that is not taken, and in which nobody waits."""
    while lane in taken or (lane < WIDEST and busy[lane] > row):
        lane += 1
    return lane


def own_lanes(cell: Ints, wish: Ints, then: Ints | None = None) -> Ints:
    """A lane of its own for each node of a row: the one wished for, or the next free one.

    Args:
        then: who of several that wish for the same lane comes first; else who is first in the array.
    """
    if not len(cell):
        return wish
    key = cell * (int(wish.max()) + 1) + wish
    order = np.argsort(key, kind="stable") if then is None else np.lexsort((then, key))
    sorted_cells, wishes = cell[order], wish[order]
    starts = np.flatnonzero(np.diff(sorted_cells, prepend=-1))
    lengths = np.diff(np.append(starts, len(cell)))
    within = np.arange(len(cell)) - np.repeat(starts, lengths)
    # A running maximum inside every cell: each cell lies higher than all before it.
    lift = np.repeat(np.arange(len(starts)), lengths) * (int(wish.max()) + len(cell) + 1)
    lanes = np.empty(len(cell), dtype=np.int64)
    lanes[order] = np.maximum.accumulate(wishes - within + lift) - lift + within
    return lanes


def distinct(values: Ints) -> tuple[Ints, Ints, Ints]:
    """The values without repetition, in order; where each is first; and the place among them of every value."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], order[new], place


def is_in(values: Ints, keys: Ints) -> Bools:
    """Return which of *values* are one of *keys*, which are in order."""
    at = np.searchsorted(keys, values)
    matches: Bools = np.append(keys, -1)[at] == values
    return matches


def count_in_groups(group: Ints, value: Ints | None = None) -> tuple[Ints, Ints]:
    """Place in its group (by *value*, then by position) and size of that, for each element."""
    order = np.argsort(group, kind="stable") if value is None else np.lexsort((value, group))
    ordered = group[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1)) if len(group) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.append(starts, len(group)))
    place, count = np.empty(len(group), dtype=np.int64), np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(starts, lengths)
    count[order] = np.repeat(lengths, lengths)
    return place, count

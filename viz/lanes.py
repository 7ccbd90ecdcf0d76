"""Rows and lanes for nodes in an order, as far as they need numbers alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

WIDEST: Final = 8
"""Lanes of a column. What a row has beyond that goes on in a row below it."""


def sink(rows: list[int], pairs: Iterable[tuple[int, int]]) -> None:
    """Move targets below their sources; *pairs* are in the order of the targets."""
    for s, t in pairs:
        below = rows[s] + 1
        if rows[t] < below:
            rows[t] = below


def chains(rows: Ints, sources: Ints, targets: Ints, blocks: Sequence[int]) -> list[int]:
    """A lane for each node: that of the writer that waits for it, else the first that no other writer waits in.

    Blocks of the program have rows of their own, so each begins with all lanes free.
    """
    count = len(rows)
    far = np.iinfo(np.int64).max
    first = np.full(count, far)
    np.minimum.at(first, sources, rows[targets])
    waits = np.where(first == far, -1, first)
    # Of everything that a node reads, the lowest lane among the writers that have nothing to wait for before it.
    due = waits[sources] == rows[targets]
    by_target = np.argsort(targets[due], kind="stable")
    reads: dict[int, list[int]] = {}
    for t, s in zip(targets[due][by_target].tolist(), sources[due][by_target].tolist(), strict=True):
        reads.setdefault(t, []).append(s)
    lanes, row_of, until = [0] * count, rows.tolist(), waits.tolist()
    busy = [-1] * (WIDEST + 1)
    row, taken, pointer, block = -1, set[int](), 0, 0
    late: list[int] = []
    order = np.argsort(rows, kind="stable").tolist()

    def settle() -> None:
        nonlocal pointer
        for i in late:
            while pointer in taken or (pointer < WIDEST and busy[pointer] > row):
                pointer += 1
            lanes[i] = pointer
            taken.add(pointer)
        for i in chosen:
            if lanes[i] < WIDEST:
                busy[lanes[i]] = until[i]

    chosen: list[int] = []
    for i in order:
        if row_of[i] != row:
            settle()
            row, taken, pointer, late, chosen = row_of[i], set(), 0, [], []
            if blocks[i] != block:
                block, busy = blocks[i], [-1] * (WIDEST + 1)
        chosen.append(i)
        wished = [lanes[s] for s in reads.get(i, ()) if lanes[s] not in taken]
        if wished:
            lanes[i] = min(wished)
            taken.add(lanes[i])
        else:
            late.append(i)
    settle()
    return lanes


def own_lanes(cell: Ints, wish: Ints, then: Ints) -> Ints:
    """A lane of its own for each node of a row: the one wished for, or the next free one in the order of *then*."""
    if not len(cell):
        return wish
    order = np.lexsort((then, wish, cell))
    sorted_cells, wishes = cell[order], wish[order]
    starts = np.flatnonzero(np.diff(sorted_cells, prepend=-1))
    lengths = np.diff(np.append(starts, len(cell)))
    within = np.arange(len(cell)) - np.repeat(starts, lengths)
    # A running maximum inside every cell: each cell lies higher than all before it.
    lift = np.repeat(np.arange(len(starts)), lengths) * (int(wish.max()) + len(cell) + 1)
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.maximum.accumulate(wishes - within + lift) - lift + within
    return found

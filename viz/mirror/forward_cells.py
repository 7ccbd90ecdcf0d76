"""Rows and lanes of the forward column: every operator stands below what it reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from .columns import IN_FORWARD, Sheet
from .lanes import WIDEST, chains, distinct, own_lanes, sink
from .picture_arrays import Ints

SWEEPS: Final = 6
"""Passes that bring neighbours nearer to each other; more change next to nothing."""


def place_forward(sheet: Sheet) -> None:
    """Give the nodes of the forward column their rows, and wishes for lanes."""
    _ForwardCells(sheet).place()


class _ForwardCells:
    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.drawn = sheet.drawn
        self.order = self._run_order()
        at = np.full(len(self.drawn.nodes), -1, dtype=np.int64)
        at[self.order] = np.arange(len(self.order))
        source, target = at[self.drawn.source], at[self.drawn.target]
        inner = (source >= 0) & (target >= 0) & (source < target)
        self.source, self.target = source[inner], target[inner]

    def place(self) -> None:
        sheet, order = self.sheet, self.order
        rows = self._rows()
        wish = self._lanes(rows)
        # A row of more than WIDEST nodes becomes several; rows count from 0 without gaps.
        key = rows * (int(wish.max(initial=0)) // WIDEST + 1) + wish // WIDEST
        sheet.wish[order] = wish % WIDEST
        sheet.base[order] = distinct(key)[2]
        sheet.column[order] = IN_FORWARD

    def _run_order(self) -> Ints:
        """Forward operators as they run, those of a block after its operator; results after their writer."""
        d, sheet = self.drawn, self.sheet
        at = np.zeros(len(d.nodes), dtype=np.int64)
        running = d.is_op & sheet.forward
        ops = np.flatnonzero(running)
        if d.view.blocks:
            ops = self._blocks_inside(ops)
        at[ops] = 2 * np.arange(len(ops))
        results = ~d.is_op & sheet.forward & ~sheet.in_left & ~sheet.in_right
        into = results[d.target] & running[d.source]
        at[d.target[into]] = at[d.source[into]] + 1
        order = np.concatenate([ops, np.flatnonzero(results)])
        return order[np.argsort(at[order], kind="stable")]

    def _blocks_inside(self, ops: Ints) -> Ints:
        """*ops* with those of every block right after the operator that runs it."""
        nodes = self.drawn.nodes
        by_block: dict[int, list[int]] = {}
        for i in ops.tolist():
            by_block.setdefault(nodes[i].block, []).append(i)
        inside: dict[str, list[int]] = {}
        for block in reversed(self.drawn.view.blocks):
            inside.setdefault(block.owner, []).append(block.index)
        blocks: list[int] = []
        started: set[int] = set()
        for first in by_block:  # the main block, and whatever belongs to no operator that is shown
            todo = [] if first in started else [iter(by_block[first])]
            started.add(first)
            while todo:
                i = next(todo[-1], None)
                if i is None:
                    todo.pop()
                    continue
                blocks.append(i)
                inner = [b for b in inside.get(nodes[i].name, ()) if b in by_block and b not in started]
                started.update(inner)
                todo += [iter(by_block[b]) for b in inner]
        return np.array(blocks, dtype=np.int64)

    def _rows(self) -> Ints:
        """The row of each node in order: below everything that it reads, and off the rows of other blocks."""
        count = len(self.order)
        by_target = np.argsort(self.target, kind="stable")
        rows = [0] * count
        sources, targets = self.source[by_target], self.target[by_target]
        if not self.drawn.view.blocks:
            sink(rows, sources.tolist(), targets.tolist())
            return self._tighten(np.array(rows, dtype=np.int64))
        bounds = [0, *(np.flatnonzero(np.diff(self.drawn.block[self.order])) + 1).tolist(), count]
        floor = 0
        for start, end in pairwise(bounds):
            rows[start:end] = [floor] * (end - start)
            lo, hi = np.searchsorted(targets, [start, end])
            sink(rows, sources[lo:hi].tolist(), targets[lo:hi].tolist())
            floor = max(rows[start:end], default=floor - 1) + 1
        return np.array(rows, dtype=np.int64)

    def _tighten(self, rows: Ints) -> Ints:
        """Nodes that stand far above what reads them come down to it, unless they read more than reads them."""
        count = len(rows)
        reads = np.bincount(self.target, minlength=count)
        readers = np.bincount(self.source, minlength=count)
        movable = (reads <= readers) & (readers > 0)
        nearest = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(nearest, self.source, rows[self.target])
        if not np.any(movable & (nearest > rows + 1)):
            return rows
        by_source = np.argsort(-self.source, kind="stable")
        slack: list[int] = rows.tolist()
        free: list[bool] = movable.tolist()
        limit: dict[int, int] = {}
        sources, targets = self.source[by_source].tolist(), self.target[by_source].tolist()
        before = -1
        for s, t in zip([*sources, -1], [*targets, -1], strict=True):
            if s != before and before >= 0 and free[before]:
                slack[before] = limit[before] - 1
            before = s
            if s >= 0:
                limit[s] = min(limit.get(s, slack[t]), slack[t])
        return np.array(slack, dtype=np.int64)

    def _lanes(self, rows: Ints) -> Ints:
        """Wishes for lanes: chains go straight down, then nodes move to the mean of their neighbours if that is
        shorter.
        """
        count = len(rows)
        # What gets no gradient stands beside what does, and does not draw it aside.
        idle = self.drawn.idle[self.order]
        alike = idle[self.source] == idle[self.target]
        s, t = self.source[alike], self.target[alike]
        lane = chains(rows, s, t, self.drawn.block[self.order])
        if lane.max(initial=0) == 0:
            return lane
        # Far neighbours are reached by streets, wherever they are.
        near = rows[t] - rows[s] <= 3
        s, t = s[near], t[near]
        ends, others = np.concatenate([s, t]), np.concatenate([t, s])
        best, shortest = lane, int(np.abs(lane[s] - lane[t]).sum())
        for sweep in range(SWEEPS):
            if not shortest:
                break
            of, at = ((t, s), (s, t), (ends, others))[sweep % 3]
            counts = np.bincount(of, minlength=count)
            mean = np.bincount(of, weights=lane[at], minlength=count) / np.maximum(counts, 1)
            lane = own_lanes(rows, np.rint(np.where(counts > 0, mean, lane)).astype(np.int64), lane)
            length = int(np.abs(lane[s] - lane[t]).sum())
            if length < shortest:
                best, shortest = lane, length
        # The trunk of the program stands next to the parameters.
        nodes_in = np.bincount(best) + count * np.bincount(best, weights=~idle)
        rank = np.empty(len(nodes_in), dtype=np.int64)
        rank[np.argsort(-nodes_in, kind="stable")] = np.arange(len(nodes_in))
        lanes: Ints = rank[best]
        return lanes

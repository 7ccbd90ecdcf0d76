"""The first half of the mirror layout: which row and which lane every node stands in.

Rows count from top to bottom, lanes from left to right; a cell is where the two meet. Lanes belong to columns::

    parameters │ forward … │ recomputed … │ backward … │ gradients │ backward2 … │ optimizer …

Forward operators stand below what they read. A gradient operator stands on the row of the operator that it
differentiates, in the mirror image of its lane; other backward operators get rows of their own in between. All in a
constant number of passes over nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gradtool.engine import names
from gradtool.engine.view import BACKWARD, FORWARD, OP, GraphView, NodeView

from .lanes import WIDEST, Ints, chains, own_lanes, sink

PARAMETERS: Final = "parameters"
RECOMPUTED: Final = "recomputed"
GRADIENTS: Final = "gradients"
OPTIMIZER: Final = "optimizer"
GUTTERS: Final = (PARAMETERS, GRADIENTS)
"""Columns of one lane, whose cells hold several boxes, one below the other."""

SWEEPS: Final = 6
"""Passes that bring neighbours nearer to each other; more change next to nothing."""

_SOURCES = frozenset({"parameter", "data", "state", "leaf", "constant"})
Key = tuple[int, int]
"""A row before rows are numbered: a forward row, and how many rows above it."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the nodes of a view stand.

    Attributes:
        nodes: what is drawn.
        edges: positions in ``view.edges`` of the edges that are drawn.
        source, target: positions in *nodes* of the two ends of each edge.
        row, lane: of each node.
        slot: of a node in a gutter its place in the cell, from 0.
        column: of each node, as a position in *columns*.
        columns: names of the columns from left to right.
        lanes: the column that each lane belongs to.
        up: of each column, whether what it computes runs from the bottom to the top.
    """

    nodes: tuple[NodeView, ...]
    edges: Ints
    source: Ints
    target: Ints
    row: Ints
    lane: Ints
    slot: Ints
    column: Ints
    columns: tuple[str, ...]
    lanes: Ints
    up: NDArray[np.bool_]


def place(view: GraphView) -> Cells:
    """Rows and lanes for everything that the picture shows."""
    return _Placing(view).cells()


class _Placing:
    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.nodes = view.drawn()
        self.index = {n.id: i for i, n in enumerate(self.nodes)}
        index, edges = self.index, view.edges
        drawn = [(i, index[e.source], index[e.target]) for i, e in enumerate(edges) if e.source != e.target]
        table = np.array(drawn, dtype=np.int64).reshape(-1, 3)
        self.edges, self.source, self.target = table[:, 0], table[:, 1], table[:, 2]
        count = len(self.nodes)
        self.is_op = np.array([n.kind == OP for n in self.nodes], dtype=bool)
        self.forward = np.array([n.part == FORWARD for n in self.nodes], dtype=bool)
        self.written = np.zeros(count, dtype=bool)
        self.written[self.target] = True
        # What is read before it is written was there before, whatever writes it later: parameters under an optimizer.
        from_before = np.array([n.role in _SOURCES for n in self.nodes], dtype=bool)
        self.in_left = ~self.is_op & self.forward & (from_before | ~self.written)
        # What only backward operators read, a learning rate, stands beside them.
        state = np.array([n.role == "state" for n in self.nodes], dtype=bool)
        state[self.source[self.forward[self.target]]] = False
        self.in_left &= ~state
        self.in_right = ~self.is_op & (~self.forward & self.written | state)
        # Gradient operators alone stand as forward operators do, the seed at the top.
        self.alone = not bool((self.is_op & self.forward).any())
        if self.alone:
            self.forward = ~self.in_right
        self.pair = [index.get(n.pair, -1) if n.pair is not None else -1 for n in self.nodes]
        self.first_reader = np.full(count, -1, dtype=np.int64)
        self.first_reader[self.source[::-1]] = self.target[::-1]
        self.writer = np.full(count, -1, dtype=np.int64)
        self.writer[self.target[::-1]] = self.source[::-1]
        self.keys: list[Key | None] = [None] * count
        self.column: list[str] = [""] * count
        self.wish = np.zeros(count, dtype=np.int64)

    def cells(self) -> Cells:
        order = self._forward_order()
        rows = self._forward_rows(order)
        self._lanes(order, rows)
        for i, r in zip(order.tolist(), self._numbered_rows(order, rows).tolist(), strict=True):
            self.keys[i] = (r, 0)
            self.column[i] = FORWARD
        self._backward()
        self._gutters()
        return self._numbered()

    # -- forward ------------------------------------------------------------------------------------------------------

    def _forward_order(self) -> Ints:
        """Forward operators as they run, those of a block after its operator; results after their writer."""
        at = np.zeros(len(self.nodes), dtype=np.int64)
        ops = np.flatnonzero(self.is_op & self.forward)
        if self.view.blocks:
            ops = self._blocks_inside(ops)
        at[ops] = 2 * np.arange(len(ops))
        results = np.flatnonzero(~self.is_op & self.forward & ~self.in_left & ~self.in_right)
        into = np.isin(self.target, results) & self.is_op[self.source] & self.forward[self.source]
        at[self.target[into]] = at[self.source[into]] + 1
        found = np.concatenate([ops, results])
        found = found[np.argsort(at[found], kind="stable")]
        self.at = np.full(len(self.nodes), -1, dtype=np.int64)
        self.at[found] = np.arange(len(found))
        return found

    def _blocks_inside(self, ops: Ints) -> Ints:
        """*ops* with those of every block right after the operator that runs it."""
        by_block: dict[int, list[int]] = {}
        for i in ops.tolist():
            by_block.setdefault(self.nodes[i].block, []).append(i)
        inside: dict[str, list[int]] = {}
        for block in reversed(self.view.blocks):
            inside.setdefault(block.owner, []).append(block.index)
        found: list[int] = []
        started: set[int] = set()
        for first in by_block:  # the main block, and whatever belongs to no operator that is shown
            todo = [] if first in started else [iter(by_block[first])]
            started.add(first)
            while todo:
                i = next(todo[-1], None)
                if i is None:
                    todo.pop()
                    continue
                found.append(i)
                inner = [b for b in inside.get(self.nodes[i].name, ()) if b in by_block and b not in started]
                started.update(inner)
                todo += [iter(by_block[b]) for b in inner]
        return np.array(found, dtype=np.int64)

    def _forward_rows(self, order: Ints) -> Ints:
        """The row of each node in *order*: below everything that it reads, and off the rows of other blocks."""
        count = len(order)
        source, target = self.at[self.source], self.at[self.target]
        inner = (source >= 0) & (target >= 0) & (source < target)
        self.inner_source, self.inner_target = source[inner], target[inner]
        by_target = np.argsort(self.inner_target, kind="stable")
        rows = [0] * count
        ends = self.inner_target[by_target]
        pairs = list(zip(self.inner_source[by_target].tolist(), ends.tolist(), strict=True))
        if not self.view.blocks:
            sink(rows, pairs)
            return self._slackened(np.array(rows, dtype=np.int64))
        block = np.array([self.nodes[i].block for i in order.tolist()])
        bounds = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), count]
        floor = 0
        for start, end in pairwise(bounds):
            rows[start:end] = [floor] * (end - start)
            lo, hi = np.searchsorted(ends, [start, end])
            sink(rows, pairs[lo:hi])
            floor = max(rows[start:end], default=floor - 1) + 1
        return np.array(rows, dtype=np.int64)

    def _slackened(self, rows: Ints) -> Ints:
        """Nodes that stand far above what reads them come down to it, unless they read more than reads them."""
        count = len(rows)
        reads = np.bincount(self.inner_target, minlength=count)
        readers = np.bincount(self.inner_source, minlength=count)
        movable = (reads <= readers) & (readers > 0)
        nearest = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(nearest, self.inner_source, rows[self.inner_target])
        if not np.any(movable & (nearest > rows + 1)):
            return rows
        by_source = np.argsort(-self.inner_source, kind="stable")
        found: list[int] = rows.tolist()
        free: list[bool] = movable.tolist()
        limit: dict[int, int] = {}
        sources, targets = self.inner_source[by_source].tolist(), self.inner_target[by_source].tolist()
        before = -1
        for s, t in zip([*sources, -1], [*targets, -1], strict=True):
            if s != before and before >= 0 and free[before]:
                found[before] = limit[before] - 1
            before = s
            if s >= 0:
                limit[s] = min(limit.get(s, found[t]), found[t])
        return np.array(found, dtype=np.int64)

    def _lanes(self, order: Ints, rows: Ints) -> None:
        """Wishes for lanes: chains go straight down, then nodes move to the mean of their neighbours if that is
        shorter.
        """
        count = len(order)
        s, t = self.inner_source, self.inner_target
        blocks = [self.nodes[i].block for i in order.tolist()]
        lane = np.array(chains(rows, s, t, blocks), dtype=np.int64)
        self.wish[order] = lane
        if lane.max(initial=0) == 0:
            return
        # Far neighbours are reached by streets, wherever they are.
        near = rows[t] - rows[s] <= 3
        s, t = s[near], t[near]
        ends, others = np.concatenate([s, t]), np.concatenate([t, s])
        best, shortest = lane, int(np.abs(lane[s] - lane[t]).sum())
        for sweep in range(SWEEPS):
            of, at = ((t, s), (s, t), (ends, others))[sweep % 3]
            known = np.bincount(of, minlength=count)
            mean = np.bincount(of, weights=lane[at], minlength=count) / np.maximum(known, 1)
            lane = own_lanes(rows, np.rint(np.where(known > 0, mean, lane)).astype(np.int64), lane)
            length = int(np.abs(lane[s] - lane[t]).sum())
            if length < shortest:
                best, shortest = lane, length
        # The trunk of the program stands next to the parameters.
        nodes_in = np.bincount(best)
        rank = np.empty(len(nodes_in), dtype=np.int64)
        rank[np.argsort(-nodes_in, kind="stable")] = np.arange(len(nodes_in))
        self.wish[order] = rank[best]

    def _numbered_rows(self, order: Ints, rows: Ints) -> Ints:
        """Rows from 0 without gaps; a row of more than :data:`WIDEST` nodes becomes several."""
        wish = self.wish[order]
        self.wish[order] = wish % WIDEST
        key = rows * (int(wish.max(initial=0)) // WIDEST + 1) + wish // WIDEST
        numbers: Ints = np.unique(key, return_inverse=True)[1].reshape(-1)
        return numbers

    # -- backward -----------------------------------------------------------------------------------------------------

    def _backward(self) -> None:
        """Rows and columns of everything that is computed after the forward part, in the order of the program."""
        ops = np.flatnonzero(self.is_op & ~self.forward).tolist()
        seeds = np.flatnonzero(~self.is_op & ~self.forward & ~self.written).tolist()
        inputs, outputs = self._neighbours([i for i in ops if self.pair[i] < 0])
        for i in seeds:
            self.column[i] = "backward1"
            self.keys[i] = self._key_of(self.pair[i]) or (0, 0)
        taken: dict[tuple[str, Key], int] = {}
        room: dict[tuple[str, Key], Key] = {}
        originals = self._originals(ops)
        beside = self._beside_seeds()
        column, sweep, seen, last = "backward1", 1, set[int](), -1
        key: Key = (0, 0)
        previous_forward = False
        order = {i: k for k, i in enumerate(np.flatnonzero(self.is_op).tolist())}
        for n, i in enumerate(ops):
            node, pair = self.nodes[i], self.pair[i]
            gap = n > 0 and order[i] != order[ops[n - 1]] + 1 and node.block == self.nodes[ops[n - 1]].block
            previous_forward = previous_forward or gap
            if node.role == "optimize":
                column = OPTIMIZER
            else:
                again = pair >= 0 and pair in seen and pair != last
                if again or (previous_forward and n > 0):
                    sweep, seen = sweep + 1, set()
                previous_forward = False
                column = f"backward{sweep}"
                if pair >= 0:
                    seen.add(pair)
                    last = pair
            if i in originals:
                column, pair = RECOMPUTED, originals[i]
            if pair < 0 and node.role == "seed":
                pair = beside.get(node.id, -1)
            found = self._key_of(pair) if pair >= 0 else self._own_row(column, inputs[i], outputs[i], key)
            key = found or (0, 0)
            wish = int(self.wish[pair]) if pair >= 0 else 0
            wanted = (column, key)
            key = room.get(wanted, key)
            while taken.get((column, key), 0) >= WIDEST:
                key = (key[0], key[1] + 1)
            room[wanted] = key
            taken[(column, key)] = taken.get((column, key), 0) + 1
            self.keys[i], self.column[i], self.wish[i] = key, column, wish

    def _beside_seeds(self) -> dict[str, int]:
        """Operators that seed a gradient -> the box of the tensor that it is the gradient of."""
        seeds = {self.nodes[i].id for i in np.flatnonzero(self.is_op & ~self.forward) if self.nodes[i].role == "seed"}
        tensors = {e.tensor: e.source for e in self.view.edges if e.source in seeds}
        found = {}
        for n in self.view.nodes:
            if n.id in tensors and n.pair in self.index:
                found[tensors[n.id]] = self.index[n.pair]
        return found

    def _neighbours(self, of: Iterable[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        inputs: dict[int, list[int]] = {i: [] for i in of}
        outputs: dict[int, list[int]] = {i: [] for i in inputs}
        asked = np.zeros(len(self.nodes), dtype=bool)
        asked[list(inputs)] = True
        near = np.flatnonzero(asked[self.source] | asked[self.target])
        for s, t in zip(self.source[near].tolist(), self.target[near].tolist(), strict=True):
            if t in inputs:
                inputs[t].append(s)
            if s in outputs:
                outputs[s].append(t)
        return inputs, outputs

    def _originals(self, ops: Sequence[int]) -> dict[int, int]:
        """Operators that compute forward values again -> the forward operators that did it first."""
        again = {
            n.id: names.original(n.name)
            for n in self.view.nodes
            if n.kind != OP and n.part == BACKWARD and names.is_recomputed(n.name)
        }
        if not again:
            return {}
        by_name = {n.name: n.id for n in self.view.nodes if n.kind != OP and n.part == FORWARD}
        writer: dict[str, str] = {}
        writes: dict[str, str] = {}
        for e in self.view.edges:
            if e.tensor in again:
                writes.setdefault(e.source, e.tensor)
            writer.setdefault(e.tensor, e.source)
        found = {}
        for i in ops:
            tensor = writes.get(self.nodes[i].id)
            original = self.index.get(writer.get(by_name.get(again.get(tensor or "", ""), ""), ""), -1)
            if original >= 0 and self.keys[original] is not None and self.pair[i] < 0:
                found[i] = original
        return found

    def _key_of(self, i: int) -> Key | None:
        return self.keys[i] if i >= 0 else None

    def _own_row(self, column: str, inputs: Sequence[int], outputs: Sequence[int], last: Key) -> Key | None:
        """The row of an operator that differentiates none: above what it reads, else beside or below what it is for."""
        if column == OPTIMIZER:
            for j in inputs:
                if self.in_left[j] or self.in_right[j]:
                    found = self._gutter_key(j)
                    if found is not None:
                        return found
        above = [k for j in inputs if not self.forward[j] and (k := self.keys[j]) is not None]
        if above:
            base, depth = min(above, key=lambda k: (k[0], -k[1]))
            return base, depth + 1
        for j in outputs:
            beside = self._key_of(self.pair[j])
            if beside is not None:
                return beside[0], beside[1] - (1 if self.is_op[j] else 0)
        return last

    def _gutter_key(self, i: int) -> Key | None:
        """The row of a tensor in a gutter: that of its operator; of a gradient that was asked for its parameter's."""
        if self.keys[i] is not None:
            return self.keys[i]
        if self.in_left[i]:
            return self._key_of(int(self.first_reader[i]))
        pair = self.pair[i]
        asked = pair >= 0 and self.in_left[pair] and self.nodes[i].role == "gradient"
        beside = self._gutter_key(pair) if asked else None
        return beside or self._key_of(int(self.writer[i]))

    # -- gutters ------------------------------------------------------------------------------------------------------

    def _gutters(self) -> None:
        lowest = max((k[0] for k in self.keys if k is not None), default=-1)
        loose = 0
        for i in np.flatnonzero(self.in_left | self.in_right).tolist():
            key = self._gutter_key(i)
            if key is None:  # a parameter that nothing reads
                key = (lowest + 1 + loose // WIDEST, 0)
                loose += 1
            self.keys[i] = key
            self.column[i] = PARAMETERS if self.in_left[i] else GRADIENTS

    def _numbered(self) -> Cells:
        """Numbers in place of keys and names of columns, and lanes that are everyone's own."""
        count = len(self.nodes)
        if not count:
            empty = np.zeros(0, dtype=np.int64)
            return Cells((), empty, empty, empty, empty, empty, empty, empty, (), empty, np.zeros(0, dtype=bool))
        keys = np.array([k if k is not None else (0, 0) for k in self.keys], dtype=np.int64)
        deepest = int(np.abs(keys[:, 1]).max()) + 1
        row = np.unique(keys[:, 0] * 2 * deepest - keys[:, 1], return_inverse=True)[1].reshape(-1)
        present = set(self.column)
        further = sorted(
            (c for c in present if c.startswith("backward") and c != "backward1"), key=lambda c: int(c[8:])
        )
        wanted = (PARAMETERS, FORWARD, RECOMPUTED, "backward1", GRADIENTS, *further, OPTIMIZER)
        columns = [c for c in wanted if c in present]
        number = {c: n for n, c in enumerate(columns)}
        column = np.array([number[c] for c in self.column], dtype=np.int64)
        gutter = np.array([c in GUTTERS for c in columns])
        lane, slot = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        inside = np.flatnonzero(~gutter[column])
        lane[inside] = own_lanes(column[inside] * (int(row.max()) + 1) + row[inside], self.wish[inside], inside)
        self._slots(np.flatnonzero(gutter[column]), row, slot)
        widths = [int(lane[column == n].max(initial=0)) + 1 for n in range(len(columns))]
        for n, c in enumerate(columns):
            if c in (RECOMPUTED, "backward1"):
                here = column == n
                lane[here] = widths[n] - 1 - lane[here]
        starts = np.cumsum([0, *widths[:-1]])
        return Cells(
            self.nodes,
            self.edges,
            self.source,
            self.target,
            row,
            lane + starts[column],
            slot,
            column,
            tuple(BACKWARD if c == "backward1" or (self.alone and c == FORWARD) else c for c in columns),
            np.repeat(np.arange(len(columns)), widths),
            np.array([c.startswith("backward") or c == OPTIMIZER for c in columns]),
        )

    def _slots(self, members: Ints, row: Ints, slot: Ints) -> None:
        """Places in the cells of gutters; a gradient has that of its parameter across the picture."""
        used: dict[int, int] = {}
        given: dict[int, tuple[int, int]] = {}
        # What the operator next to the gutter reads stands together, so that its lines run straight.
        near = {i: int(self.wish[self.first_reader[i]]) if self.first_reader[i] >= 0 else 0 for i in members.tolist()}
        left = sorted((i for i in members.tolist() if self.in_left[i]), key=near.__getitem__)
        right = sorted(
            (i for i in members.tolist() if self.in_right[i]), key=lambda i: self.nodes[i].role != "gradient"
        )
        for i in left:
            r = int(row[i])
            given[i] = (r, used.get(r, 0))
            slot[i] = given[i][1]
            used[r] = slot[i] + 1
        taken: set[tuple[int, int]] = set()
        rest = []
        for i in right:
            place = given.get(self.pair[i])
            if place is None or place in taken or place[0] != row[i]:
                rest.append(i)
                continue
            taken.add(place)
            slot[i] = place[1]
        for i in rest:
            r = int(row[i])
            slot[i] = used.get(r, 0) if (r, 0) in taken or used.get(r, 0) else 0
            used[r] = int(slot[i]) + 1

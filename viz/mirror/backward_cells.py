"""Rows and columns of everything that is computed after the forward part.

A gradient operator stands on the row of the operator that it differentiates; other backward operators get rows of their
own in between. A new column begins where an operator is differentiated again, or where forward operators run in
between: gradients of gradients stand beside the gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from gradtool.engine.core import names
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, NodeView

from .columns import IN_BACKWARD, IN_OPTIMIZER, IN_RECOMPUTED, Row, Sheet, sweep_column
from .gutters import gutter_row
from .lanes import WIDEST
from .picture_arrays import Ints


def place_backward(sheet: Sheet) -> None:
    """Give backward operators, and gradients that nothing writes, their rows, columns and wishes for lanes."""
    _BackwardCells(sheet).place()


class _BackwardCells:
    def __init__(self, sheet: Sheet) -> None:
        d = self.drawn = sheet.drawn
        self.sheet = sheet
        self.base: list[int] = sheet.base.tolist()
        self.above: list[int] = sheet.above.tolist()
        self.wish: list[int] = sheet.wish.tolist()
        self.forward: list[bool] = sheet.forward.tolist()
        self.ops = np.flatnonzero(d.is_op & ~sheet.forward)

    def place(self) -> None:
        sheet, d = self.sheet, self.drawn
        seeds = np.flatnonzero(~d.is_op & ~sheet.forward & ~sheet.written)
        for i, of in zip(seeds.tolist(), d.pair[seeds].tolist(), strict=True):
            self.base[i], self.above[i] = self._row_of(of) or (0, 0)
        sheet.column[seeds] = IN_BACKWARD
        if len(self.ops):
            self._place_operators()
        placed = np.concatenate([seeds, self.ops])
        for of_sheet, values in ((sheet.base, self.base), (sheet.above, self.above), (sheet.wish, self.wish)):
            of_sheet[placed] = list(map(values.__getitem__, placed.tolist()))

    def _place_operators(self) -> None:
        ops, base, above, wish = self.ops, self.base, self.above, self.wish
        pair = self.drawn.pair[ops]
        columns = self._columns(pair)
        apart = np.flatnonzero(pair < 0)
        written = self._output_tensors(ops[apart])
        for at, original in self._originals(apart, written):
            columns[at], pair[at] = IN_RECOMPUTED, original
        for at, beside in self._seed_pairs(apart, written):
            if pair[at] < 0:
                pair[at] = beside
        self.sheet.column[ops] = columns
        inputs, outputs = self._neighbours(ops[pair < 0])
        # How many operators a cell has, and where those go on that find it full.
        taken: dict[tuple[int, int, int], int] = {}
        room: dict[tuple[int, int, int], Row] = {}
        row, height = 0, 0
        for i, of, column in zip(ops.tolist(), pair.tolist(), columns.tolist(), strict=True):
            if of >= 0:
                row, height = (base[of], above[of]) if base[of] >= 0 else (0, 0)
                wish[i] = wish[of]
            else:
                row, height = self._own_row(column, inputs[i], outputs[i], (row, height))
            cell = (column, row, height)
            there = taken.get(cell, 0)
            if there:
                wanted = cell
                row, height = room.get(cell, (row, height))
                cell = (column, row, height)
                while (there := taken.get(cell, 0)) >= WIDEST:
                    height += 1
                    cell = (column, row, height)
                room[wanted] = (row, height)
            taken[cell] = there + 1
            base[i], above[i] = row, height

    def _columns(self, pair: Ints) -> Ints:
        """The column of each operator. A sweep ends where it would differentiate an operator a second time, or where
        forward operators of the same block were run.
        """
        d, ops = self.drawn, self.ops
        between = (np.diff(np.cumsum(d.is_op)[ops]) != 1) & (np.diff(d.block[ops]) == 0)
        steps = d.has_role("optimize")[ops].tolist()
        columns = []
        sweep, last, interrupted = 1, -1, False
        seen: set[int] = set()
        for of, gap, of_optimizer in zip(pair.tolist(), [False, *between.tolist()], steps, strict=True):
            interrupted = interrupted or gap
            if of_optimizer:
                columns.append(IN_OPTIMIZER)
                continue
            if interrupted or (of != last and of in seen):
                sweep, seen, interrupted = sweep + 1, set(), False
            columns.append(sweep_column(sweep))
            if of >= 0:
                seen.add(of)
                last = of
        return np.array(columns, dtype=np.int64)

    def _output_tensors(self, ops: Ints) -> list[list[int]]:
        """The tensors that each of these operators writes, as positions in the view."""
        d = self.drawn
        at = np.full(len(d.nodes), -1, dtype=np.int64)
        at[ops] = np.arange(len(ops))
        edges = np.flatnonzero(at[d.source] >= 0)
        tensors: list[list[int]] = [[] for _ in ops]
        for k, tensor in zip(at[d.source[edges]].tolist(), d.tensor[edges].tolist(), strict=True):
            tensors[k].append(tensor)
        return tensors

    def _seed_pairs(self, apart: Ints, written: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Operators that seed a gradient, with the box of the tensor that it is the gradient of."""
        is_seed = self.drawn.has_role("seed")[self.ops[apart]].tolist()
        of, place = self.drawn.view.positions.pair, self.drawn.place
        for at, tensors in compress(zip(apart.tolist(), written, strict=True), is_seed):
            boxes = [int(place[of[t]]) for t in tensors if of[t] >= 0 and place[of[t]] >= 0]
            if boxes:
                yield at, boxes[-1]

    def _originals(self, apart: Ints, written: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Operators that compute forward values again, with the forward operators that did it first."""
        view = self.drawn.view
        nodes, positions = view.nodes, view.positions
        again = [next((nodes[t].name for t in ts if _is_again(nodes[t])), None) for ts in written]
        if not any(again):
            return
        by_name = {n.name: t for t, n in enumerate(nodes) if n.kind != OP and n.part == FORWARD}
        writer = np.full(len(nodes), -1, dtype=np.int64)
        writer[positions.tensor[::-1]] = self.drawn.place[positions.source[::-1]]
        for at, name in zip(apart.tolist(), again, strict=True):
            tensor = -1 if name is None else by_name.get(names.original(name), -1)
            first = int(writer[tensor]) if tensor >= 0 else -1
            if first >= 0 and self.base[first] >= 0:
                yield at, first

    def _neighbours(self, of: Ints) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        d = self.drawn
        inputs: dict[int, list[int]] = {i: [] for i in of.tolist()}
        outputs: dict[int, list[int]] = {i: [] for i in inputs}
        asked = np.zeros(len(d.nodes), dtype=bool)
        asked[of] = True
        into, out = np.flatnonzero(asked[d.target]), np.flatnonzero(asked[d.source])
        for s, t in zip(d.source[into].tolist(), d.target[into].tolist(), strict=True):
            inputs[t].append(s)
        for s, t in zip(d.source[out].tolist(), d.target[out].tolist(), strict=True):
            outputs[s].append(t)
        return inputs, outputs

    def _row_of(self, i: int) -> Row | None:
        return (self.base[i], self.above[i]) if i >= 0 and self.base[i] >= 0 else None

    def _own_row(self, column: int, inputs: Sequence[int], outputs: Sequence[int], last: Row) -> Row:
        """The row of an operator that differentiates none: above what it reads, else beside or below what it is for."""
        base, above, forward = self.base, self.above, self.forward
        if column == IN_OPTIMIZER:
            for j in inputs:  # a gutter is placed later, but where is known by now
                beside = gutter_row(self.sheet, j, base, above)
                if beside is not None:
                    return beside
        read = [(base[j], -above[j]) for j in inputs if not forward[j] and base[j] >= 0]
        if read:
            row, depth = min(read)
            return row, 1 - depth
        for j in outputs:
            beside = self._row_of(int(self.drawn.pair[j]))
            if beside is not None:
                return beside[0], beside[1] - (1 if self.drawn.is_op[j] else 0)
        return last


def _is_again(tensor: NodeView) -> bool:
    return tensor.part == BACKWARD and names.is_recomputed(tensor.name)

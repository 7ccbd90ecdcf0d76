"""The first half of the mirror layout: which row and which lane every node stands in.

Rows count from top to bottom, lanes from left to right; a cell is where the two meet. Lanes belong to columns::

    parameters │ forward … │ recomputed … │ backward … │ gradients │ backward2 … │ optimizer …

Forward operators stand below what they read (``forward_cells.py``). A gradient operator stands on the row of the
operator that it differentiates, in the mirror image of its lane; other backward operators get rows of their own in
between (``backward_cells.py``). Tensors stand beside their operators (``gutters.py``). All in a constant number of
passes over nodes and edges.
"""

from __future__ import annotations

import numpy as np

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import BACKWARD, FORWARD, GraphView

from .backward_cells import place_backward
from .columns import GUTTERS, IN_BACKWARD, IN_RECOMPUTED, OPTIMIZER, Sheet, column_name
from .forward_cells import place_forward
from .gutters import place_gutters, slots
from .lanes import distinct, own_lanes
from .picture_arrays import Bools, DrawnGraph, Ints


@dataclass(frozen=True, slots=True)
class Cells:
    """Places of the nodes of a view.

    Attributes:
        drawn: the nodes and edges.
        row, lane: of each node.
        slot: of a node in a gutter its place in the cell, from 0.
        column: of each node, as a position in *columns*.
        columns: names of the columns from left to right.
        lanes: the column that each lane belongs to.
        up: of each column, whether what it computes runs from the bottom to the top.
    """

    drawn: DrawnGraph
    row: Ints
    lane: Ints
    slot: Ints
    column: Ints
    columns: tuple[str, ...]
    lanes: Ints
    up: Bools

    def gutter_mask(self) -> Bools:
        """Mask of the nodes that stand in a gutter."""
        gutters = np.array([name in GUTTERS for name in self.columns], dtype=bool)
        return gutters[self.column]


def place(view: GraphView) -> Cells:
    """Rows and lanes for everything that the picture shows."""
    sheet = Sheet(view)
    place_forward(sheet)
    place_backward(sheet)
    place_gutters(sheet)
    return _number_cells(sheet)


def _number_cells(sheet: Sheet) -> Cells:
    """Rows and columns by number, and lanes that are everyone's own."""
    deepest = int(np.abs(sheet.above).max(initial=0)) + 1
    row = distinct(sheet.base * 2 * deepest - sheet.above)[2]
    numbers, _, column = distinct(sheet.column)
    gutter = sheet.in_left | sheet.in_right
    lane = np.zeros(len(row), dtype=np.int64)
    inside = np.flatnonzero(~gutter)
    lane[inside] = own_lanes(column[inside] * (int(row.max(initial=0)) + 1) + row[inside], sheet.wish[inside])
    widest = np.zeros(len(numbers), dtype=np.int64)
    np.maximum.at(widest, column, lane)
    # Beside what they mirror, lanes count from the right.
    mirrored = ((numbers == IN_RECOMPUTED) | (numbers == IN_BACKWARD))[column]
    lane = np.where(mirrored, widest[column] - lane, lane)
    starts = np.concatenate([[0], np.cumsum(widest + 1)])[:-1]
    names = [column_name(n) for n in numbers.tolist()]
    return Cells(
        sheet.drawn,
        row,
        lane + starts[column],
        slots(sheet, row),
        column,
        tuple(BACKWARD if sheet.alone and name == FORWARD else name for name in names),
        np.repeat(np.arange(len(names)), widest + 1),
        np.array([name.startswith(BACKWARD) or name == OPTIMIZER for name in names], dtype=bool),
    )

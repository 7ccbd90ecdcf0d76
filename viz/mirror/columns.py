"""The columns of the mirror layout, and the sheet on which nodes get their places while it is made."""

from __future__ import annotations

from typing import Final

import numpy as np

from gradtool.engine.view.graph import BACKWARD, FORWARD, GraphView

from .picture_arrays import SOURCES, Bools, DrawnGraph, Ints

PARAMETERS: Final = "parameters"
RECOMPUTED: Final = "recomputed"
GRADIENTS: Final = "gradients"
OPTIMIZER: Final = "optimizer"
GUTTERS: Final = (PARAMETERS, GRADIENTS)
"""Columns of one lane, whose cells hold several boxes, one below the other."""

# Columns as numbers, from left to right; the second sweep of backward operators is 5, and so on.
IN_PARAMETERS: Final = 0
IN_FORWARD: Final = 1
IN_RECOMPUTED: Final = 2
IN_BACKWARD: Final = 3
IN_GRADIENTS: Final = 4
IN_OPTIMIZER: Final = 1 << 40

_NAMES: Final = {
    IN_PARAMETERS: PARAMETERS,
    IN_FORWARD: FORWARD,
    IN_RECOMPUTED: RECOMPUTED,
    IN_BACKWARD: BACKWARD,
    IN_GRADIENTS: GRADIENTS,
    IN_OPTIMIZER: OPTIMIZER,
}


Row = tuple[int, int]
"""A row before rows are numbered: base, and how many rows above it."""


def sweep_column(sweep: int) -> int:
    """The column of a sweep of backward operators; the first is 1."""
    return IN_BACKWARD if sweep == 1 else IN_GRADIENTS + sweep - 1


def column_name(column: int) -> str:
    """``backward`` for the first sweep, ``backward2`` for the second."""
    return _NAMES.get(column) or f"{BACKWARD}{column - IN_GRADIENTS + 1}"


class Sheet:
    """Places of nodes, before rows are numbered.

    A row is a forward row, its *base*, and how many rows *above* it, which is where the gradients of what comes below
    are added up. Lanes are wishes, until all of a row are known.

    Attributes:
        in_left, in_right: nodes of the two gutters.
        forward: nodes of the forward column, and those in the left gutter.
        asked: nodes that are the gradient, asked for, of one in the left gutter.
        alone: whether there is only a backward part, which stands as a forward part does, the seed at the top.
        first_reader, writer: of each node the first operator that reads it, and that writes it; -1 for none.
        base, above, column, wish: of each node; a base of -1 is not known yet.
    """

    def __init__(self, view: GraphView) -> None:
        self.drawn = d = DrawnGraph.select(view)
        count = len(d.nodes)
        written = np.zeros(count, dtype=bool)
        written[d.target] = True
        self.written = written
        # What is read before it is written was there before, whatever writes it later: parameters under an optimizer.
        self.in_left = ~d.is_op & d.forward & (d.has_role(*SOURCES) | ~written)
        # What only backward operators read, a learning rate, stands beside them.
        state = d.has_role("state")
        state[d.source[d.forward[d.target]]] = False
        self.in_left &= ~state
        self.in_right: Bools = ~d.is_op & (~d.forward & written | state)
        self.alone = not bool((d.is_op & d.forward).any())
        self.forward: Bools = ~self.in_right if self.alone else d.forward
        self.first_reader: Ints = np.full(count, -1, dtype=np.int64)
        self.first_reader[d.source[::-1]] = d.target[::-1]
        self.writer: Ints = np.full(count, -1, dtype=np.int64)
        self.writer[d.target[::-1]] = d.source[::-1]
        pair = d.pair
        self.asked: Bools = (pair >= 0) & self.in_left[pair] & d.has_role("gradient") if count else written
        self.base: Ints = np.full(count, -1, dtype=np.int64)
        self.above: Ints = np.zeros(count, dtype=np.int64)
        self.column: Ints = np.full(count, -1, dtype=np.int64)
        self.wish: Ints = np.zeros(count, dtype=np.int64)

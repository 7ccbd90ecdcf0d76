"""Values that the compiled runs of a block leave for backward blocks: a row of a buffer for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax


class StackedFrames:
    """Values that the runs of a block left, as ``executor/runner.py``'s frames.

    Attributes:
        each: arrays that differ from run to run, with a row for each run; of a branch, as they are.
        same: those that are the same in all runs.
        count: how many runs there were; of a branch, whether it was taken.
        rows: how many there can be; None of a branch.
        nesting: how the arrays lie in the values that were asked for.
        varies: for each of these arrays, whether it is one of *each*.
        begins, ends: as those of frames.
    """

    __slots__ = ("begins", "count", "each", "ends", "nesting", "rows", "same", "varies")

    def __init__(
        self,
        each: Sequence[Any],
        same: Sequence[Any],
        count: Any,
        rows: int | None,
        nesting: Any,
        varies: tuple[bool, ...],
        begins: tuple[Any, ...],
        ends: tuple[Any, ...],
    ) -> None:
        self.each = each
        self.same = same
        self.count = count
        self.rows = rows
        self.nesting = nesting
        self.varies = varies
        self.begins = begins
        self.ends = ends

    def values_of(self, number: Any) -> list[Any]:
        """The values that run *number* left, by their places."""
        each, same = iter(self.each), iter(self.same)
        leaves = [self._row(next(each), number) if v else next(same) for v in self.varies]
        values: list[Any] = jax.tree_util.tree_unflatten(self.nesting, leaves)
        return values

    def _row(self, array: Any, number: Any) -> Any:
        return array if self.rows is None else lax.dynamic_index_in_dim(array, number, 0, keepdims=False)

    def runs(self) -> list[list[Any]]:
        """The values of each run, once the function has run."""
        return [self.values_of(number) for number in range(int(np.asarray(self.count)))]


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        StackedFrames,
        lambda f: ((f.each, f.same, f.count), (f.rows, f.nesting, f.varies, f.begins, f.ends)),
        lambda rest, parts: StackedFrames(*parts, *rest),
    )

"""Gradients that are added to the ``.grad`` of leaves, in memory that is theirs alone."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core import watch
from ..core.rows import RowArray, RowSum
from ..ops.registry import get_by_type
from .record import apply
from .tensor import Leaf, Tensor, array_of, writes


def own(held: list[Any], others: int = 0) -> Any:
    """The array that *held* holds, if nobody else does, else a copy: what is given away shares nothing.

    An array that owns its memory and that one list holds has no views, for they would hold it too.

    Args:
        others: how many others hold it who will not look at it again.
    """
    if type(held[0]) is np.ndarray and sys.getrefcount(held[0]) == 2 + others:
        flags = held[0].flags
        if flags.owndata and flags.writeable:
            return held[0]
    return held[0].copy() if isinstance(held[0], RowArray) else np.array(held[0])


def _table_of(leaf: Leaf, gradient: RowSum) -> Any:
    """The table that *gradient* stands for, in the memory of the gradient before if nobody else holds that."""
    before, leaf.grad = leaf.grad, None
    if before is None or sys.getrefcount(before) != 2:
        return gradient.dense()
    array = before.array
    if type(array) is not np.ndarray or sys.getrefcount(array) != 3:
        return gradient.dense()
    flags = array.flags
    if array.shape != gradient.shape or array.dtype != gradient.dtype or not (flags.owndata and flags.writeable):
        return gradient.dense()
    rows = leaf.rows_of(before)
    if rows is None:
        array.fill(0)
    for part in rows or ():
        array[part] = 0
    gradient.add_to(array)
    return array


def store(leaf: Leaf, held: list[Any], root: Tensor | None = None) -> None:
    """Add a gradient, of *root*, to the ``.grad`` of *leaf*, in storage that belongs to that ``.grad`` alone.

    Args:
        held: the gradient, in a list so that it is known whether anybody else holds it.
    """
    if watch.noting:
        watch.note(watch.Added(leaf, root))
    with leaf.lock:
        before = None if leaf.cleared else leaf.grad
        leaf.cleared = False
        if isinstance(held[0], Tensor) and held[0].node is not None:
            leaf.grad = (
                held[0] if before is None else apply(get_by_type("elementwise_add"), [before, held[0]], {"axis": -1})
            )
            return
        if before is None:
            if isinstance(held[0], Tensor):
                held = [held[0].array.copy()]
            if isinstance(held[0], RowSum):
                leaf.grad = Tensor(_table_of(leaf, held[0]), stop_gradient=False)
                leaf.note_rows(leaf.grad, held[0].rows)
            else:
                leaf.grad = Tensor(own(held), stop_gradient=False)
            return
        array = held[0].dense() if isinstance(held[0], RowSum) else array_of(held[0])
        if isinstance(before.array, RowArray):
            leaf.grad = Tensor(before.array + array, stop_gradient=False)
        elif before.node is None and before.array.dtype == array.dtype and before.array.flags.writeable:
            writer = writes.get()
            if writer is not None:
                writer(before, None)
            np.add(before.array, array, out=before.array)
            before.version.wrote("backward")
        else:
            leaf.grad = Tensor(before.array + array, stop_gradient=False)

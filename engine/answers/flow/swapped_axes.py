"""Reshapes that stand where axes are to change places: the sizes are right, and the elements are not.

``x.reshape([b, c, t])`` of a value of shape ``[b, t, c]`` gives what a transpose would give by shape alone. The order
of the elements stays, so that each row of the result holds parts of several rows. Two uses of that are known and meant:
the padding that shifts each row by one (relative positions), and steps that are joined, several to one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from ...runs.timeline import NOBODY, Entry, Timeline
from .fact import Fact, FactKind
from .predictions import downstream, find_readers

Shape = tuple[int, ...]


def find_swapped_axes(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Yield the reshapes of computed values whose result has the same sizes in another order, one for each line.

    Data that somebody gave may lie in any order before it is given a shape.

    Args:
        learned: the numbers of the parameters.
    """
    swapped = [(e, shapes) for e in run.entries if (shapes := _find_swap(run, e)) is not None]
    moving, readers = (downstream(run, learned), find_readers(run)) if swapped else (set[int](), {})
    seen = set[object]()
    for entry, shapes in swapped:
        place, number = entry.loc[:1], entry.inputs[0]
        has_axes = number in moving or _is_laid_out(run, number)
        if has_axes and place not in seen and not _is_meant(run, entry, shapes, readers):
            seen.add(place)
            yield _fact(run, entry, *shapes)


def _find_swap(run: Timeline, entry: Entry) -> tuple[Shape, Shape] | None:
    """Return the shapes before and after, where the one is the other in another order; None otherwise.

    Tables of two axes are left out: samples may be put together anew.
    """
    if entry.backward or not entry.type.startswith(("reshape", "view")):
        return None
    numbers = (*entry.inputs[:1], *entry.made[:1])
    arrays = [run.store.get(n) for n in numbers if n in run.store]
    if len(arrays) != 2:
        return None
    before, after = np.shape(arrays[0]), np.shape(arrays[1])
    is_swapped = len(before) > 2 and sorted(before) == sorted(after) and _long_axes(before) != _long_axes(after)
    return (before, after) if is_swapped else None


def _long_axes(shape: Shape) -> Shape:
    return tuple([size for size in shape if size > 1])


def _is_laid_out(run: Timeline, number: int) -> bool:
    """Return whether the operator that made a value gave its axes a meaning, as ``one_hot`` does."""
    maker = run.values[number].maker
    return maker != NOBODY and run.entries[maker].type in _LAYING_OUT


def _is_meant(run: Timeline, entry: Entry, shapes: tuple[Shape, Shape], readers: Mapping[int, Sequence[Entry]]) -> bool:
    """Return whether a reshape shifts rows, splits rows for attention, or joins whole steps for a layer."""
    before, after = shapes
    if _shifts_rows(run, entry, before[:-2] == after[:-2], readers):
        return True
    # Heads that are split off and put beside the samples, as attention does, have by chance the sizes in another order.
    splits = before[:-2] == after[:-2] and before[-1] % after[-1] == 0
    if splits and any(use.type in _TRANSPOSING for use in readers.get(entry.outs[0][1], ())):
        return True
    # Two steps joined have half the steps and twice the width: by chance the sizes in another order.
    joins = len(before) == 3 and before[0] == after[0] and after[-1] % before[-1] == 0
    return joins and _meets_parameter(run, entry.outs[0][1], readers)


def _shifts_rows(run: Timeline, entry: Entry, keeps_first: bool, readers: Mapping[int, Sequence[Entry]]) -> bool:
    """Return whether a reshape shifts each row by one more: of what is padded, or before or after its first are cut.

    Args:
        keeps_first: whether it changes the last two axes alone.
    """
    maker = run.values[entry.inputs[0]].maker
    if maker != NOBODY and (run.entries[maker].type in _PADDING or _is_cut_after_reshape(run, run.entries[maker])):
        return True
    uses = readers.get(entry.outs[0][1], ())
    return bool(uses) and keeps_first and all(use.type in _CUTTING for use in uses)


def _is_cut_after_reshape(run: Timeline, entry: Entry) -> bool:
    """Return whether an operator takes a part of what was reshaped, as a shift by reshapes does."""
    maker = run.values[entry.inputs[0]].maker if entry.type in _CUTTING else NOBODY
    return maker != NOBODY and run.entries[maker].type.startswith(("reshape", "view"))


def _meets_parameter(run: Timeline, number: int, readers: Mapping[int, Sequence[Entry]]) -> bool:
    """Return whether a layer with parameters reads a value, after moving its axes at most."""
    todo = [number]
    for n in todo:
        for use in readers.get(n, ()):
            if any(run.values[operand].role == "parameter" for operand in use.inputs):
                return True
            todo += use.made if use.type in _MOVING and len(todo) < _FAR else ()
    return False


_FAR = 16
"""Values that are looked at on the way to a layer."""

_TRANSPOSING = frozenset(("transpose2", "transpose", "permute", "t"))
_MOVING = _TRANSPOSING | {"dropout", "cast", "contiguous", "clone", "assign"}
_LAYING_OUT = frozenset(("one_hot_v2", "one_hot", "lookup_table_v2", "embedding", "transpose2", "permute"))
_CUTTING = frozenset(("slice", "strided_slice"))
_PADDING = frozenset(("pad", "pad3d", "concat", "cat", "constant_pad_nd"))


def _fact(run: Timeline, entry: Entry, before: Shape, after: Shape) -> Fact:
    torn = math.gcd(before[-1], after[-1]) < min(before[-1], after[-1])
    what = "parts of several rows" if torn else "several rows, one behind the other"
    said = (f"the order of the elements stays, so that each row of the result holds {what}",)
    name = run.values[entry.inputs[0]].name
    message = f"{entry.name} gives {list(before)} the shape {list(after)}: the axes do not change places"
    return Fact(FactKind.SWAPPED, name, message, entry.loc, said=said, advice="transpose the axes, then reshape")

"""The two gutters: parameters and data beside their first readers, their gradients on the same lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .columns import IN_GRADIENTS, IN_PARAMETERS, Row, Sheet
from .lanes import WIDEST, count_in_groups, distinct
from .picture_arrays import Ints


def place_gutters(sheet: Sheet) -> None:
    """Give the tensors in the gutters their rows, when those of all operators are known."""
    d = sheet.drawn
    members = np.flatnonzero(sheet.in_left | sheet.in_right)
    sheet.column[members] = np.where(sheet.in_left[members], IN_PARAMETERS, IN_GRADIENTS)
    lowest = int(sheet.base.max(initial=-1))
    # Nearly all stand beside an operator; the others are looked at one by one.
    owner = np.where(sheet.asked & ~sheet.in_left, d.pair, -1)
    beside = np.where(sheet.in_left, sheet.first_reader, np.where(owner >= 0, sheet.first_reader[owner], sheet.writer))
    sure = members[(beside[members] >= 0) & (sheet.base[beside[members]] >= 0) & (sheet.base[members] < 0)]
    sheet.base[sure], sheet.above[sure] = sheet.base[beside[sure]], sheet.above[beside[sure]]
    rest = members[sheet.base[members] < 0]
    if not len(rest):
        return
    base, above = sheet.base.tolist(), sheet.above.tolist()
    loose = 0
    for i in rest.tolist():
        row = gutter_row(sheet, i, base, above)
        if row is None:  # a parameter that nothing reads
            row = lowest + 1 + loose // WIDEST, 0
            loose += 1
        base[i], above[i] = row
    sheet.base, sheet.above = np.array(base, dtype=np.int64), np.array(above, dtype=np.int64)


def gutter_row(sheet: Sheet, i: int, base: Sequence[int], above: Sequence[int]) -> Row | None:
    """The row of a tensor: in a gutter that of its operator, of a gradient that was asked for that of its parameter.

    Args:
        base, above: rows as far as they are known.

    Returns:
        None for what is in no gutter, or beside nothing that has a row.
    """
    if not sheet.in_left[i] and not sheet.in_right[i]:
        return None
    if base[i] >= 0:
        return base[i], above[i]
    if sheet.in_left[i]:
        reader = int(sheet.first_reader[i])
        return (base[reader], above[reader]) if reader >= 0 and base[reader] >= 0 else None
    if sheet.asked[i]:
        beside = gutter_row(sheet, int(sheet.drawn.pair[i]), base, above)
        if beside is not None:
            return beside
    writer = int(sheet.writer[i])
    return (base[writer], above[writer]) if writer >= 0 and base[writer] >= 0 else None


def slots(sheet: Sheet, row: Ints) -> Ints:
    """Places in the cells of gutters; a gradient has that of its parameter across the picture."""
    d = sheet.drawn
    slot = np.zeros(len(d.nodes), dtype=np.int64)
    left, right = np.flatnonzero(sheet.in_left), np.flatnonzero(sheet.in_right)
    # What the operator next to the gutter reads stands together, so that its lines run straight.
    near = np.where(sheet.first_reader >= 0, sheet.wish[sheet.first_reader], 0)
    slot[left] = count_in_groups(row[left], near[left])[0]
    # Gradients that were asked for come first.
    right = right[np.argsort(~d.has_role("gradient")[right], kind="stable")]
    across = d.pair[right]
    fits = (across >= 0) & sheet.in_left[across] & (row[across] == row[right])
    at = np.flatnonzero(fits)
    at = at[distinct(across[at])[1]]
    slot[right[at]] = slot[across[at]]
    rest = np.delete(right, at)
    used = np.bincount(row[left], minlength=int(row.max(initial=-1)) + 1)
    slot[rest] = count_in_groups(row[rest])[0] + used[row[rest]]
    return slot

"""Contents of an array after another one that shares its storage was written: computed from both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.records import dataclass
from ..core.source import Location
from ..ops.opdef import OpDef, Slot, Trait

Layout = tuple[tuple[int, ...], tuple[int, ...], int]
"""Shape, strides and offset of an array within a storage, the last two in elements."""


@dataclass(slots=True)
class Write:
    """A write of one array that another one saw.

    Attributes:
        number: of the value that was written; None until an operator is recorded that made it.
        waits: whether that operator is recorded next: what it reads itself is what was there before.
        seen: how the array that saw it lies in the storage; None where the two have no elements in common units.
        written: how the written one lies there.
        loc: the line that wrote.
    """

    number: int | None
    seen: Layout | None
    written: Layout | None
    loc: Location
    waits: bool = False

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes of :data:`OVERWRITTEN`."""
        return {"seen": self.seen, "laid": self.written}


@dataclass(slots=True)
class Torn:
    """An array that was overwritten through others.

    Attributes:
        before: the number of its value before.
        writes: those that it saw, in order.
        array: gives the array while it is alive.
    """

    before: int
    writes: list[Write]
    array: Callable[[], Any]

    @property
    def waits(self) -> bool:
        """True if the operator that wrote last is still being recorded: it reads what was there before."""
        return any(w.waits for w in self.writes)

    @property
    def is_known(self) -> bool:
        """True if all that was written is known, and where."""
        return all(w.number is not None and w.seen is not None for w in self.writes)


def lay_out(seen: Any, written: Any, number: int | None, loc: Location) -> Write:
    """Return a write of the array *written* as the array *seen* sees it.

    Where the two have other dtypes, or steps that are no whole elements, the write has no layouts.
    """
    item = seen.itemsize
    first = min(_address(seen), _address(written))
    offsets = _address(seen) - first, _address(written) - first
    steps = *seen.strides, *written.strides, *offsets
    if seen.dtype != written.dtype or any(step < 0 or step % item for step in steps):
        return Write(number, None, None, loc)
    layouts = [
        (a.shape, tuple([s // item for s in a.strides]), offset // item)
        for a, offset in zip((seen, written), offsets, strict=True)
    ]
    return Write(number, layouts[0], layouts[1], loc)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _overwrite(k: Any, before: Any, written: Any, *, seen: Layout, laid: Layout) -> Any:
    at = _find_places(seen, laid)
    xp = k.xp
    return xp.where(xp.asarray(at < 0), before, xp.reshape(written, (-1,))[xp.asarray(np.maximum(at, 0))])


def _find_places(seen: Layout, written: Layout) -> Any:
    """Return by element of the array that saw a write which element was written there; -1 where none was.

    Returns:
        int64, of the shape of the array that saw it.
    """
    marks = np.full(max(_end(seen), _end(written)), -1, np.int64)
    shape, strides, offset = written
    into = as_strided(marks[offset:], shape, [8 * s for s in strides])
    into[...] = np.arange(into.size).reshape(shape)
    shape, strides, offset = seen
    return as_strided(marks[offset:], shape, [8 * s for s in strides]).copy()


def _end(layout: Layout) -> int:
    shape, strides, offset = layout
    return offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1 if 0 not in shape else offset


OVERWRITTEN = OpDef(
    "overwritten",
    "overwritten",
    (Slot("Before"), Slot("Written")),
    (Slot("Out"),),
    _overwrite,
    defaults={"seen": None, "laid": None},
    trait=Trait.OPAQUE,
)
"""What an array holds after another one in its storage was written. Programs never hold it."""

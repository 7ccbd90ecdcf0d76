"""Writing to slices of an array as one pass over it, which XLA fuses with its neighbours: ``.at[…]`` would scatter."""

from __future__ import annotations

from typing import Any, NamedTuple

from jax import lax, numpy

from ...ops.writing import BoxFillers, boxes


class _Side(NamedTuple):
    """The places in one dimension: so many, from the first one on, a step apart."""

    first: int
    length: int
    step: int
    size: int
    """How long the dimension is."""

    @property
    def padding(self) -> tuple[int, int, int]:
        """Number of places before, behind, and between two of the places."""
        return self.first, self.size - self.first - (self.length - 1) * self.step - 1, self.step - 1


def put(array: Any, at: Any, values: Any) -> Any | None:
    """*array* with *values* at the places *at*; None where these are no box."""
    box = _box(array.shape, at)
    if box is None:
        return None
    sides, kept = box
    if not all(s.length for s in sides):
        return array
    values = _fill_box(array, sides, kept, values)
    if all(s.step == 1 for s in sides):
        return lax.dynamic_update_slice(array, values, [s.first for s in sides])
    padding = [s.padding for s in sides]
    inside = lax.pad(numpy.ones(values.shape, bool), False, padding)
    return numpy.where(inside, lax.pad(values, numpy.zeros((), array.dtype), padding), array)


def add(array: Any, at: Any, values: Any) -> Any | None:
    """*array* with *values* added at the places *at*; None where these are no box."""
    box = _box(array.shape, at)
    if box is None or array.dtype == bool:
        return None
    sides, kept = box
    if not all(s.length for s in sides):
        return array
    values = _fill_box(array, sides, kept, values)
    return array + lax.pad(values, numpy.zeros((), array.dtype), [s.padding for s in sides])


def _fill_box(array: Any, sides: list[_Side], kept: list[int], values: Any) -> Any:
    """*values* in the shape of the box and the type of *array*."""
    values = numpy.broadcast_to(numpy.asarray(values).astype(array.dtype), [sides[i].length for i in kept])
    return values.reshape([s.length for s in sides])


def _box(shape: tuple[int, ...], at: Any) -> tuple[list[_Side], list[int]] | None:
    """The sides of the box *at*, and the dimensions that NumPy would keep; None for any other index."""
    index = list(at) if isinstance(at, tuple) else [at]
    if not all(i is Ellipsis or type(i) in (int, slice) for i in index):
        return None
    if Ellipsis in index:
        place = index.index(Ellipsis)
        index[place : place + 1] = [slice(None)] * (len(shape) - len(index) + 1)
    index += [slice(None)] * (len(shape) - len(index))
    sides, kept = [], []
    for dim, (size, i) in enumerate(zip(shape, index, strict=True)):
        if isinstance(i, int):
            sides.append(_Side(range(size)[i], 1, 1, size))
            continue
        places = range(size)[i]
        if places.step < 0:
            return None
        sides.append(_Side(places.start, len(places), places.step if len(places) > 1 else 1, size))
        kept.append(dim)
    return sides, kept


boxes.append(BoxFillers(put, add))

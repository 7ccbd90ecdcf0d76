"""Arrays of tensors as variables of a program hold them: tensors by their places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

_NOTHING: Mapping[int, Any] = MappingProxyType({})


class TensorArray:
    """Tensors by place; nothing ever changes one, for every write to a variable is a value of its own.

    In the gradient of an array a place without a tensor stands for zeros.

    Attributes:
        entries: tensor by place, for the places that have been written.
        length: one more than the highest place that there is.

    >>> array = TensorArray().written(1, np.ones(2))
    >>> len(array), array.entries.keys(), (array + array).entries[1]
    (2, dict_keys([1]), array([2., 2.]))
    """

    __slots__ = ("entries", "length")

    def __init__(self, entries: Mapping[int, Any] = _NOTHING, length: int = 0) -> None:
        self.entries = entries
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"TensorArray({[None if v is None else list(v.shape) for v in self.listed()]})"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers of its tensors."""
        return next((v.dtype for v in self.entries.values()), np.dtype("float32"))

    @property
    def shape(self) -> tuple[int]:
        """Shape of one row of all numbers in its tensors, for readers that know no arrays of tensors."""
        return (sum(int(v.size) for v in self.entries.values()),)

    def astype(self, dtype: Any, copy: bool = True) -> TensorArray:
        """The same with tensors of another type."""
        return self.map(lambda v: v.astype(dtype, copy=copy))

    @property
    def nbytes(self) -> int:
        """Bytes of its tensors."""
        return sum(int(v.nbytes) for v in self.entries.values())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The numbers of all its tensors in a row, for those who look at numbers only."""
        rows = [np.asarray(v).reshape(-1) for v in self.listed() if v is not None]
        return np.concatenate(rows or [np.zeros(0)]).astype(dtype, copy=False)

    def map(self, change: Callable[[Any], Any]) -> TensorArray:
        """Return the array with *change* applied to its tensors, at their places."""
        return TensorArray({place: change(v) for place, v in self.entries.items()}, self.length)

    def listed(self) -> list[Any]:
        """The tensors in order, None where none was written."""
        return [self.entries.get(place) for place in range(self.length)]

    def written(self, place: int, value: Any) -> TensorArray:
        """The same with *value* at *place*."""
        return TensorArray({**self.entries, place: value}, max(self.length, place + 1))

    def without(self, place: int) -> TensorArray:
        """The same with nothing at *place*."""
        if place not in self.entries:
            return self
        entries = dict(self.entries)
        del entries[place]
        return TensorArray(entries, self.length)

    def pop(self, place: int) -> TensorArray:
        """The same without the place *place*: what stands behind it moves up."""
        entries = {n - (n > place): v for n, v in self.entries.items() if n != place}
        return TensorArray(entries, self.length - (place < self.length))

    def insert_place(self, place: int) -> TensorArray:
        """The same with one more place, *place*, and nothing there: what stood there and behind it moves down."""
        return TensorArray({n + (n >= place): v for n, v in self.entries.items()}, max(self.length, place) + 1)

    def __add__(self, other: TensorArray) -> TensorArray:
        # A gradient of one place is added to that of all others: only what is in the smaller one costs anything.
        more, less = (self, other) if len(self.entries) >= len(other.entries) else (other, self)
        entries = dict(more.entries)
        for place, value in less.entries.items():
            entries[place] = entries[place] + value if place in entries else value
        return TensorArray(entries, max(self.length, other.length))


EMPTY = TensorArray()

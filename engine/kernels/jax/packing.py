"""Many small results of a compiled function as a few arrays: each array that it returns costs a transfer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SMALL = 1 << 10
"""Elements up to which an array is put together with others."""


class UnmovedArray:
    """An array that stays where it is, and is told so: of the rows of a buffer one, by the numbers of runs.

    Attributes:
        buffer: the array that it is a part of.
        at: which part: a number for each block around.
        rest: what is known of the buffer, for all its parts.
    """

    __slots__ = ("at", "buffer", "rest")

    def __init__(self, buffer: Any, at: tuple[int, ...] = (), rest: dict[str, Any] | None = None) -> None:
        self.buffer = buffer
        self.at = at
        self.rest = {} if rest is None else rest

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return tuple(self.buffer.shape[len(self.at) :])

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of an array."""
        dtype: np.dtype[Any] = np.dtype(self.buffer.dtype)
        return dtype

    @property
    def nbytes(self) -> int:
        """As of an array."""
        return math.prod(self.shape) * int(self.dtype.itemsize)

    @property
    def array(self) -> Any:
        """The array."""
        return self.buffer[self.at] if self.at else self.buffer

    def row(self, number: int) -> UnmovedArray:
        """Return the value of one run."""
        return UnmovedArray(self.buffer, (*self.at, number), self.rest)


def is_here(value: Any) -> bool:
    """Return whether it is an array that stays where it is."""
    return isinstance(value, UnmovedArray)


class Packed:
    """Nested results, small ones in a row by their type.

    Attributes:
        rows: by type, the elements of all small arrays.
        large: the other arrays.
        structure: how the results are nested.
        places: for each leaf the type and shape of a small array, None for a large one, :class:`UnmovedArray` for one
            that stays where it is, or a number as it is.
    """

    def __init__(self, rows: dict[str, Any], large: Sequence[Any], structure: Any, places: tuple[Any, ...]) -> None:
        self.rows = rows
        self.large = large
        self.structure = structure
        self.places = places

    @classmethod
    def pack(cls, results: Any) -> Packed:
        """*results*, arrays and Python's numbers in any nesting, while they are traced."""
        leaves, structure = jax.tree_util.tree_flatten(results, is_leaf=is_here)
        pieces: dict[str, list[Any]] = {}
        large: list[Any] = []
        places: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, UnmovedArray):
                large.append(leaf.buffer)
                places.append(UnmovedArray)
            elif not hasattr(leaf, "dtype"):
                places.append(leaf)
            elif leaf.size > SMALL:
                large.append(leaf)
                places.append(None)
            else:
                kind = np.dtype(leaf.dtype).name
                pieces.setdefault(kind, []).append(jnp.ravel(leaf))
                places.append((kind, tuple(leaf.shape)))
        rows = {kind: jnp.concatenate(arrays) for kind, arrays in pieces.items()}
        return cls(rows, large, structure, tuple(places))

    def unpack(self) -> Any:
        """The results; small ones are NumPy's."""
        rows = {kind: np.asarray(row) for kind, row in self.rows.items()}
        begins = dict.fromkeys(rows, 0)
        large = iter(self.large)
        leaves: list[Any] = []
        for place in self.places:
            if place is UnmovedArray:
                leaves.append(UnmovedArray(next(large)))
                continue
            if not isinstance(place, tuple):
                leaves.append(next(large) if place is None else place)
                continue
            kind, shape = place
            begin = begins[kind]
            if shape:
                begins[kind] = end = begin + math.prod(shape)
                leaves.append(rows[kind][begin:end].reshape(shape))
            else:
                begins[kind] = begin + 1
                leaves.append(rows[kind][begin])
        return jax.tree_util.tree_unflatten(self.structure, leaves)

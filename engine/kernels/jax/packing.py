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


class Packed:
    """Nested results, small ones in a row by their type.

    Attributes:
        rows: by type, the elements of all small arrays.
        large: the other arrays.
        structure: how the results are nested.
        places: for each leaf the type and shape of a small array, None for a large one, or a number as it is.
    """

    def __init__(self, rows: dict[str, Any], large: Sequence[Any], structure: Any, places: tuple[Any, ...]) -> None:
        self.rows = rows
        self.large = large
        self.structure = structure
        self.places = places

    @classmethod
    def of(cls, results: Any) -> Packed:
        """*results*, arrays and Python's numbers in any nesting, while they are traced."""
        leaves, structure = jax.tree_util.tree_flatten(results)
        pieces: dict[str, list[Any]] = {}
        large, places = [], []
        for leaf in leaves:
            if not hasattr(leaf, "dtype"):
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

    def unpacked(self) -> Any:
        """The results; small ones are NumPy's."""
        rows = {kind: np.asarray(row) for kind, row in self.rows.items()}
        begins = dict.fromkeys(rows, 0)
        large = iter(self.large)
        leaves = []
        for place in self.places:
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

"""Arrays of tensors that are written at computed places: one buffer with a row for each place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.tensor_array import TensorArray
from .host_operators import NeedsValues
from .nesting import alike

VARIED = "the tensors of an array differ in shape or type"
COMPUTED = "it goes through an array that is written at computed places"


class StackedArray(TensorArray):
    """Tensors of one shape and type by places that are computed.

    Attributes:
        buffer: a row for each place, zeros where there is no tensor.
        there: for each row, whether there is one.
        length: one more than the highest place that was written, an array without dimensions.
    """

    __slots__ = ("buffer", "there")
    length: Any

    def __init__(self, buffer: Any, there: Any, length: Any) -> None:
        self.buffer = buffer
        self.there = there
        self.length = length

    @property
    def entries(self) -> Mapping[int, Any]:  # type: ignore[override]
        raise NeedsValues(COMPUTED)

    @property
    def rows(self) -> int:
        """For how many places there is room."""
        return int(self.buffer.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.buffer.dtype)
        return dtype

    @property
    def shape(self) -> tuple[int]:
        return (int(np.prod(self.buffer.shape)),)

    @property
    def nbytes(self) -> int:
        return int(self.shape[0] * self.dtype.itemsize)

    def __add__(self, other: TensorArray) -> StackedArray:
        target = common(self, other)
        a, b = match_form(self, target), match_form(other, target)
        return StackedArray(a.buffer + b.buffer, a.there | b.there, jnp.maximum(a.length, b.length))

    __radd__ = __add__

    def settled(self) -> TensorArray:
        """The tensors by their places, once the function has run."""
        places = np.flatnonzero(np.asarray(self.there))
        return TensorArray({int(p): self.buffer[int(p)] for p in places}, int(np.asarray(self.length)))


def kinds(array: Any) -> set[tuple[tuple[int, ...], Any]]:
    """The shapes and types of its tensors."""
    if isinstance(array, StackedArray):
        return {(tuple(array.buffer.shape[1:]), np.dtype(array.buffer.dtype))}
    return {(tuple(v.shape), np.dtype(v.dtype)) for v in array.entries.values()}


def rows_of(array: Any) -> int:
    return array.rows if isinstance(array, StackedArray) else int(array.length)


def common(a: Any, b: Any, otherwise: str = COMPUTED) -> Any:
    """Return a form that both values can be put into: *a* where they are alike, else a buffer for two arrays of
    tensors.

    Raises:
        NeedsValues: there is no such form; why, says *otherwise*.
    """
    if alike(a, b):
        return a
    if not (isinstance(a, TensorArray) and isinstance(b, TensorArray)):
        raise NeedsValues(otherwise)
    of = kinds(a) | kinds(b)
    if len(of) != 1:
        raise NeedsValues(VARIED)
    return form(*of.pop(), max(rows_of(a), rows_of(b), 1))


def form(shape: tuple[int, ...], dtype: Any, rows: int) -> StackedArray:
    """Such an array by shapes and types alone."""
    of = jax.ShapeDtypeStruct
    return StackedArray(of((rows, *shape), dtype), of((rows,), np.dtype(bool)), of((), np.dtype("int64")))


def match_form(value: Any, target: Any) -> Any:
    """*value* in the form of *target*, which :func:`common` gives."""
    if alike(value, target) or not isinstance(target, StackedArray):
        return value
    rows, shape = target.rows, target.buffer.shape[1:]
    if isinstance(value, StackedArray):
        more = rows - value.rows
        buffer = jnp.concatenate([value.buffer, jnp.zeros((more, *shape), target.buffer.dtype)])
        return StackedArray(buffer, jnp.concatenate([value.there, jnp.zeros(more, bool)]), value.length)
    buffer = jnp.zeros((rows, *shape), target.buffer.dtype)
    there = np.zeros(rows, bool)
    for place, v in value.entries.items():
        buffer = buffer.at[place].set(v)
        there[place] = True
    return StackedArray(buffer, jnp.asarray(there), jnp.asarray(value.length, "int64"))


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        StackedArray,
        lambda a: ((a.buffer, a.there, a.length), None),
        lambda _, parts: StackedArray(*parts),
    )

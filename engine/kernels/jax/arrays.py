"""Operators on arrays of tensors whose places are computed while a compiled function runs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.errors import ExecutionError
from ...core.tensor_array import TensorArray
from ...ops import registry
from ...ops.refusals import refuse
from ..backend import Kernel, override
from .assumptions import Room, assume
from .host_operators import NeedsValues
from .stacked_array import COMPUTED, VARIED, StackedArray, common, form, kinds, match_form, rows_of

LENGTHS = 3
"""How many lengths of an array a function is compiled for before the operator that makes one tensor of it is not."""


def _make_room(array: TensorArray | None, x: Any, rows: int) -> StackedArray:
    """*array* with room for *rows* tensors like *x*."""
    array = TensorArray() if array is None else array
    shaped = form(tuple(x.shape), np.dtype(x.dtype), max(rows, rows_of(array)))
    if not kinds(array) <= kinds(shaped):
        raise NeedsValues(VARIED)
    stacked: StackedArray = match_form(array, shaped)
    return stacked


def _is_computed(*operands: Any) -> bool:
    return any(isinstance(v, (StackedArray, jax.core.Tracer)) for v in operands)


def _place(i: Any, op_type: str) -> Any:
    """The place that *i* names, a number without dimensions."""
    if i.size != 1:
        raise ExecutionError(f"{op_type}: I must be one number that is not negative, but it has {i.size} elements")
    place = jnp.asarray(i).reshape(()).astype("int64")
    refuse(
        place < 0,
        lambda n: ExecutionError(f"{op_type}: I must be one number that is not negative, but it is {n}"),
        place,
    )
    return place


class _Jax:
    """Part of a backend that the definitions of these operators use."""

    xp = jnp


def _definition(op_type: str) -> Any:
    return registry.get_by_type(op_type).kernel


def _write(attrs: Any, specs: Any) -> Kernel:
    room = Room()

    def kernel(x: Any, i: Any, before: Any) -> Any:
        if not _is_computed(i, before):
            return _definition("write_to_array")(None, x, i, before)
        place = _place(i, "write_to_array")
        array = _make_room(before, x, room.rows(int(x.size) * x.dtype.itemsize))
        assume(place + 1, array.rows, room.make)
        return StackedArray(
            lax.dynamic_update_index_in_dim(array.buffer, jnp.asarray(x), place, 0),
            lax.dynamic_update_index_in_dim(array.there, jnp.asarray(True), place, 0),
            jnp.maximum(array.length, place + 1),
        )

    return kernel


def _read(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any, i: Any, x_w: Any = None) -> Any:
        if not _is_computed(i, x):
            return _definition("read_from_array")(_Jax, x, i, x_w)
        place = _place(i, "read_from_array")
        if x_w is not None and not isinstance(x, StackedArray) and not x.entries:
            return jnp.zeros(x_w.shape, x_w.dtype)
        of = x_w if x_w is not None else _first(x)
        array = _make_room(x, of, 1)
        there = (place < array.rows) & lax.dynamic_index_in_dim(array.there, place, 0, keepdims=False)
        value = lax.dynamic_index_in_dim(array.buffer, place, 0, keepdims=False)
        if x_w is not None:
            return jnp.where(there, value, jnp.zeros_like(value))
        refuse(~there, _place_error, place, array.length)
        return value

    return kernel


def _first(array: Any) -> Any:
    if isinstance(array, StackedArray):
        return array.buffer[0]
    if not array.entries:
        raise NeedsValues("it reads an array that is empty so far")
    return next(iter(array.entries.values()))


def _place_error(place: Any, length: Any) -> Exception:
    there = f"it has {length} places" if place >= length else "nothing was written there"
    return ExecutionError(f"read_from_array: I asks for place {place} of the array, but {there}")


def _offer_clear_place(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any, i: Any) -> Any:
        if not _is_computed(i, x):
            return _definition("array_without")(None, x, i)
        place = _place(i, "array_without")
        if not isinstance(x, StackedArray) and not x.entries:
            return x
        array = _make_room(x, _first(x), 1)
        at = jnp.where(place < array.rows, place, array.rows)  # a row that there is not: nothing is written
        return StackedArray(
            array.buffer.at[at].set(0, mode="drop"), array.there.at[at].set(False, mode="drop"), array.length
        )

    return kernel


def _offer_move(op_type: str) -> Any:
    def offer(attrs: Any, specs: Any) -> Kernel:
        def kernel(x: Any, i: Any) -> Any:
            if _is_computed(i, x):
                raise NeedsValues("places of an array move while it runs")
            return _definition(op_type)(None, x, i)

        return kernel

    return offer


def _length(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any) -> Any:
        if isinstance(x, StackedArray):
            return x.length.reshape(1)
        return np.array([len(x)], "int64")

    return kernel


class _Length:
    """Assumed length of an array that one tensor is made of."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._misses = 0

    def of(self, array: StackedArray) -> int:
        """Return the length of *array*."""
        number = array.rows if self._number is None else self._number
        assume(jnp.where(array.length == number, 0, array.length + 1), 0, self._other)
        return number

    def _other(self, needed: int) -> None:
        self._misses += 1
        if self._misses > LENGTHS or needed == 1:
            raise NeedsValues("the shape of its result depends on how many tensors an array has")
        self._number = needed - 1


def _as_one(array: StackedArray, number: int, axis: int, use_stack: bool) -> Any:
    """The first *number* tensors as one."""
    rows = match_form(array, form(*next(iter(kinds(array))), max(number, array.rows))).buffer[:number]
    of = list(rows.shape[1:])
    axis %= len(of) + use_stack
    stacked = jnp.moveaxis(rows, 0, axis)
    return stacked if use_stack else stacked.reshape([*of[:axis], number * of[axis], *of[axis + 1 :]])


def _offer_tensor(attrs: Any, specs: Any) -> Kernel:
    length, axis, use_stack = _Length(), attrs["axis"], attrs["use_stack"]

    def kernel(x: Any) -> Any:
        if not isinstance(x, StackedArray):
            return _definition("tensor_array_to_tensor")(_Jax, x, axis=axis, use_stack=use_stack)
        number = length.of(x)
        there = x.there[:number]
        refuse(
            ~there.all(),
            lambda n: ExecutionError(
                f"tensor_array_to_tensor: the array has nothing at place {n}, so its tensors do not make one"
            ),
            jnp.argmin(there),
        )
        each = 1 if use_stack else x.buffer.shape[1:][axis]
        return _as_one(x, number, axis, use_stack), np.full(number, each, "int32")

    return kernel


def _offer_array(attrs: Any, specs: Any) -> Kernel:
    axis, use_stack = attrs["axis"], attrs["use_stack"]

    def kernel(of: Any, x: Any) -> Any:
        if not isinstance(of, StackedArray):
            return _definition("tensor_to_array")(_Jax, of, x, axis=axis, use_stack=use_stack)
        shape = of.buffer.shape[1:]
        number = x.shape[axis] // (1 if use_stack else shape[axis])
        at = axis % x.ndim
        rows = x if use_stack else x.reshape([*x.shape[:at], number, shape[axis], *x.shape[at + 1 :]])
        rows = jnp.moveaxis(rows, at, 0)
        more = jnp.zeros((max(of.rows - number, 0), *shape), x.dtype)
        there = np.arange(number + len(more)) < number
        return StackedArray(jnp.concatenate([rows, more]), jnp.asarray(there), jnp.asarray(number, "int64"))

    return kernel


def _offer_join(attrs: Any, specs: Any) -> Kernel:
    length, axis, use_stack = _Length(), attrs["axis"], attrs["use_stack"]

    def kernel(of: Any, x: Any) -> Any:
        if not _is_computed(of.length, x):
            return _definition("joined_array")(_Jax, of, x, axis=axis, use_stack=use_stack)
        stacked = common(of, x)
        if not isinstance(stacked, StackedArray):
            raise NeedsValues(COMPUTED)
        return _as_one(match_form(x, stacked), length.of(match_form(of, stacked)), axis, use_stack)

    return kernel


for _op_type, _offer in (
    ("write_to_array", _write),
    ("read_from_array", _read),
    ("array_parted", _offer_move("array_parted")),
    ("array_popped", _offer_move("array_popped")),
    ("array_without", _offer_clear_place),
    ("lod_array_length", _length),
    ("tensor_array_to_tensor", _offer_tensor),
    ("tensor_to_array", _offer_array),
    ("joined_array", _offer_join),
):
    override(_op_type, "jax")(_offer)

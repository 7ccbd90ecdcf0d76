"""Contents of registers other than arrays, taken apart into arrays: so that they enter and leave compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...core.rows import RowArray, RowUpdate, SelectedRows
from ...core.summary import ArraySummary
from ...core.tensor_array import TensorArray
from .conditional import Conditional, settle
from .packing import Packed, UnmovedArray


class LateRefusal:
    """Refusal that may turn out to be needed once a compiled function has run.

    Attributes:
        wrong, values: as in :class:`~gradtool.engine.ops.refusals.RefusalCondition`.
        error: makes the error.
        index: the number of the instruction that refuses it.
    """

    __slots__ = ("error", "index", "values", "wrong")

    def __init__(self, wrong: Any, values: Sequence[Any], error: Callable[..., Exception], index: int) -> None:
        self.wrong = wrong
        self.values = values
        self.error = error
        self.index = index

    def exception(self) -> Exception:
        """The error, from what the function returned."""
        return self.error(*map(np.asarray, self.values))


class StaticSummary:
    """A summary that is known when a function is compiled, and returned by it as it is.

    Attributes:
        same: which operand of the instruction it is, the very object; None where it is none of them.
    """

    __slots__ = ("same", "summary")

    def __init__(self, summary: ArraySummary | None, same: int | None = None) -> None:
        self.summary = summary
        self.same = same


def register() -> None:
    """Tell JAX; once in a process."""
    add = jax.tree_util.register_pytree_node
    add(
        LateRefusal,
        lambda r: ((r.wrong, tuple(r.values)), (r.error, r.index)),
        lambda rest, parts: LateRefusal(parts[0], parts[1], *rest),
    )
    add(UnmovedArray, lambda h: ((h.buffer,), None), lambda _, parts: UnmovedArray(*parts))
    add(StaticSummary, lambda same: ((), same), lambda same, _: same)
    add(
        Packed,
        lambda p: ((p.rows, p.large), (p.structure, p.places)),
        lambda rest, parts: Packed(*parts, *rest),
    )
    add(SelectedRows, lambda t: ((t.rows, t.values), t.shape[0]), lambda height, parts: _rows(*parts, height))
    add(RowUpdate, lambda t: ((t.base, t.rows, t.values), None), lambda _, parts: _update(*parts))
    add(
        TensorArray,
        lambda a: ([a.entries[p] for p in sorted(a.entries)], (tuple(sorted(a.entries)), a.length)),
        lambda rest, parts: TensorArray(dict(zip(rest[0], parts, strict=True)), rest[1]),
    )


def _rows(rows: Any, values: Any, height: int) -> SelectedRows:
    table = SelectedRows.__new__(SelectedRows)
    table._pieces = ((rows, values),)
    table._merged = None
    table.shape = (height, *getattr(values, "shape", ())[1:])
    table.dtype = getattr(values, "dtype", np.dtype("float32"))  # JAX also puts things without a type there
    return table


def _update(base: Any, rows: Any, values: Any) -> RowUpdate:
    update = RowUpdate.__new__(RowUpdate)
    update.base, update.rows, update.values = base, rows, values
    update.shape = getattr(base, "shape", ())
    update.dtype = getattr(base, "dtype", np.dtype("float32"))
    return update


def dense(value: Any) -> Any:
    """*value*, of a table of rows the whole table."""
    import jax.numpy as jnp

    if isinstance(value, SelectedRows):
        return jnp.zeros(value.shape, value.dtype).at[value.rows].add(value.values)
    if isinstance(value, RowUpdate):
        return jnp.asarray(value.base).at[value.rows].set(value.values)
    return value


def to_host(value: Any) -> Any:
    """*value* with NumPy's arrays in it, or None where a branch that was not taken would have computed it."""
    value = settle(value)
    if isinstance(value, jax.Array):
        return np.asarray(value)
    return value if isinstance(value, np.ndarray) else jax.tree_util.tree_map(np.asarray, value)


def home(value: Any) -> Any:
    """*value* as :func:`to_host` has it; what is no array (what a block leaves for its gradient) as it is."""
    return to_host(value) if isinstance(value, (jax.Array, RowArray, TensorArray, Conditional)) else value


def to_device(value: Any) -> Any:
    """*value* with JAX's arrays in it."""
    return jax.tree_util.tree_map(jax.numpy.asarray, value)

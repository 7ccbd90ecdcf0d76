"""Numbers of what operators give, computed on the device by the compiled plan itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.rows import RowArray
from ...core.summary import FINITE, LARGEST, NUMBERS, Summary
from ...core.tensor_array import TensorArray
from .pytrees import dense

_NARROW = {"float16": (5, 10), "bfloat16": (8, 7)}
"""Bits of exponent and mantissa of types that XLA may compute with more of them."""

_ORDERS = {"float16": (-8, 5), "float32": (-46, 39), "bfloat16": (-46, 39)}
"""The powers of ten that sizes can have; of all other types those of double precision."""


def summarising(of: Callable[[Any], tuple[str, ...]]) -> Callable[[Any, Sequence[Any], Sequence[Any]], Any]:
    """What to look at while a plan is traced: the numbers that *of* wants of each operator's results."""

    def look(instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Summary | None]:
        names = of(instruction.op) if instruction.op is not None else ()
        return [_summary(v, names) for v in outputs]

    return look


def repeatable(plan: Any) -> bool:
    """Whether *plan* can be carried out a second time as if the first had not been, and is seen into everywhere.

    Numbers are drawn again as they were, from a place in the stream; what is printed is not taken back.
    """
    return not any(
        i.effect or (i.op is not None and (i.op.sub_blocks or i.op.op.has_effect)) for i in plan.instructions
    )


def _summary(value: Any, names: Sequence[str]) -> Summary | None:
    if not hasattr(value, "dtype") or isinstance(value, TensorArray):
        return None
    dtype = np.dtype(value.dtype)
    if not names or not (dtype.kind in "fc" or dtype.name == "bfloat16"):
        return Summary(tuple(value.shape), dtype, {})
    array = jnp.asarray(dense(value) if isinstance(value, RowArray) else value)
    if dtype.name in _NARROW:  # what it is in its own type, whatever precision XLA goes on with
        array = jax.lax.reduce_precision(array.astype("float32"), *_NARROW[dtype.name])
    return Summary(tuple(value.shape), dtype, {name: SUMMARIES[name](array, dtype.name) for name in names})


def _finite(array: Any, dtype: str) -> Any:
    return jnp.isfinite(array).all()


def _largest(array: Any, dtype: str) -> Any:
    size = jnp.abs(array)
    return jnp.max(jnp.where(jnp.isfinite(size), size, 0), initial=0).astype("float64")


def _numbers(array: Any, dtype: str) -> dict[str, Any]:
    flat = array.ravel()
    wide = jnp.abs(flat.astype("complex128")) if jnp.iscomplexobj(flat) else flat.astype("float64")
    known = jnp.isfinite(wide)
    sizes = jnp.where(known, jnp.abs(wide), 0)
    largest = jnp.max(sizes, initial=0)
    scale = jnp.where(largest > 0, largest, 1)
    count = known.sum()
    nothing = (count == 0) & (flat.size > 0)
    lowest, highest = _ORDERS.get(dtype, (-324, 309))
    place = jnp.searchsorted(_powers(lowest, highest), sizes, side="right") - 1
    counts = jnp.zeros(highest - lowest + 1, "int64").at[place].add(sizes > 0)
    return {
        "norm": jnp.where(nothing, jnp.nan, scale * jnp.sqrt(jnp.square(sizes / scale).sum())),
        "largest": jnp.where(nothing, jnp.nan, largest),
        "mean": jnp.where(nothing, jnp.nan, jnp.where(known, wide, 0).sum() / jnp.maximum(count, 1)),
        "zeros": (known & (sizes == 0)).sum(),
        "nonfinite": flat.size - count,
        "nan": jnp.isnan(wide).sum(),
        "decades": counts,
        "lowest": lowest,
    }


@cache
def _powers(lowest: int, highest: int) -> Any:
    """Powers of ten, each the nearest number that there is."""
    return np.array([float(f"1e{order}") for order in range(lowest, highest)])


SUMMARIES: dict[str, Callable[[Any, str], Any]] = {FINITE: _finite, LARGEST: _largest, NUMBERS: _numbers}
"""By name, a function of an array and the name of its type."""

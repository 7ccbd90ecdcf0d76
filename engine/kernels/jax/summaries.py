"""Numbers of what operators give, computed on the device by the compiled plan itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.rows import RowArray
from ...core.summary import FINITE, LARGEST, Summary
from ...core.tensor_array import TensorArray
from .pytrees import dense

_NARROW = {"float16": (5, 10), "bfloat16": (8, 7)}
"""Bits of exponent and mantissa of types that XLA may compute with more of them."""

LONGEST = 128
"""Instructions of a plan up to which it is compiled a second time for what is asked: what XLA takes for that grows
faster than the plan."""


def summarising(of: Callable[[Any], tuple[str, ...]]) -> Callable[[Any, Sequence[Any], Sequence[Any]], Any]:
    """What to look at while a plan is traced: the numbers that *of* wants of each operator's results."""

    def look(instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Summary | None]:
        names = of(instruction.op) if instruction.op is not None else ()
        return [_summary(v, names) for v in outputs]

    return look


def answers(plan: Any) -> bool:
    """Whether *plan* is compiled for what is asked: it is short, is seen into everywhere, and can be run a second time.

    Numbers are drawn again as they were, from a place in the stream; what is printed is not taken back.
    """
    return len(plan.instructions) <= LONGEST and not any(
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


SUMMARIES: dict[str, Callable[[Any, str], Any]] = {FINITE: _finite, LARGEST: _largest}
"""By name, a function of an array and the name of its type."""

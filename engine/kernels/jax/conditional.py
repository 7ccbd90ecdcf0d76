"""Values that are there only if a branch was taken, and the operators that join and part those of branches.

On NumPy what a branch would have computed is None where it was not taken. A compiled function does not know that
before it runs: it goes on with zeros, and a flag that says whether they are a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.errors import ExecutionError
from ...ops import registry
from ...ops.refusals import refuse
from ..backend import Kernel, override
from .host_operators import NeedsValues
from .nesting import zeros
from .stacked_array import StackedArray, common, match_form

ABSENT = "it reads what a branch computes that may not have been taken"
APART = "its branches give different shapes or types"


class Conditional:
    """A value that is there where *there* holds.

    Attributes:
        value: an array, or arrays in any nesting; zeros where it is not there.
        there: a bool without dimensions.
    """

    __slots__ = ("there", "value")

    def __init__(self, value: Any, there: Any) -> None:
        self.value = value
        self.there = there


TAKES_CONDITIONAL = frozenset({"select_input", "select_output"})
"""Operators without a block whose kernels take such values."""


def expect_values(op_type: str, operands: Sequence[Any]) -> None:
    """Raise NeedsValues if the operator is given what may not be there, and does not take it."""
    if op_type not in TAKES_CONDITIONAL and any(isinstance(v, Conditional) for v in operands):
        raise NeedsValues(ABSENT)


def settle(value: Any) -> Any:
    """*value* as NumPy has it, once the function has run: None where it is not there, tensors by places."""
    if isinstance(value, Conditional):
        value = value.value if np.asarray(value.there) else None
    return value.settled() if isinstance(value, StackedArray) else value


def plain(value: Any) -> Any:
    """*value* as if it were there."""
    return value.value if isinstance(value, Conditional) else value


def _mask(mask: Any, count: int, op_type: str) -> Any:
    """The place that *mask* asks for, as a number without dimensions."""
    place = mask.reshape(())
    refuse(
        (place < 0) | (place >= count),
        lambda n: ExecutionError(f"{op_type}: the mask is {n}, but there are {count} to choose from"),
        place,
    )
    return place.astype("int32")


def _select_input(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Sequence[Any], mask: Any) -> Any:
        if not isinstance(mask, jax.core.Tracer):
            chosen: Any = registry.get_by_type("select_input").kernel(None, x, mask)
            return chosen
        place = _mask(mask, len(x), "select_input")
        parts = [v if isinstance(v, Conditional) else Conditional(v, v is not None) for v in x]
        computed = [part.value for part in parts if part.value is not None]
        if not computed:
            raise NeedsValues(ABSENT)
        form = reduce(lambda a, b: common(a, b, APART), computed)
        values = [zeros(form) if part.value is None else match_form(part.value, form) for part in parts]
        there = [jnp.asarray(part.there) for part in parts]
        refuse(
            ~jnp.stack(there)[jnp.clip(place, 0, len(x) - 1)],
            lambda: ExecutionError("select_input: the tensor that the mask asks for was not computed"),
        )
        which = place.astype(bool) if len(values) == 2 else place
        return jax.tree_util.tree_map(lambda *parts: lax.select_n(which, *map(jnp.asarray, parts)), *values)

    return kernel


def _select_output(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any, mask: Any) -> Any:
        if not isinstance(mask, jax.core.Tracer):
            parts: Any = registry.get_by_type("select_output").kernel(None, x, mask)
            return parts
        place = _mask(mask, 2, "select_output")
        if isinstance(x, Conditional):
            return [Conditional(x.value, x.there & (place == n)) for n in range(2)]
        return [None if x is None else Conditional(x, place == n) for n in range(2)]

    return kernel


override("select_input", "jax")(_select_input)
override("select_output", "jax")(_select_output)


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        Conditional, lambda c: ((c.value, c.there), None), lambda _, parts: Conditional(*parts)
    )

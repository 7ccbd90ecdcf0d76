"""Values that are there only if a branch was taken, and the operators that join and part those of branches.

On NumPy what a branch would have computed is None where it was not taken. A compiled function does not know that
before it runs: it goes on with zeros, and a flag that says whether they are a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.errors import ExecutionError
from ...ops import registry
from ...ops.refusals import refuse
from ..backend import Kernel, override
from .hosted import NeedsValues

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


def settled(value: Any) -> Any:
    """*value*, or None where it is not there; once the function has run."""
    if isinstance(value, Conditional):
        return value.value if np.asarray(value.there) else None
    return value


def plain(value: Any) -> Any:
    """*value* as if it were there."""
    return value.value if isinstance(value, Conditional) else value


def alike(a: Any, b: Any) -> bool:
    """Whether two values have the same arrays, by shape and type, in the same nesting."""
    some, others = jax.tree_util.tree_leaves(a), jax.tree_util.tree_leaves(b)
    nesting: Any = jax.tree_util.tree_structure(a)
    if nesting != jax.tree_util.tree_structure(b):
        return False
    return all((x.shape, x.dtype) == (y.shape, y.dtype) for x, y in zip(some, others, strict=True))


def zeros(value: Any) -> Any:
    """Zeros in the place of the arrays in *value*."""
    return jax.tree_util.tree_map(lambda a: jnp.zeros(a.shape, a.dtype), value)


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
            chosen: Any = registry.by_type("select_input").kernel(None, x, mask)
            return chosen
        place = _mask(mask, len(x), "select_input")
        like = next((plain(v) for v in x if v is not None), None)
        if like is None:
            raise NeedsValues(ABSENT)
        values, there = [], []
        for v in x:
            part = v if isinstance(v, Conditional) else Conditional(v, v is not None)
            values.append(zeros(like) if part.value is None else part.value)
            there.append(jnp.asarray(part.there))
        if not all(alike(like, v) for v in values):
            raise NeedsValues(APART)
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
            parts: Any = registry.by_type("select_output").kernel(None, x, mask)
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

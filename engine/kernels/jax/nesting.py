"""Arrays in any nesting, as JAX takes them apart: whether two are alike, and zeros in their place."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def alike(a: Any, b: Any) -> bool:
    """Return whether two values have the same arrays, by shape and type, in the same nesting."""
    some, others = jax.tree_util.tree_leaves(a), jax.tree_util.tree_leaves(b)
    nesting: Any = jax.tree_util.tree_structure(a)
    if nesting != jax.tree_util.tree_structure(b):
        return False
    return all((x.shape, x.dtype) == (y.shape, y.dtype) for x, y in zip(some, others, strict=True))


def zeros(value: Any) -> Any:
    """Zeros in the place of the arrays in *value*."""
    return jax.tree_util.tree_map(lambda a: jnp.zeros(a.shape, a.dtype), value)

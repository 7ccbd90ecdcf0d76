"""The largest elements, and running extremes and sums of exponentials, by XLA's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax
from jax import numpy as jnp

from ...ops.library.sort import how_many
from ..backend import Kernel, override


def _topk(attrs: Any, specs: Any) -> Kernel | None:
    """The *k* largest, for which the others need not be sorted."""
    if not attrs["largest"]:
        return None
    axis = attrs["axis"]

    def kernel(x: Any, count: Any = None) -> Any:
        k = how_many(x, count, attrs["k"], axis)
        if not x.ndim:
            return x, jnp.zeros((), "int64")
        moved = jnp.moveaxis(x, axis, -1)
        _, places = lax.top_k(_keys(moved), k)
        found = jnp.take_along_axis(moved, places, -1)
        return jnp.moveaxis(found, -1, axis), jnp.moveaxis(places.astype("int64"), -1, axis)

    return kernel


def _keys(x: Any) -> Any:
    """*x* with one zero and one NaN: ``top_k`` would tell 0 from -0, and NaN with a sign from others."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(jnp.isnan(x), jnp.full((), jnp.nan, x.dtype), jnp.where(x == 0, jnp.zeros((), x.dtype), x))


override("top_k_v2", "jax")(_topk)


def _offer_running(extreme: Callable[..., Any]) -> Callable[[Any, Any], Kernel]:
    def offer(attrs: Any, specs: Any) -> Kernel:
        axis, kind = attrs["axis"], {2: "int32", 3: "int64"}[attrs["dtype"]]

        def kernel(x: Any) -> Any:
            if not x.ndim or not x.size:
                return x, jnp.zeros(x.shape, kind)
            at = axis % x.ndim
            out = extreme(x, axis=at)
            taken = (x == out) | (x != x)
            steps = lax.broadcasted_iota(jnp.dtype(kind), x.shape, at)
            return out, lax.cummax(jnp.where(taken, steps, 0), axis=at)

        return kernel

    return offer


override("cummax", "jax")(_offer_running(lax.cummax))
override("cummin", "jax")(_offer_running(lax.cummin))

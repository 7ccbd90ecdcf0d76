"""The maximum of regions: bins as masks of rows and columns, since where they lie is not known while compiling."""

from __future__ import annotations

from typing import Any

from jax import numpy as jnp

from ...ops.library.regions import images_of, rounded
from ..backend import Kernel, override


def _mask(start: Any, end: Any, bins: int, size: int) -> Any:
    """``[regions, bins, size]``: which elements lie in each bin of the regions from *start* to *end*."""
    length = jnp.maximum(end - start + 1, 1)[:, None]
    first = jnp.floor(jnp.arange(bins) * (length / bins)) + start[:, None]
    last = jnp.ceil((jnp.arange(bins) + 1) * (length / bins)) + start[:, None]
    at = jnp.arange(size)
    return (at >= first[..., None]) & (at < last[..., None])


def _largest(x: Any, mask: Any, axis: int) -> tuple[Any, Any]:
    """The maximum of what *mask* has of *x* along *axis*, and the first place where it stands."""
    best = jnp.where(mask, x, -jnp.inf).max(axis=axis, keepdims=True)
    place = jnp.argmax(mask & ((x == best) | ((x != x) & (best != best))), axis=axis)
    return jnp.squeeze(best, axis), place


@override("roi_pool", "jax")
def roi_pool(attrs: Any, specs: Any) -> Kernel:
    """The maximum of each bin along columns first, then along rows."""

    def kernel(x: Any, rois: Any, counts: Any = None) -> Any:
        images = x[images_of(jnp, rois, counts, x.shape[0])]
        corners = rounded(jnp, rois * rois.dtype.type(attrs["spatial_scale"])).astype("float64")
        left, top, right, bottom = corners.T
        rows = _mask(top, bottom, attrs["pooled_height"], x.shape[2])
        columns = _mask(left, right, attrs["pooled_width"], x.shape[3])
        # [regions, channels, rows, bins] of columns, then [regions, channels, bins of rows, bins of columns]
        by_row, across = _largest(images[:, :, :, None], columns[:, None, None], 4)
        filled = columns.any(-1)[:, None, None, None] & rows[:, None, :, :, None]
        best, down = _largest(by_row[:, :, None], filled, 3)
        places = down * x.shape[3] + jnp.take_along_axis(across, down, 2)
        empty = ~filled.any(3)
        finite = jnp.isfinite(left + top + right + bottom)[:, None, None, None]
        out = jnp.where(finite, jnp.where(empty, 0, best), jnp.nan).astype(x.dtype)
        return out, jnp.where(finite & ~empty, places, -1)

    return kernel

"""Convolutions in which every channel has one filter of its own, some images at a time, which are laid out as rows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...core.attribute_keys import REMEMBERED
from ...ops.library import convolve
from ...ops.library.convolve import Geometry
from ..backend import primitive
from .planes import Planes

# kernels of definitions have no types
product: Any = convolve.product
spread: Any = convolve.spread
weigh: Any = convolve.weigh
_windows: Any = convolve.Windows


def register() -> None:
    """Offer the three products."""
    primitive(product, "numpy")(_product)
    primitive(spread, "numpy")(_spread)
    primitive(weigh, "numpy")(_weigh)


@lru_cache(REMEMBERED)
def _planes(filters: tuple[int, ...], channels: int, image: Any, result: Any, geometry: Geometry) -> Planes | None:
    """Return the layout of images; None where this is no convolution of two dimensions with one filter for each
    channel.
    """
    if filters[:2] != (channels, 1) or channels < 2 or len(filters) != 4 or 0 in (*result, *image):
        return None
    w = _windows(np, filters[2:], image, result, geometry)
    return Planes(image, w.padded, w.before, result, w.kernel, w.strides, w.dilations)


def _product(xp: Any, x: Any, w: Any, result: Any, geometry: Geometry) -> Any:
    batch, channels = x.shape[:2]
    planes = _planes(w.shape, channels, x.shape[2:], tuple(result), geometry)
    if planes is None:
        return product(xp, x, w, result, geometry)
    out = np.empty((batch, channels, *result), x.dtype)
    high, wide = result
    for block in planes.blocks(batch, channels):
        rows, weights = planes.cut(x[block]), w[block[1]]
        whole = np.empty((*out[block].shape[:2], high * planes.wide), x.dtype)
        total = whole[..., : planes.length]
        part = np.empty(total.shape, x.dtype)
        for n, ((i, j), row, at) in enumerate(planes.taps):
            np.multiply(rows[row][..., at : at + planes.length], weights[:, :, i, j], out=part if n else total)
            if n:
                total += part
        out[block] = whole.reshape(*whole.shape[:2], high, planes.wide)[..., :wide]
    return out


def _spread(xp: Any, w: Any, y: Any, image: Any, geometry: Geometry) -> Any:
    batch, channels = y.shape[0], w.shape[1] * geometry.groups
    planes = _planes(w.shape, channels, tuple(image), y.shape[2:], geometry)
    if planes is None or not np.isfinite(w).all():  # what lies between the rows of a result is zero times a weight
        return spread(xp, w, y, image, geometry)
    out = np.empty((batch, channels, *image), y.dtype)
    for block in planes.blocks(batch, channels):
        arrived = planes.space(y[block])
        rows = planes.empty(arrived.shape[:2], y.dtype)
        part, weights = np.empty(arrived.shape, y.dtype), w[block[1]]
        for (i, j), row, at in planes.taps:
            target = rows[row][..., at : at + planes.length]
            target += np.multiply(arrived, weights[:, :, i, j], out=part)
        planes.join(rows, out[block])
    return out


def _weigh(xp: Any, x: Any, y: Any, shape: Any, geometry: Geometry) -> Any:
    batch, channels = x.shape[:2]
    planes = _planes(tuple(shape), channels, x.shape[2:], y.shape[2:], geometry)
    if planes is None or not np.isfinite(x).all():
        return weigh(xp, x, y, shape, geometry)
    out = np.zeros((channels, *shape[2:]), x.dtype)
    for block in planes.blocks(batch, channels):
        arrived, rows = planes.space(y[block]), planes.cut(x[block])
        for (i, j), row, at in planes.taps:
            out[block[1], i, j] += np.vecdot(rows[row][..., at : at + planes.length], arrived).sum(0)
    return out.reshape(shape)

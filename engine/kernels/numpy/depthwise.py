"""Convolutions in which every channel has one filter of its own, some images at a time.

Rows of an image are short, and what NumPy does between two rows takes longer than the row. So an image, within its
padding, is one row of elements here: for each element of the filter, the image from some place on. What then lies
between the rows of the result is computed as well, and left out. With a stride of s an image is s times s such rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.library import convolve
from ...ops.library.convolve import Geometry
from ..backend import primitive

# kernels of definitions have no types
product: Any = convolve.product
spread: Any = convolve.spread
weigh: Any = convolve.weigh
_windows: Any = convolve.Windows

BLOCK = 1 << 16
"""Elements that are worked on at a time."""


def register() -> None:
    """Offer the three products."""
    primitive(product, "numpy")(_product)
    primitive(spread, "numpy")(_spread)
    primitive(weigh, "numpy")(_weigh)


class Planes:
    """Where the elements of images lie when each image is some rows.

    Attributes:
        wide: how long the rows of an image are, with their padding, divided by the stride.
        length: from the first element of the result to its last one.
        taps: for each element of the filter, its place, the row that it meets, and where it begins there.
    """

    def __init__(self, windows: Any) -> None:
        self.windows = windows
        down, across = windows.strides
        self.high, self.wide = (-(-size // s) for size, s in zip(windows.padded, windows.strides, strict=True))
        high, wide = windows.result
        self.length = (high - 1) * self.wide + wide
        self.taps = []
        for place in np.ndindex(*windows.kernel):
            i, j = (at * d for at, d in zip(place, windows.dilations, strict=True))
            self.taps.append((place, (i % down, j % across), i // down * self.wide + j // across))
        self.rows = list(dict.fromkeys(row for _, row, _ in self.taps))

    def blocks(self, batch: int, channels: int) -> Iterator[tuple[slice, slice]]:
        """Slices of the batch, and of the channels."""
        size = self.high * self.wide
        width = min(channels, max(1, BLOCK // size))
        step = max(1, BLOCK // (width * size))
        for image in range(0, batch, step):
            for channel in range(0, channels, width):
                yield slice(image, min(image + step, batch)), slice(channel, min(channel + width, channels))

    def cut(self, x: Any) -> dict[tuple[int, int], Any]:
        """The rows of images: ``[image, channel, element]`` for each of them."""
        windows, (down, across) = self.windows, self.windows.strides
        flat = (*x.shape[:2], self.high * self.wide)
        whole = self.high * down, self.wide * across
        if whole == windows.image:
            padded = x
        else:
            padded = np.zeros((*x.shape[:2], *whole), x.dtype)
            padded[windows.inside()] = x
        return {(i, j): padded[:, :, i::down, j::across].reshape(flat) for i, j in self.rows}

    def join(self, rows: dict[tuple[int, int], Any], out: Any) -> None:
        """The images of *rows*, in *out*."""
        windows, (down, across) = self.windows, self.windows.strides
        padded = np.zeros((*out.shape[:2], self.high * down, self.wide * across), out.dtype)
        for (i, j), row in rows.items():
            padded[:, :, i::down, j::across] = row.reshape(*out.shape[:2], self.high, self.wide)
        out[...] = padded[windows.inside()]

    def spaced(self, y: Any) -> Any:
        """Results as rows, with zeros between theirs."""
        high, wide = self.windows.result
        rows = np.zeros((*y.shape[:2], high, self.wide), y.dtype)
        rows[..., :wide] = y
        return rows.reshape(*y.shape[:2], high * self.wide)[..., : self.length]


def _planes(filters: tuple[int, ...], channels: int, image: Any, result: Any, geometry: Geometry) -> Planes | None:
    """How images lie; None where this is no convolution of two dimensions with one filter for each channel."""
    if filters[:2] != (channels, 1) or channels < 2 or len(filters) != 4 or 0 in (*result, *image):
        return None
    return Planes(_windows(np, filters[2:], image, result, geometry))


def _product(xp: Any, x: Any, w: Any, result: Any, geometry: Geometry) -> Any:
    batch, channels = x.shape[:2]
    planes = _planes(w.shape, channels, x.shape[2:], result, geometry)
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
    planes = _planes(w.shape, channels, image, y.shape[2:], geometry)
    if planes is None or not np.isfinite(w).all():  # what lies between the rows of a result is zero times a weight
        return spread(xp, w, y, image, geometry)
    out = np.empty((batch, channels, *image), y.dtype)
    for block in planes.blocks(batch, channels):
        arrived = planes.spaced(y[block])
        rows = {row: np.zeros((*arrived.shape[:2], planes.high * planes.wide), y.dtype) for row in planes.rows}
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
        arrived, rows = planes.spaced(y[block]), planes.cut(x[block])
        for (i, j), row, at in planes.taps:
            out[block[1], i, j] += np.vecdot(rows[row][..., at : at + planes.length], arrived).sum(0)
    return out.reshape(shape)

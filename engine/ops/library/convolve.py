"""The three products that convolutions, and all their derivatives, are made of.

The sum of ``y · conv(x, w)`` is linear in each of the image x, the filter w and the result y. Its derivatives by y, x
and w are three operators, ``convolve``, ``convolve_image`` and ``convolve_filter``, and the gradients of each are the
other two, to any order. Each is a product of matrices over the unrolled windows of x (im2col).
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ...core.attribute_keys import REMEMBERED, own_key
from ...core.errors import ShapeError
from ..opdef import Trait, op
from ..writing import put
from .window import padding_of

UNROLLED = 1 << 18
"""How many elements of unrolled windows are made at a time, which stay in the processor's cache until they are read."""


@own_key
class Geometry(NamedTuple):
    """Positions of windows on an image, of two spatial dimensions or of three."""

    strides: tuple[int, ...]
    paddings: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int
    padding_algorithm: str
    data_format: str
    transposed: bool = False
    """Whether ``SAME`` is reckoned from the size of y, as the transposed convolution does."""

    @classmethod
    def of(cls, attrs, transposed=False):
        """The geometry that an operator with these attributes has."""
        lie = {name: attrs[name] for name in cls._fields if name in attrs}
        lie |= {name: tuple(numbers) for name, numbers in lie.items() if type(numbers) is list}
        return cls(**lie, transposed=transposed)

    def settled(self, name, window, image, result):
        """Padding and dilations for these sizes; ``SAME`` does not dilate."""
        same = self.padding_algorithm == "SAME"
        pads = padding_of(
            name,
            self.padding_algorithm,
            self.paddings,
            result if self.transposed else image,
            window,
            self.strides,
        )
        return pads, (1,) * len(window) if same else self.dilations


class Windows:
    """The windows of images of one size, unrolled in blocks of the batch."""

    @staticmethod
    @lru_cache(REMEMBERED)
    def of(xp, window, image, result, geometry):
        """The windows of these sizes (tuples), made once: that takes as long as a small convolution."""
        return Windows(xp, window, image, result, geometry)

    def __init__(self, xp, window, image, result, geometry):
        self.xp = xp
        self.kernel = tuple(window)
        self.image = tuple(image)
        self.result = tuple(result)
        self.rank = len(self.image)
        self.strides = geometry.strides
        pads, self.dilations = geometry.settled("convolution", window, image, result)
        self.before = tuple(pad[0] for pad in pads)
        if min(*self.strides, *self.dilations) < 1 or min(map(min, pads)) < 0:
            # Checked here too: no shape rule sees a gradient operator of a file, and a view may look anywhere.
            raise ShapeError(
                f"a convolution has strides and dilations of at least 1 and paddings of at least 0, not "
                f"{list(self.strides)}, {list(self.dilations)} and {[list(pad) for pad in pads]}"
            )
        padded = [size + sum(pad) for size, pad in zip(self.image, pads, strict=True)]
        for i, (n, k, s, d) in enumerate(zip(self.result, self.kernel, self.strides, self.dilations, strict=True)):
            beyond = (n - 1) * s + (k - 1) * d + 1 - padded[i]
            if n == 1 and 0 < beyond < s:
                padded[i] += beyond  # the one window that counts although it is larger: see count_of_windows
            elif n and beyond > 0:
                raise ShapeError(f"a convolution of an image of {list(image)} cannot have the size {list(result)}")
        self.padded = tuple(padded)
        parts = [slice(at, at + size) for at, size in zip(self.before, self.image, strict=True)]
        self.inside = (slice(None), slice(None), *parts)
        """Where the image lies within its padding."""
        alone = {*self.kernel, *self.strides} == {1}
        self.plain = alone and self.padded == self.image == self.result

    def pad(self, x):
        """*x* within its padding."""
        if self.padded == self.image:
            return x
        return put(self.xp.zeros((*x.shape[:2], *self.padded), x.dtype), self.inside, x)

    def crop(self, padded):
        """The image within its padding, as a view."""
        return padded[self.inside]

    def view(self, x):
        """The windows of *x* (padded): ``(batch, channel, *place in the window, *place of the window)``.

        They are a view where arrays are laid out by strides.
        """
        if not isinstance(x, np.ndarray):
            return x[(slice(None), slice(None), *self._rows())]
        batch, channel, *steps = x.strides
        within = (step * d for step, d in zip(steps, self.dilations, strict=True))
        between = (step * s for step, s in zip(steps, self.strides, strict=True))
        shape = (*x.shape[:2], *self.kernel, *self.result)
        return np.lib.stride_tricks.as_strided(x, shape, (batch, channel, *within, *between))

    def _rows(self):
        """The index of the windows in each spatial dimension, the places in the window first."""
        for i, (k, n, s, d) in enumerate(zip(self.kernel, self.result, self.strides, self.dilations, strict=True)):
            rows = np.arange(k)[:, None] * d + np.arange(n) * s
            shape = [1] * (2 * self.rank)
            shape[i], shape[self.rank + i] = rows.shape
            yield rows.reshape(shape)

    @cached_property
    def places(self):
        """For each element of the window, its place and the slices of the padded image that it meets."""
        return [*self._places()]

    def _places(self):
        for place in itertools.product(*map(range, self.kernel)):
            starts = (at * d for at, d in zip(place, self.dilations, strict=True))
            yield (
                place,
                tuple(
                    slice(start, start + (count - 1) * step + 1 if count else start, step)
                    for start, count, step in zip(starts, self.result, self.strides, strict=True)
                ),
            )

    @cached_property
    def around(self):
        """The padding of results with which windows on them give the image; None where windows are not 1 apart."""
        if {*self.strides} != {1} or self.plain:
            return None
        pads = []
        for i, (k, d) in enumerate(zip(self.kernel, self.dilations, strict=True)):
            reach = (k - 1) * d
            if self.padded[i] != self.result[i] + reach:
                return None
            pads += [reach - self.before[i], reach - (self.padded[i] - self.image[i] - self.before[i])]
        return tuple(pads) if min(pads) >= 0 else None

    def may_turn(self, w, groups):
        """Return whether spreading through *w* is better a convolution of results with the filter the other way
        round.

        Windows are read faster than sums are made in places that overlap, but of as many channels as the results have.
        What lies around results is zero, and so must be what it is multiplied with: not so if that is infinite.
        """
        outside, inside = w.shape[0] // groups, w.shape[1]
        pays = type(w) is np.ndarray and 1 < outside <= inside and self.around is not None
        return pays and bool(np.isfinite(w).all())

    def turned(self, geometry):
        """Return the positions of the windows on results then."""
        return geometry._replace(
            paddings=self.around, dilations=self.dilations, padding_algorithm="EXPLICIT", transposed=False
        )

    def blocks(self, batch, channels):
        """Slices of the batch whose unrolled windows are of bounded size."""
        size = channels * math.prod(self.kernel) * math.prod(self.result)
        step = max(1, UNROLLED // max(size, 1))
        return [slice(i, min(i + step, batch)) for i in range(0, batch, step)]


def product(xp, x, w, result, geometry):
    """The convolution of *x* with *w*, of the spatial size *result*."""
    batch, channels = x.shape[:2]
    windows = Windows.of(xp, w.shape[2:], x.shape[2:], tuple(result), geometry)
    if 0 in result:
        return xp.zeros((batch, w.shape[0], *result), x.dtype)
    view = windows.view(windows.pad(x))
    if w.shape[1] == 1 and channels > 1:
        weight = w.reshape((1, channels, -1, *(1,) * windows.rank, *w.shape[2:]))
        out = xp.zeros((batch, channels, weight.shape[2], *result), x.dtype)
        for place, _ in windows.places:
            out += view[(slice(None), slice(None), None, *place)] * weight[(..., *place)]
        return out.reshape((batch, w.shape[0], *result))
    groups, width, points = geometry.groups, math.prod(w.shape[1:]), math.prod(result)
    weight = w.reshape((groups, w.shape[0] // groups, width))
    out = xp.empty((batch, groups, w.shape[0] // groups, points), x.dtype)
    for block in windows.blocks(batch, channels):
        xp.matmul(weight, view[block].reshape((-1, groups, width, points)), out=out[block])
    return out.reshape((batch, w.shape[0], *result))


def spread(xp, w, y, image, geometry):
    """The derivative by the image, of the spatial size *image*: every y spread through the filter."""
    batch, result = y.shape[0], y.shape[2:]
    groups = geometry.groups
    channels = w.shape[1] * groups
    windows = Windows.of(xp, w.shape[2:], tuple(image), result, geometry)
    if 0 in result:
        return xp.zeros((batch, channels, *image), y.dtype)
    if w.shape[1] == 1 and channels > 1:
        out = xp.zeros((batch, channels, *windows.padded), y.dtype)
        weight = w.reshape((1, channels, -1, *(1,) * windows.rank, *w.shape[2:]))
        parts = y.reshape((batch, channels, w.shape[0] // channels, *result))
        for place, elements in windows.places:
            out[(..., *elements)] += (parts * weight[(..., *place)]).sum(2)
        return windows.crop(out)
    if windows.may_turn(w, groups):
        return product(xp, y, _turned(w, groups), image, windows.turned(geometry))
    width, points = math.prod(w.shape[1:]), math.prod(result)
    weight = w.reshape((groups, w.shape[0] // groups, width)).swapaxes(1, 2)
    parts = y.reshape((batch, groups, w.shape[0] // groups, points))
    if windows.plain:
        return xp.matmul(weight, parts).reshape((batch, channels, *image))
    out = xp.zeros((batch, channels, *windows.padded), y.dtype)
    for block in windows.blocks(batch, channels):
        unrolled = xp.matmul(weight, parts[block]).reshape((-1, channels, *w.shape[2:], *result))
        for place, elements in windows.places:
            out[(block, slice(None), *elements)] += unrolled[(slice(None), slice(None), *place)]
    return windows.crop(out)


def _turned(w, groups):
    """The filter from results to images: each one the other way round."""
    rank = w.ndim - 2
    parts = w.reshape((groups, w.shape[0] // groups, *w.shape[1:]))
    parts = np.ascontiguousarray(parts[(..., *[slice(None, None, -1)] * rank)].swapaxes(1, 2))
    return parts.reshape((groups * w.shape[1], w.shape[0] // groups, *w.shape[2:]))


def weigh(xp, x, y, shape, geometry):
    """The derivative by the filter, of that *shape*: every window of x weighted with its y."""
    batch, channels = x.shape[:2]
    result = y.shape[2:]
    groups = geometry.groups
    windows = Windows.of(xp, tuple(shape[2:]), x.shape[2:], result, geometry)
    if 0 in result:
        return xp.zeros(shape, x.dtype)
    view = windows.view(windows.pad(x))
    if shape[1] == 1 and channels > 1:
        out = xp.empty((channels, shape[0] // channels, *shape[2:]), x.dtype)
        parts = y.reshape((batch, channels, shape[0] // channels, *result))
        positions = tuple(range(3, 3 + windows.rank))
        for place, _ in windows.places:
            out[(..., *place)] = (view[(slice(None), slice(None), None, *place)] * parts).sum((0, *positions))
        return out.reshape(shape)
    width, points = math.prod(shape[1:]), math.prod(result)
    total = xp.zeros((groups, shape[0] // groups, width), x.dtype)
    order = (*range(1, 2 + windows.rank), 0, *range(2 + windows.rank, 2 + 2 * windows.rank))
    for block in windows.blocks(batch, channels):
        part = view[block].transpose(order).reshape((groups, width, -1))
        weights = y[block].reshape((-1, shape[0], points)).swapaxes(0, 1).reshape((*total.shape[:2], -1))
        total += xp.matmul(weights, part.swapaxes(1, 2))
    return total.reshape(shape)


def first(k, x, geometry):
    """*x* with its channels first."""
    return k.xp.moveaxis(x, -1, 1) if geometry.data_format.endswith("C") else x


def back(k, x, geometry):
    """*x* with its channels where the data format has them."""
    return k.xp.moveaxis(x, 1, -1) if geometry.data_format.endswith("C") else x


def spatial(shape, geometry):
    """The sizes of the spatial dimensions of a tensor of that shape."""
    return tuple(shape[1:-1] if geometry.data_format.endswith("C") else shape[2:])


@op("convolve", "X W Y -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve(k, x, w, y, *, geometry):
    """The convolution of *x* with *w*, in the shape of *y*."""
    result = spatial(y.shape, geometry)
    return back(k, k.primitive(product)(k.xp, first(k, x, geometry), w, result, geometry), geometry)


@op("convolve_image", "W Y X -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve_image(k, w, y, x, *, geometry):
    """Every *y* spread through *w* over an image in the shape of *x*."""
    image = spatial(x.shape, geometry)
    return back(k, k.primitive(spread)(k.xp, w, first(k, y, geometry), image, geometry), geometry)


@op("convolve_filter", "X Y W -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve_filter(k, x, y, w, *, geometry):
    """The windows of *x* weighted with *y* and added, in the shape of the filter *w*."""
    return k.primitive(weigh)(k.xp, first(k, x, geometry), first(k, y, geometry), w.shape, geometry)


@convolve.gradient(wrt="X W")
def _(k, x, w, dout, *, geometry):
    return (
        lambda: k.convolve_image(w, dout, x, geometry=geometry),
        lambda: k.convolve_filter(x, dout, w, geometry=geometry),
    )


@convolve_image.gradient(wrt="W Y")
def _(k, w, y, dout, *, geometry):
    return (
        lambda: k.convolve_filter(dout, y, w, geometry=geometry),
        lambda: k.convolve(dout, w, y, geometry=geometry),
    )


@convolve_filter.gradient(wrt="X Y")
def _(k, x, y, dout, *, geometry):
    return (
        lambda: k.convolve_image(dout, y, x, geometry=geometry),
        lambda: k.convolve(x, dout, y, geometry=geometry),
    )

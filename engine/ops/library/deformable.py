"""Convolution that reads each pixel of its window beside where it is, by a fraction of a pixel (Dai et al. 2017).

Pixels are linear in the image, weights are linear in the fractions, and fractions in the offsets but for jumps; the
small operators below say so one by one, and the rule, to any order, is made of them. Between image and filter stand
*columns*: ``[batch, deformable groups, channels of each, window, places]``.
"""

from __future__ import annotations

import functools
import operator

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import product
from ..opdef import Like, Trait, op
from ..writing import add_at
from .window import check_numbers, count_of_windows

ATTRS = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "dilations": (1, 1),
    "groups": 1,
    "deformable_groups": 1,
    "im2col_step": 64,
}
READING = {"strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "deformable_groups": 1}


def _offsets(offset, filter, axis, groups):
    """The shifts of rows (0) or columns (1): ``[batch, groups, 1, window, places]``."""
    n, _, rows, columns = offset.shape
    window = filter.shape[2] * filter.shape[3]
    return offset.reshape((n, groups, 1, window, 2, rows * columns))[:, :, :, :, axis]


def _places(k, offset, filter, axis, a):
    """The rows (0) or columns (1) that are read, with fractions."""
    xp = k.xp
    start = xp.arange(offset.shape[2 + axis]) * a["strides"][axis] - a["paddings"][axis]
    step = xp.arange(filter.shape[2 + axis]) * a["dilations"][axis]
    starts = xp.broadcast_to(start[:, None] if axis == 0 else start[None], offset.shape[2:]).reshape(-1)
    steps = xp.broadcast_to(step[:, None] if axis == 0 else step[None], filter.shape[2:]).reshape(-1)
    shifts = _offsets(offset, filter, axis, a["deformable_groups"])
    return shifts.astype("float64") + (steps[:, None] + starts[None])


def _low(xp, at):
    # A place that is no number, or too far away to be counted, is outside of every image.
    return xp.floor(xp.where(xp.isfinite(at), xp.clip(at, -(2.0**31), 2.0**31), -2.0)).astype("int64")


def _pixels(k, offset, filter, image, corner, a):
    """Flat places of one pixel around each that is read, and whether it lies within the image."""
    xp = k.xp
    flat, inside = 0, True
    for axis, size in enumerate(image):
        at = _low(xp, _places(k, offset, filter, axis, a)) + (corner >> axis & 1)
        inside = inside & (at >= 0) & (at < size)
        flat = flat * size + xp.clip(at, 0, size - 1)
    return flat, inside


@op("deform_pixel", "X Offset Filter -> Out", attrs={**READING, "corner": 0}, trait=Trait.INTERNAL)
def deform_pixel(k, x, offset, filter, *, corner, **a):
    """The pixel of *x* at one corner of each place that is read; zeros outside."""
    xp = k.xp
    n, c, *image = x.shape
    flat, inside = _pixels(k, offset, filter, image, corner, a)
    groups = a["deformable_groups"]
    rows = x.reshape((n, groups, c // groups, image[0] * image[1]))
    places = flat.reshape((n, groups, 1, flat.shape[3] * flat.shape[4]))
    pixels = xp.take_along_axis(rows, places, 3).reshape((n, groups, c // groups, *flat.shape[3:]))
    return pixels * inside.astype(x.dtype)


@op("deform_spread", "Y Offset Filter X -> Out", attrs={**READING, "corner": 0}, trait=Trait.INTERNAL)
def deform_spread(k, y, offset, filter, x, *, corner, **a):
    """Zeros in the shape of *x* with each *y* added to its pixel: the transpose of ``deform_pixel``."""
    xp = k.xp
    n, c, *image = x.shape
    flat, inside = _pixels(k, offset, filter, image, corner, a)
    out = xp.zeros((n * c, image[0] * image[1]), y.dtype)
    values = (y * inside.astype(y.dtype)).reshape((n * c, flat.shape[3] * flat.shape[4]))
    places = xp.broadcast_to(flat, y.shape).reshape(values.shape)
    return add_at(out, (xp.arange(n * c)[:, None], places), values).reshape(x.shape)


@deform_pixel.gradient(wrt="X")
def _(k, x: Like, offset, filter: Like, dout, **attrs):
    return k.deform_spread(dout, offset, filter, x, **attrs)


@deform_spread.gradient(wrt="Y")
def _(k, offset, filter: Like, x: Like, dout, **attrs):
    return k.deform_pixel(dout, offset, filter, **attrs)


@op("deform_fraction", "Offset Filter -> Out", attrs={**READING, "axis": 0}, trait=Trait.INTERNAL)
def deform_fraction(k, offset, filter, *, axis, **a):
    """Distance of each place beyond the pixel before it."""
    at = _places(k, offset, filter, axis, a)
    return (at - _low(k.xp, at)).astype(offset.dtype)


@op("deform_whole", "Part Offset Filter -> Out", attrs={**READING, "axis": 0}, trait=Trait.INTERNAL)
def deform_whole(k, part, offset, filter, *, axis, **a):
    """Offsets with *part* along one axis and 0 along the other."""
    zero = k.xp.zeros_like(part)
    return k.xp.stack([part, zero] if axis == 0 else [zero, part], axis=4).reshape(offset.shape)


@op("deform_part", "Offset Filter -> Out", attrs={**READING, "axis": 0}, trait=Trait.INTERNAL)
def deform_part(k, offset, filter, *, axis, **a):
    """The offsets along one axis: the transpose of ``deform_whole``."""
    return _offsets(offset, filter, axis, a["deformable_groups"])


@deform_fraction.gradient(wrt="Offset")
def _(k, offset: Like, filter: Like, dout, **attrs):
    return k.deform_whole(dout, offset, filter, **attrs)


@deform_whole.gradient(wrt="Part")
def _(k, offset: Like, filter: Like, dout, **attrs):
    return k.deform_part(dout, filter, **attrs)


@deform_part.gradient(wrt="Offset")
def _(k, offset: Like, filter: Like, dout, **attrs):
    return k.deform_whole(dout, offset, filter, **attrs)


@op("deform_mask", "Mask -> Out", attrs={"deformable_groups": 1}, trait=Trait.INTERNAL)
def deform_mask(k, mask, *, deformable_groups):
    """A mask in the dimensions of columns."""
    n, channels, rows, columns = mask.shape
    return mask.reshape((n, deformable_groups, 1, channels // deformable_groups, rows * columns))


@deform_mask.gradient
def _(k, mask: Like, dout):
    return k.reshape_like(dout, mask)


# -- columns and filters: three products, each the gradient of the others -----------------------------------------


def _divided(columns, groups):
    """Columns as ``[batch, groups, channels of each · window, places]``."""
    n, deformable, channels, window, places = columns.shape
    return columns.reshape((n, groups, deformable * channels // groups * window, places))


@op("deform_product", "Columns Filter Offset -> Out", attrs={"groups": 1}, trait=Trait.INTERNAL)
def deform_product(k, columns, filter, like, *, groups):
    """The convolution: ``[batch, filters, rows, columns]``, as many as *like* has."""
    rows = _divided(columns, groups)
    weights = filter.reshape((groups, filter.shape[0] // groups, rows.shape[2]))
    return k.xp.matmul(weights, rows).reshape((columns.shape[0], filter.shape[0], *like.shape[2:]))


@op("deform_columns", "Y Filter Columns -> Out", attrs={"groups": 1}, trait=Trait.INTERNAL)
def deform_columns(k, y, filter, like, *, groups):
    """Gradient that reaches the columns *like*."""
    n, count = y.shape[:2]
    rows = y.reshape((n, groups, count // groups, y.shape[2] * y.shape[3]))
    weights = filter.reshape((groups, count // groups, filter[0].size))
    return k.xp.matmul(weights.swapaxes(1, 2), rows).reshape(like.shape)


@op("deform_filter", "Columns Y Filter -> Out", attrs={"groups": 1}, trait=Trait.INTERNAL)
def deform_filter(k, columns, y, like, *, groups):
    """Gradient that reaches the filters."""
    n, count = y.shape[:2]
    rows = y.reshape((n, groups, count // groups, y.shape[2] * y.shape[3]))
    return k.xp.matmul(rows, _divided(columns, groups).swapaxes(2, 3)).sum(axis=0).reshape(like.shape)


@deform_product.gradient(wrt="Columns Filter")
def _(k, columns, filter, like: Like, dout, **attrs):
    return lambda: k.deform_columns(dout, filter, columns, **attrs), lambda: k.deform_filter(
        columns, dout, filter, **attrs
    )


@deform_columns.gradient(wrt="Y Filter")
def _(k, y, filter, like: Like, dout, **attrs):
    return lambda: k.deform_product(dout, filter, y, **attrs), lambda: k.deform_filter(dout, y, filter, **attrs)


@deform_filter.gradient(wrt="Columns Y")
def _(k, columns, y, like: Like, dout, **attrs):
    return lambda: k.deform_columns(y, dout, columns, **attrs), lambda: k.deform_product(columns, dout, y, **attrs)


# -- what programs hold -----------------------------------------------------------------------------------------------


def _sum(terms):
    return functools.reduce(operator.add, terms)


class _Reading:
    """Reads of one operator from its image: pixels, fractions, and columns of both."""

    def __init__(self, k, x, offset, filter, attrs):
        self.k, self.x, self.operands = k, x, (offset, filter)
        self.attrs = {name: attrs[name] for name in READING}
        self.fractions = [k.deform_fraction(offset, filter, axis=axis, **self.attrs) for axis in (0, 1)]

    def pixel(self, corner):
        return self.k.deform_pixel(self.x, *self.operands, corner=corner, **self.attrs)

    def weight(self, corner, without=None):
        """Return how much the pixel at a corner counts, but for the fraction along one axis."""
        parts = [f if corner >> axis & 1 else 1 - f for axis, f in enumerate(self.fractions) if axis != without]
        return functools.reduce(operator.mul, parts)

    def columns(self):
        return _sum(self.pixel(corner) * self.weight(corner) for corner in range(4))

    def by_image(self, arriving):
        spread = self.k.deform_spread
        parts = ((arriving * self.weight(corner), corner) for corner in range(4))
        return _sum(spread(part, *self.operands, self.x, corner=corner, **self.attrs) for part, corner in parts)

    def by_offset(self, arriving):
        terms = []
        for axis in (0, 1):
            edges = [corner for corner in range(4) if not corner >> axis & 1]  # from these corners along the axis
            rise = _sum((self.pixel(c + 2**axis) - self.pixel(c)) * self.weight(c, axis) for c in edges)
            part = self.k.sum_to(arriving * rise, self.fractions[axis])
            terms.append(self.k.deform_whole(part, *self.operands, axis=axis, **self.attrs))
        return _sum(terms)


def _convolved(k, x, offset, mask, filter, attrs):
    columns = _Reading(k, x, offset, filter, attrs).columns()
    if mask is not None:
        columns = columns * k.deform_mask(mask, deformable_groups=attrs["deformable_groups"])
    return k.deform_product(columns, filter, offset, groups=attrs["groups"])


def _gradients(k, x, offset, mask, filter, doutput, attrs):
    """Return the gradients of image, offset, mask and filter, each made when it is read."""
    reading = _Reading(k, x, offset, filter, attrs)
    columns = reading.columns()
    weights = None if mask is None else k.deform_mask(mask, deformable_groups=attrs["deformable_groups"])
    masked = columns if weights is None else columns * weights
    groups = attrs["groups"]

    def arriving():
        reaching = k.deform_columns(doutput, filter, columns, groups=groups)
        return reaching if weights is None else reaching * weights

    def by_mask():
        reaching = k.deform_columns(doutput, filter, columns, groups=groups)
        return k.reshape_like(k.sum_to(reaching * columns, weights), mask)

    return (
        lambda: reading.by_image(arriving()),
        lambda: reading.by_offset(arriving()),
        by_mask,
        lambda: k.deform_filter(masked, doutput, filter, groups=groups),
    )


def _check(name, x, offset, mask, filter, attrs):
    for slot, spec in (("Input", x), ("Offset", offset), ("Filter", filter)):
        if spec.ndim != 4:
            raise ShapeError(f"{name}: {slot} {list(spec.shape)} must have 4 dimensions")
    for attr, least in (("strides", 1), ("dilations", 1), ("paddings", 0)):
        check_numbers(name, attr, attrs[attr], least, 2)
    groups, deformable = attrs["groups"], attrs["deformable_groups"]
    channels, filters = x.shape[1], filter.shape[0]
    parts = ((channels, groups), (filters, groups), (channels, deformable))
    if min(groups, deformable) < 1 or any(n % count for n, count in parts if n != UNKNOWN):
        raise OperatorError(
            f"{name}: {channels} channels and {filters} filters cannot be divided into {groups} groups and "
            f"{deformable} deformable groups"
        )
    if UNKNOWN not in (filter.shape[1], channels) and filter.shape[1] * groups != channels:
        raise ShapeError(
            f"{name}: Input {list(x.shape)} has {channels} channels, but Filter {list(filter.shape)} with {groups} "
            f"groups takes {filter.shape[1] * groups}"
        )
    _check_shifts(name, offset, mask, filter, deformable)


def _check_shifts(name, offset, mask, filter, deformable):
    """Raise unless *offset* and *mask* have the channels that window and deformable groups ask for."""
    window = product(filter.shape[2:])
    for slot, spec, each in (("Offset", offset, 2), ("Mask", mask, 1)):
        if spec is None:
            continue
        channels = each * deformable * window
        if spec.ndim != 4 or (spec.shape[1] not in (UNKNOWN, channels) and window != UNKNOWN):
            raise ShapeError(
                f"{name}: {slot} {list(spec.shape)} must have {channels} channels, {each} for each element of the "
                "window and deformable group"
            )


def _spec(name, x, offset, mask, filter, attrs):
    _check(name, x, offset, mask, filter, attrs)
    sizes = []
    for i in (0, 1):
        size, pad = x.shape[2 + i], attrs["paddings"][i]
        reach = attrs["dilations"][i] * (filter.shape[2 + i] - 1) + 1
        known = UNKNOWN not in (size, filter.shape[2 + i])
        sizes.append(count_of_windows(name, size, (pad, pad), reach, attrs["strides"][i]) if known else UNKNOWN)
    for slot, spec in (("Offset", offset), ("Mask", mask)):
        rest = zip(spec.shape[2:], sizes, strict=True) if spec is not None else ()
        if any(m != n and UNKNOWN not in (m, n) for m, n in rest):
            raise ShapeError(f"{name}: {slot} {list(spec.shape)} must have the rows and columns of the result, {sizes}")
    return x.replace_shape((x.shape[0], filter.shape[0], *sizes))


@op("deformable_conv", "Input Offset Mask Filter -> Output", attrs=ATTRS)
def deformable_conv(k, input, offset, mask, filter, **attrs):
    """Convolution whose windows read pixels shifted by *offset* (rows, columns) and weighted by *mask*."""
    return _convolved(k.ops, input, offset, mask, filter, attrs)


@deformable_conv.infer
def _(input, offset, mask, filter, **attrs):
    return _spec("deformable_conv", input, offset, mask, filter, attrs)


@deformable_conv.gradient
def _(k, input, offset, mask, filter, doutput, **attrs):
    return _gradients(k, input, offset, mask, filter, doutput, attrs)


@op("deformable_conv_v1", "Input Offset Filter -> Output", attrs=ATTRS)
def deformable_conv_v1(k, input, offset, filter, **attrs):
    """Convolution whose windows read pixels shifted by *offset* (rows, columns)."""
    return _convolved(k.ops, input, offset, None, filter, attrs)


@deformable_conv_v1.infer
def _(input, offset, filter, **attrs):
    return _spec("deformable_conv_v1", input, offset, None, filter, attrs)


@deformable_conv_v1.gradient
def _(k, input, offset, filter, doutput, **attrs):
    by_image, by_offset, _, by_filter = _gradients(k, input, offset, None, filter, doutput, attrs)
    return by_image, by_offset, by_filter


@deformable_conv.samples
def _(make):
    yield make(input=(2, 2, 4, 5), offset=(2, 8, 3, 4), mask=(2, 4, 3, 4), filter=(3, 2, 2, 2))
    yield make(
        input=(1, 4, 4, 5),
        offset=(1, 16, 3, 3),
        mask=(1, 8, 3, 3),
        filter=(2, 2, 2, 2),
        strides=(2, 2),
        paddings=(1, 1),
        dilations=(1, 2),
        groups=2,
        deformable_groups=2,
    )


@deformable_conv_v1.samples
def _(make):
    yield make(input=(2, 2, 4, 5), offset=(2, 6, 4, 3), filter=(3, 2, 1, 3))
    yield make(input=(0, 2, 4, 5), offset=(0, 8, 3, 4), filter=(3, 2, 2, 2))

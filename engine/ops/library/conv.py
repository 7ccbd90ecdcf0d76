"""Convolution over two spatial dimensions, and its transpose.

The sum of ``y · conv(x, w)`` is linear in each of the image x, the filter w and the result y. Its derivatives by y, x and
w are three operators (``convolve``, ``convolve_image``, ``convolve_filter``), and the gradients of each are the other two,
to any order. Each is a product of matrices over the unrolled windows of x (im2col).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...errors import DtypeError, OperatorError, ShapeError
from ...spec import UNKNOWN
from ..opdef import Like, Trait, op
from .window import check_numbers, padding_of

UNROLLED = 1 << 21
"""How many elements of unrolled windows are made at a time."""

ATTRS = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "dilations": (1, 1),
    "groups": 1,
    "padding_algorithm": "EXPLICIT",
    "data_format": "NCHW",
}


class Geometry(NamedTuple):
    """How windows lie on an image."""

    strides: tuple[int, int]
    paddings: tuple[int, ...]
    dilations: tuple[int, int]
    groups: int
    padding_algorithm: str
    data_format: str
    transposed: bool = False
    """Whether ``SAME`` is reckoned from the size of y, as the transposed convolution does."""

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
        return pads, (1, 1) if same else self.dilations


# -- the three products, over arrays ----------------------------------------------------------------------------------


class _Windows:
    """The windows of images of one size, unrolled in blocks of the batch."""

    def __init__(self, xp, window, image, result, geometry):
        self.xp = xp
        self.kernel = window
        self.image = image
        self.result = result
        self.strides = geometry.strides
        self.pads, self.dilations = geometry.settled("convolution", window, image, result)
        (self.top, bottom), (self.left, right) = self.pads
        self.padded = (image[0] + self.top + bottom, image[1] + self.left + right)
        for n, k, s, d, size in zip(result, window, self.strides, self.dilations, self.padded, strict=True):
            if (n - 1) * s + (k - 1) * d >= size:
                raise ShapeError(f"a convolution of an image of {list(image)} cannot have the size {list(result)}")
        self.plain = self.padded == tuple(image) == tuple(result) and window == (1, 1) and tuple(self.strides) == (1, 1)

    def pad(self, x):
        """*x* within its padding."""
        if self.padded == tuple(self.image):
            return x
        out = self.xp.zeros((*x.shape[:2], *self.padded), x.dtype)
        self.crop(out)[...] = x
        return out

    def crop(self, padded):
        """The image within its padding, as a view."""
        return padded[:, :, self.top : self.top + self.image[0], self.left : self.left + self.image[1]]

    def view(self, x):
        """The windows of *x* (padded) as a view ``(batch, channel, window row, window column, row, column)``."""
        batch, channel, row, column = x.strides
        shape = (*x.shape[:2], *self.kernel, *self.result)
        strides = (
            batch,
            channel,
            row * self.dilations[0],
            column * self.dilations[1],
            row * self.strides[0],
            column * self.strides[1],
        )
        return self.xp.lib.stride_tricks.as_strided(x, shape, strides)

    def places(self):
        """For each element of the window, its place and the slices of the padded image that it meets."""
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                starts = i * self.dilations[0], j * self.dilations[1]
                yield (
                    i,
                    j,
                    tuple(
                        slice(start, start + (count - 1) * step + 1 if count else start, step)
                        for start, count, step in zip(starts, self.result, self.strides, strict=True)
                    ),
                )

    def blocks(self, batch, channels):
        """Slices of the batch whose unrolled windows are of bounded size."""
        size = channels * math.prod(self.kernel) * math.prod(self.result)
        step = max(1, UNROLLED // max(size, 1))
        return [slice(i, min(i + step, batch)) for i in range(0, batch, step)]


def _apply(xp, x, w, result, geometry):
    """The convolution of *x* with *w*, of the spatial size *result*."""
    batch, channels = x.shape[:2]
    windows = _Windows(xp, w.shape[2:], x.shape[2:], result, geometry)
    view = windows.view(windows.pad(x))
    if w.shape[1] == 1 and channels > 1:
        weight = w.reshape((1, channels, -1, 1, 1, *w.shape[2:]))
        out = xp.zeros((batch, channels, weight.shape[2], *result), x.dtype)
        for i, j, _ in windows.places():
            out += view[:, :, None, i, j] * weight[..., i, j]
        return out.reshape((batch, w.shape[0], *result))
    groups, width, points = geometry.groups, math.prod(w.shape[1:]), math.prod(result)
    weight = w.reshape((groups, w.shape[0] // groups, width))
    out = xp.empty((batch, groups, w.shape[0] // groups, points), x.dtype)
    for block in windows.blocks(batch, channels):
        xp.matmul(weight, view[block].reshape((-1, groups, width, points)), out=out[block])
    return out.reshape((batch, w.shape[0], *result))


def _image(xp, w, y, image, geometry):
    """The derivative by the image, of the spatial size *image*: every y spread through the filter."""
    batch, result = y.shape[0], y.shape[2:]
    groups = geometry.groups
    channels = w.shape[1] * groups
    windows = _Windows(xp, w.shape[2:], image, result, geometry)
    if w.shape[1] == 1 and channels > 1:
        out = xp.zeros((batch, channels, *windows.padded), y.dtype)
        weight = w.reshape((1, channels, -1, 1, 1, *w.shape[2:]))
        parts = y.reshape((batch, channels, -1, *result))
        for i, j, (rows, columns) in windows.places():
            out[:, :, rows, columns] += (parts * weight[..., i, j]).sum(2)
        return windows.crop(out)
    width, points = math.prod(w.shape[1:]), math.prod(result)
    weight = w.reshape((groups, w.shape[0] // groups, width)).swapaxes(1, 2)
    parts = y.reshape((batch, groups, w.shape[0] // groups, points))
    if windows.plain:
        return xp.matmul(weight, parts).reshape((batch, channels, *image))
    out = xp.zeros((batch, channels, *windows.padded), y.dtype)
    for block in windows.blocks(batch, channels):
        unrolled = xp.matmul(weight, parts[block]).reshape((-1, channels, *w.shape[2:], *result))
        for i, j, (rows, columns) in windows.places():
            out[block, :, rows, columns] += unrolled[:, :, i, j]
    return windows.crop(out)


def _filter(xp, x, y, shape, geometry):
    """The derivative by the filter, of that *shape*: every window of x weighted with its y."""
    batch, channels = x.shape[:2]
    result = y.shape[2:]
    groups = geometry.groups
    windows = _Windows(xp, shape[2:], x.shape[2:], result, geometry)
    view = windows.view(windows.pad(x))
    if shape[1] == 1 and channels > 1:
        out = xp.empty((channels, shape[0] // channels, *shape[2:]), x.dtype)
        parts = y.reshape((batch, channels, -1, *result))
        for i, j, _ in windows.places():
            out[:, :, i, j] = (view[:, :, None, i, j] * parts).sum((0, 3, 4))
        return out.reshape(shape)
    width, points = math.prod(shape[1:]), math.prod(result)
    total = xp.zeros((groups, shape[0] // groups, width), x.dtype)
    for block in windows.blocks(batch, channels):
        part = view[block].transpose((1, 2, 3, 0, 4, 5)).reshape((groups, width, -1))
        weights = y[block].reshape((-1, shape[0], points)).swapaxes(0, 1).reshape((*total.shape[:2], -1))
        total += xp.matmul(weights, part.swapaxes(1, 2))
    return total.reshape(shape)


def _first(k, x, geometry):
    """*x* with its channels first."""
    return k.xp.moveaxis(x, -1, 1) if geometry.data_format == "NHWC" else x


def _back(k, x, geometry):
    """*x* with its channels where the data format has them."""
    return k.xp.moveaxis(x, 1, -1) if geometry.data_format == "NHWC" else x


def _spatial(shape, geometry):
    return tuple(shape[1:3] if geometry.data_format == "NHWC" else shape[2:4])


@op("convolve", "X W Y -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve(k, x, w, y, *, geometry):
    """The convolution of *x* with *w*, in the shape of *y*."""
    return _back(k, _apply(k.xp, _first(k, x, geometry), w, _spatial(y.shape, geometry), geometry), geometry)


@op("convolve_image", "W Y X -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve_image(k, w, y, x, *, geometry):
    """Every *y* spread through *w* over an image in the shape of *x*."""
    return _back(k, _image(k.xp, w, _first(k, y, geometry), _spatial(x.shape, geometry), geometry), geometry)


@op("convolve_filter", "X Y W -> Out", attrs={"geometry": None}, trait=Trait.INTERNAL)
def convolve_filter(k, x, y, w, *, geometry):
    """The windows of *x* weighted with *y* and added, in the shape of the filter *w*."""
    return _filter(k.xp, _first(k, x, geometry), _first(k, y, geometry), w.shape, geometry)


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


# -- what programs hold -----------------------------------------------------------------------------------------------


def _checked(name, x, w, geometry):
    """Batch, channels and spatial sizes of *x*, once everything fits."""
    if x.ndim != 4 or w.ndim != 4:
        raise ShapeError(
            f"{name}: Input {list(x.shape)} and Filter {list(w.shape)} must have 4 dimensions",
            hint="an image is [batch, channels, height, width]; reshape or unsqueeze what is not",
        )
    for slot, spec in (("Input", x), ("Filter", w)):
        if not spec.dtype.is_floating:
            raise DtypeError(f"{name}: {slot} must be of a floating-point type, but is {spec.dtype.name}")
    if x.dtype is not w.dtype:
        raise DtypeError(f"{name}: Input is {x.dtype.name} but Filter is {w.dtype.name}")
    if geometry.data_format not in ("NCHW", "NHWC"):
        raise OperatorError(f"{name}: data_format must be NCHW or NHWC, not {geometry.data_format!r}")
    check_numbers(name, "strides", geometry.strides, 1)
    check_numbers(name, "dilations", geometry.dilations, 1)
    check_numbers(name, "paddings", geometry.paddings, 0)
    if geometry.groups < 1:
        raise OperatorError(f"{name}: groups must be at least 1, not {geometry.groups}")
    last = geometry.data_format == "NHWC"
    channels = x.shape[3] if last else x.shape[1]
    expected = w.shape[0] if geometry.transposed else w.shape[1] * geometry.groups
    if channels != expected and UNKNOWN not in (channels, expected, w.shape[1]):
        raise ShapeError(
            f"{name}: Input {list(x.shape)} has {channels} channels, but Filter {list(w.shape)} with "
            f"{geometry.groups} groups takes {expected}"
        )
    if w.shape[0] != UNKNOWN and w.shape[0] % geometry.groups:
        raise ShapeError(f"{name}: the {w.shape[0]} filters cannot be divided into {geometry.groups} groups")
    return x.shape[0], _spatial(x.shape, geometry)


def _placed(spec, batch, channels, sizes, geometry):
    last = geometry.data_format == "NHWC"
    return spec.with_shape((batch, *sizes, channels) if last else (batch, channels, *sizes))


def _sizes(name, image, window, geometry):
    """Rows and columns of the convolution of an image of that size."""
    if geometry.padding_algorithm == "SAME":
        return tuple(UNKNOWN if n < 0 else -(-n // s) for n, s in zip(image, geometry.strides, strict=True))
    pads, dilations = geometry.settled(name, window, image, None)
    found = []
    for n, k, s, d, (before, after) in zip(image, window, geometry.strides, dilations, pads, strict=True):
        if UNKNOWN in (n, k):
            found.append(UNKNOWN)
            continue
        size = (n + before + after - d * (k - 1) - 1) // s + 1
        if size < 1:
            raise ShapeError(
                f"{name}: a window of {d * (k - 1) + 1} does not fit into {n} rows or columns padded by "
                f"{before} and {after}",
                hint="use a smaller filter or dilation, or more padding",
            )
        found.append(size)
    return tuple(found)


def _transposed_sizes(name, image, window, geometry, output_padding, output_size):
    """Rows and columns of the image whose convolution is of the size *image*."""
    if output_padding and output_size:
        raise OperatorError(f"{name}: output_padding and output_size exclude each other")
    same = geometry.padding_algorithm == "SAME"
    if same and UNKNOWN in image:
        return tuple(output_size) or (UNKNOWN, UNKNOWN)
    pads, dilations = geometry.settled(name, window, None, image)
    found = []
    for i, (n, k, s, d) in enumerate(zip(image, window, geometry.strides, dilations, strict=True)):
        if UNKNOWN in (n, k):
            found.append(output_size[i] if output_size else UNKNOWN)
            continue
        least = (n - 1) * s - sum(pads[i]) + d * (k - 1) + 1
        size = output_size[i] if output_size else least + (output_padding[i] if output_padding else 0)
        if not least <= size < least + max(s, d):
            raise ShapeError(
                f"{name}: the result can have {least} to {least + max(s, d) - 1} rows or columns in dimension "
                f"{i + 2}, not {size}",
                hint="choose output_size within these bounds, or output_padding smaller than the stride",
            )
        if size < 1:
            raise ShapeError(f"{name}: nothing is left of {n} rows or columns after taking away padding {pads[i]}")
        found.append(size)
    return tuple(found)


def _define(name, type_):
    """``conv2d``, or the same under the name that says that each channel has filters of its own."""

    def kernel(k, input, filter, *, strides, paddings, dilations, groups, padding_algorithm, data_format):
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format)
        x = _first(k, input, g)
        return _back(k, _apply(k.xp, x, filter, _sizes(type_, x.shape[2:], filter.shape[2:], g), g), g)

    kernel.__doc__ = (
        "Convolution of images [batch, channels, height, width] with filters "
        "[filters, channels / groups, height, width]" + (", each channel on its own." if "depthwise" in name else ".")
    )
    made = op(name, "Input Filter -> Output", type=type_, attrs=ATTRS)(kernel)

    @made.infer
    def _(x, w, *, strides, paddings, dilations, groups, padding_algorithm, data_format):
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format)
        batch, image = _checked(type_, x, w, g)
        return _placed(x, batch, w.shape[0], _sizes(type_, image, w.shape[2:], g), g)

    @made.gradient
    def _(k, input, filter, doutput, *, strides, paddings, dilations, groups, padding_algorithm, data_format):
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format)
        return (
            lambda: k.convolve_image(filter, doutput, input, geometry=g),
            lambda: k.convolve_filter(input, doutput, filter, geometry=g),
        )

    return made


conv2d = _define("conv2d", "conv2d")
depthwise_conv2d = _define("depthwise_conv2d", "depthwise_conv2d")


def _define_transposed(name):
    """``conv2d_transpose``, or the same for filters of their own for each channel."""

    def kernel(
        k,
        input,
        filter,
        bias,
        *,
        strides,
        paddings,
        dilations,
        groups,
        padding_algorithm,
        data_format,
        output_padding,
        output_size,
    ):
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format, True)
        y = _first(k, input, g)
        image = _transposed_sizes(name, y.shape[2:], filter.shape[2:], g, output_padding, output_size)
        return _back(k, _image(k.xp, filter, y, image, g), g)

    kernel.__doc__ = (
        "Transposed convolution: every element of the input spreads a filter [channels, filters / groups, height, "
        "width] over the result."
    )
    attrs = {**ATTRS, "output_padding": (), "output_size": ()}
    made = op(name, "Input Filter Bias? -> Output", attrs=attrs)(kernel)

    @made.infer
    def _(
        x,
        w,
        bias,
        *,
        strides,
        paddings,
        dilations,
        groups,
        padding_algorithm,
        data_format,
        output_padding,
        output_size,
    ):
        if bias is not None:
            raise OperatorError(f"{name}: Bias is not read", hint="add the bias with an elementwise_add of its own")
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format, True)
        batch, image = _checked(name, x, w, g)
        sizes = _transposed_sizes(name, image, w.shape[2:], g, output_padding, output_size)
        return _placed(x, batch, w.shape[1] * groups, sizes, g)

    @made.gradient(wrt="Input Filter")
    def _(
        k,
        input,
        filter,
        bias: Like,
        doutput,
        *,
        strides,
        paddings,
        dilations,
        groups,
        padding_algorithm,
        data_format,
    ):
        g = Geometry(strides, paddings, dilations, groups, padding_algorithm, data_format, True)
        return (
            lambda: k.convolve(doutput, filter, input, geometry=g),
            lambda: k.convolve_filter(doutput, input, filter, geometry=g),
        )

    return made


conv2d_transpose = _define_transposed("conv2d_transpose")
depthwise_conv2d_transpose = _define_transposed("depthwise_conv2d_transpose")


@conv2d.samples
def _(make):
    yield make(input=(2, 3, 5, 6), filter=(4, 3, 3, 2))
    yield make(input=(2, 3, 5, 6), filter=(4, 3, 1, 1))
    yield make(input=(2, 3, 7, 6), filter=(4, 3, 3, 2), strides=(2, 1), paddings=(1, 2))
    yield make(input=(1, 2, 5, 6), filter=(3, 2, 2, 3), paddings=(1, 0, 2, 1), dilations=(2, 1))
    yield make(input=(2, 4, 5, 6), filter=(6, 2, 3, 2), groups=2, strides=(1, 2))
    yield make(input=(2, 2, 7, 6), filter=(3, 2, 4, 3), padding_algorithm="SAME", strides=(3, 2))
    yield make(input=(1, 2, 7, 6), filter=(3, 2, 3, 2), padding_algorithm="VALID", dilations=(1, 2))
    yield make(input=(2, 5, 6, 3), filter=(4, 3, 3, 2), paddings=(1, 0), data_format="NHWC")
    yield make(input=(0, 3, 5, 6), filter=(4, 3, 3, 2))


@depthwise_conv2d.samples
def _(make):
    yield make(input=(2, 3, 5, 6), filter=(3, 1, 3, 2), groups=3, paddings=(1, 1))
    yield make(input=(2, 3, 5, 6), filter=(6, 1, 2, 3), groups=3, strides=(2, 1), dilations=(1, 2))


@conv2d_transpose.samples
def _(make):
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 2))
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 2), strides=(2, 3), paddings=(1, 0), output_padding=(1, 2))
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 4), strides=(2, 2), output_size=(10, 13))
    yield make(input=(1, 4, 3, 2), filter=(4, 3, 2, 3), groups=2, dilations=(2, 1), paddings=(1, 0, 0, 1))
    yield make(input=(1, 2, 3, 4), filter=(2, 3, 3, 2), strides=(2, 1), padding_algorithm="SAME")
    yield make(input=(1, 3, 4, 2), filter=(2, 3, 3, 2), strides=(2, 1), data_format="NHWC")


@depthwise_conv2d_transpose.samples
def _(make):
    yield make(input=(2, 3, 4, 5), filter=(3, 1, 3, 2), groups=3, strides=(2, 1))

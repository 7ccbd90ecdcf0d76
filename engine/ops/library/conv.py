"""Convolution over two or three spatial dimensions, and its transpose."""

from __future__ import annotations

from functools import lru_cache

from ...core.attribute_keys import REMEMBERED
from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import product as count_of
from ..opdef import Like, op
from .convolve import Geometry, back, first, product, spatial, spread
from .window import LAYOUTS, SIDES, check_numbers, count_of_windows


def _attrs(name):
    rank = _rank(name)
    return {
        "strides": (1,) * rank,
        "paddings": (0,) * rank,
        "dilations": (1,) * rank,
        "groups": 1,
        "padding_algorithm": "EXPLICIT",
        "data_format": "NCDHW" if name == "conv3d" else "NCHW",  # so it is in Paddle
    }


def _rank(name):
    return 3 if "3d" in name else 2


def _checked(name, x, w, geometry):
    """Batch, channels and spatial sizes of *x*, once everything fits."""
    rank = _rank(name)
    if x.ndim != rank + 2 or w.ndim != rank + 2:
        raise ShapeError(
            f"{name}: Input {list(x.shape)} and Filter {list(w.shape)} must have {rank + 2} dimensions",
            hint=f"an image is [batch, channels, {SIDES[rank]}]; reshape or unsqueeze what is not",
        )
    for slot, spec in (("Input", x), ("Filter", w)):
        if not spec.dtype.is_floating:
            raise DtypeError(f"{name}: {slot} must be of a floating-point type, but is {spec.dtype.name}")
    if x.dtype is not w.dtype:
        raise DtypeError(f"{name}: Input is {x.dtype.name} but Filter is {w.dtype.name}")
    if geometry.data_format not in (*LAYOUTS[rank], "NCHW", "NHWC"):
        raise OperatorError(f"{name}: data_format must be {' or '.join(LAYOUTS[rank])}, not {geometry.data_format!r}")
    check_numbers(name, "strides", geometry.strides, 1, rank)
    check_numbers(name, "dilations", geometry.dilations, 1, rank)
    check_numbers(name, "paddings", geometry.paddings, 0, rank)
    if geometry.groups < 1:
        raise OperatorError(f"{name}: groups must be at least 1, not {geometry.groups}")
    channels = x.shape[-1] if geometry.data_format.endswith("C") else x.shape[1]
    expected = w.shape[0] if geometry.transposed else count_of((w.shape[1], geometry.groups))
    if channels != expected and UNKNOWN not in (channels, expected):
        raise ShapeError(
            f"{name}: Input {list(x.shape)} has {channels} channels, but Filter {list(w.shape)} with "
            f"{geometry.groups} groups takes {expected}"
        )
    if w.shape[0] != UNKNOWN and w.shape[0] % geometry.groups:
        raise ShapeError(f"{name}: the {w.shape[0]} filters cannot be divided into {geometry.groups} groups")
    return x.shape[0], spatial(x.shape, geometry)


def _placed(spec, batch, channels, sizes, geometry):
    last = geometry.data_format.endswith("C")
    return spec.replace_shape((batch, *sizes, channels) if last else (batch, channels, *sizes))


@lru_cache(REMEMBERED)
def _sizes(name, image, window, geometry):
    """The spatial size of the convolution of an image of that size."""
    if geometry.padding_algorithm == "SAME":
        return tuple(UNKNOWN if n < 0 else -(-n // s) for n, s in zip(image, geometry.strides, strict=True))
    pads, dilations = geometry.settled(name, window, image, None)
    counts = []
    for n, k, s, d, (before, after) in zip(image, window, geometry.strides, dilations, pads, strict=True):
        if UNKNOWN in (n, k):
            counts.append(UNKNOWN)
            continue
        counts.append(count_of_windows(name, n, (before, after), d * (k - 1) + 1, s))
    return tuple(counts)


def _transposed_sizes(name, image, window, geometry, output_padding, output_size):
    """The spatial size of the image whose convolution is of the size *image*."""
    if output_padding and output_size:
        raise OperatorError(f"{name}: output_padding and output_size exclude each other")
    same = geometry.padding_algorithm == "SAME"
    if same and UNKNOWN in image:
        return tuple(output_size) or (UNKNOWN,) * len(image)
    pads, dilations = geometry.settled(name, window, None, image)
    sizes = []
    for i, (n, k, s, d) in enumerate(zip(image, window, geometry.strides, dilations, strict=True)):
        if UNKNOWN in (n, k):
            sizes.append(output_size[i] if output_size else UNKNOWN)
            continue
        least = (n - 1) * s - sum(pads[i]) + d * (k - 1) + 1
        size = output_size[i] if output_size else least + (output_padding[i] if output_padding else 0)
        if not least <= size < least + max(s, d):
            raise ShapeError(
                f"{name}: the result can have {least} to {least + max(s, d) - 1} rows or columns in dimension "
                f"{i + 2}, not {size}",
                hint="choose output_size within these bounds, or output_padding smaller than the stride",
            )
        if size < 0:
            raise ShapeError(
                f"{name}: less than nothing is left of {n} rows or columns after taking away padding {pads[i]}"
            )
        sizes.append(size)
    return tuple(sizes)


def _define(name):
    """``conv2d`` or ``conv3d``, or the same under the name that says that each channel has filters of its own."""

    def kernel(k, input, filter, **attrs):
        g = Geometry.of(attrs)
        x = first(k, input, g)
        return back(k, k.primitive(product)(k.xp, x, filter, _sizes(name, x.shape[2:], filter.shape[2:], g), g), g)

    sides = SIDES[_rank(name)]
    kernel.__doc__ = (
        f"Convolution of images [batch, channels, {sides}] with filters "
        f"[filters, channels / groups, {sides}]" + (", each channel on its own." if "depthwise" in name else ".")
    )
    definition = op(name, "Input Filter -> Output", attrs=_attrs(name))(kernel)

    @definition.infer
    def _(x, w, **attrs):
        g = Geometry.of(attrs)
        batch, image = _checked(name, x, w, g)
        return _placed(x, batch, w.shape[0], _sizes(name, image, w.shape[2:], g), g)

    @definition.gradient
    def _(k, input, filter, doutput, **attrs):
        g = Geometry.of(attrs)
        return (
            lambda: k.convolve_image(filter, doutput, input, geometry=g),
            lambda: k.convolve_filter(input, doutput, filter, geometry=g),
        )

    return definition


conv2d = _define("conv2d")
depthwise_conv2d = _define("depthwise_conv2d")
conv3d = _define("conv3d")


def _define_transposed(name):
    """``conv2d_transpose`` or ``conv3d_transpose``, or the same for filters of their own for each channel."""

    def kernel(k, input, filter, bias, *, output_padding, output_size, **attrs):
        g = Geometry.of(attrs, transposed=True)
        y = first(k, input, g)
        image = _transposed_sizes(name, y.shape[2:], filter.shape[2:], g, output_padding, output_size)
        return back(k, k.primitive(spread)(k.xp, filter, y, image, g), g)

    kernel.__doc__ = (
        "Transposed convolution: every element of the input spreads a filter [channels, filters / groups, "
        f"{SIDES[_rank(name)]}] over the result."
    )
    attrs = {**_attrs(name), "output_padding": (), "output_size": ()}
    definition = op(name, "Input Filter Bias? -> Output", attrs=attrs)(kernel)

    @definition.infer
    def _(x, w, bias, *, output_padding, output_size, **attrs):
        if bias is not None:
            raise OperatorError(f"{name}: Bias is not read", hint="add the bias with an elementwise_add of its own")
        g = Geometry.of(attrs, transposed=True)
        batch, image = _checked(name, x, w, g)
        sizes = _transposed_sizes(name, image, w.shape[2:], g, output_padding, output_size)
        return _placed(x, batch, count_of((w.shape[1], g.groups)), sizes, g)

    @definition.gradient(wrt="Input Filter")
    def _(k, input, filter, bias: Like, doutput, **attrs):
        g = Geometry.of(attrs, transposed=True)
        return (
            lambda: k.convolve(doutput, filter, input, geometry=g),
            lambda: k.convolve_filter(doutput, input, filter, geometry=g),
        )

    return definition


conv2d_transpose = _define_transposed("conv2d_transpose")
depthwise_conv2d_transpose = _define_transposed("depthwise_conv2d_transpose")
conv3d_transpose = _define_transposed("conv3d_transpose")


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
    yield make(input=(2, 4, 4, 6), filter=(2, 2, 5, 2), groups=2)
    yield make(input=(2, 3, 4, 6), filter=(2, 3, 3, 2), strides=(3, 2), dilations=(2, 1))


@depthwise_conv2d.samples
def _(make):
    yield make(input=(2, 3, 5, 6), filter=(3, 1, 3, 2), groups=3, paddings=(1, 1))
    yield make(input=(2, 3, 5, 6), filter=(6, 1, 2, 3), groups=3, strides=(2, 1), dilations=(1, 2))
    yield make(input=(2, 3, 5, 6), filter=(3, 1, 6, 2), groups=3)
    yield make(input=(2, 3, 5, 6), filter=(3, 1, 6, 2), groups=3, strides=(2, 1))


@conv2d_transpose.samples
def _(make):
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 2))
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 2), strides=(2, 3), paddings=(1, 0), output_padding=(1, 2))
    yield make(input=(2, 3, 4, 5), filter=(3, 2, 3, 4), strides=(2, 2), output_size=(10, 13))
    yield make(input=(1, 4, 3, 2), filter=(4, 3, 2, 3), groups=2, dilations=(2, 1), paddings=(1, 0, 0, 1))
    yield make(input=(1, 2, 3, 4), filter=(2, 3, 3, 2), strides=(2, 1), padding_algorithm="SAME")
    yield make(input=(1, 3, 4, 2), filter=(2, 3, 3, 2), strides=(2, 1), data_format="NHWC")
    yield make(input=(1, 2, 1, 3), filter=(2, 3, 2, 2), paddings=(1, 1))


@depthwise_conv2d_transpose.samples
def _(make):
    yield make(input=(2, 3, 4, 5), filter=(3, 1, 3, 2), groups=3, strides=(2, 1))


@conv3d.samples
def _(make):
    yield make(input=(2, 3, 4, 3, 5), filter=(4, 3, 2, 3, 2))
    yield make(
        input=(1, 2, 4, 5, 3), filter=(3, 2, 3, 2, 1), strides=(2, 1, 2), paddings=(1, 0, 2), dilations=(1, 2, 1)
    )
    yield make(input=(1, 4, 3, 2, 4), filter=(2, 2, 2, 1, 3), groups=2, paddings=(1, 0, 0, 1, 2, 0))
    yield make(input=(2, 3, 3, 4, 2), filter=(6, 1, 2, 2, 2), groups=3)
    yield make(input=(1, 2, 5, 4, 3), filter=(3, 2, 3, 2, 2), padding_algorithm="SAME", strides=(3, 2, 1))
    yield make(input=(2, 4, 3, 5, 2), filter=(3, 2, 2, 1, 3), paddings=(0, 1, 0), data_format="NDHWC")
    yield make(input=(0, 3, 4, 3, 5), filter=(4, 3, 2, 3, 2))


@conv3d_transpose.samples
def _(make):
    yield make(input=(2, 3, 2, 3, 4), filter=(3, 2, 2, 3, 1))
    yield make(
        input=(1, 3, 2, 3, 2), filter=(3, 2, 3, 2, 2), strides=(2, 3, 1), paddings=(1, 0, 0), output_padding=(1, 2, 0)
    )
    yield make(input=(1, 4, 2, 2, 3), filter=(4, 1, 2, 3, 2), groups=2, dilations=(2, 1, 1), output_size=(4, 4, 4))
    yield make(input=(1, 2, 3, 2, 2), filter=(2, 3, 2, 2, 3), data_format="NDHWC", paddings=(0, 1, 0, 0, 1, 1))

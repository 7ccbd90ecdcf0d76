"""Unrolling the windows of images into columns, and adding them up again."""

from __future__ import annotations

import math

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import product
from ..opdef import Like, Trait, op
from ..writing import add_to
from .convolve import Geometry, Windows
from .window import check_numbers, count_of_windows

WINDOWS = {"kernel_sizes": (1, 1), "strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1)}


def _geometry(name, attrs):
    """Return the positions of the windows; ``paddings`` are those above, to the left, below and to the right."""
    for what, least in (("kernel_sizes", 1), ("strides", 1), ("dilations", 1), ("paddings", 0)):
        if what != "paddings" or len(attrs[what]) != 4:
            check_numbers(name, what, attrs[what], least, 2)
    if len(attrs["paddings"]) != 4 or min(attrs["paddings"]) < 0:
        raise OperatorError(f"{name}: paddings must be 4 numbers that are not negative, not {attrs['paddings']}")
    top, left, bottom, right = attrs["paddings"]
    return Geometry(attrs["strides"], (top, bottom, left, right), attrs["dilations"], 1, "EXPLICIT", "NCHW")


def _counts(name, image, attrs):
    """Return the numbers of windows below and next to each other."""
    geometry = _geometry(name, attrs)
    pads, dilations = geometry.settled(name, attrs["kernel_sizes"], image, None)
    counts = []
    for n, k, s, d, pair in zip(image, attrs["kernel_sizes"], attrs["strides"], dilations, pads, strict=True):
        count = UNKNOWN if n == UNKNOWN else count_of_windows(name, n, pair, d * (k - 1) + 1, s)
        if not count:
            raise ShapeError(f"{name}: a window of {d * (k - 1) + 1} does not fit into {n} padded by {pair}")
        counts.append(count)
    return tuple(counts)


def _windows(k, name, image, attrs):
    return Windows(k.xp, tuple(attrs["kernel_sizes"]), image, _counts(name, image, attrs), _geometry(name, attrs))


@op("unfold", "X -> Y", attrs=WINDOWS)
def unfold(k, x, **attrs):
    """Every window of an image as a column: ``[batch, channels · window, windows]`` (im2col)."""
    windows = _windows(k, "unfold", x.shape[2:], attrs)
    size, count = math.prod(windows.kernel), math.prod(windows.result)
    return windows.view(windows.pad(x)).reshape((x.shape[0], x.shape[1] * size, count))


@unfold.infer
def _(x, **attrs):
    if x.ndim != 4:
        raise ShapeError(f"unfold: X {list(x.shape)} must have 4 dimensions")
    if not x.dtype.is_floating:
        raise DtypeError(f"unfold: X must be of a floating-point type, but is {x.dtype.name}")
    count = product(_counts("unfold", x.shape[2:], attrs))
    return x.replace_shape((x.shape[0], product((x.shape[1], *attrs["kernel_sizes"])), count))


@unfold.gradient
def _(k, x: Like, dy, **attrs):
    return k.refold(dy, x, **attrs)


def _added(k, x, channels, image, name, attrs):
    """The columns of *x* added up where their windows stand in images of that size."""
    windows = _windows(k, name, image, attrs)
    columns = x.reshape((x.shape[0], channels, *windows.kernel, *windows.result))
    out = k.xp.zeros((x.shape[0], channels, *windows.padded), x.dtype)
    for place, elements in windows.places:
        out = add_to(out, (..., *elements), columns[(slice(None), slice(None), *place)])
    return windows.crop(out)


@op("refold", "X Image -> Out", attrs=WINDOWS, trait=Trait.INTERNAL)
def refold(k, x, image, **attrs):
    """``fold`` to the shape of *image*: the transpose of ``unfold``."""
    return _added(k, x, image.shape[1], image.shape[2:], "unfold", attrs)


@refold.gradient(wrt="X")
def _(k, dout, **attrs):
    return k.unfold(dout, **attrs)


@op("fold", "X -> Y", attrs={"output_sizes": (1, 1), **WINDOWS})
def fold(k, x, *, output_sizes, **attrs):
    """Columns added up where their windows stand in an image: the transpose of ``unfold`` (col2im)."""
    channels = x.shape[1] // math.prod(attrs["kernel_sizes"])
    return _added(k, x, channels, tuple(output_sizes), "fold", attrs)


@fold.infer
def _(x, *, output_sizes, **attrs):
    if x.ndim != 3:
        raise ShapeError(f"fold: X {list(x.shape)} must have 3 dimensions")
    check_numbers("fold", "output_sizes", output_sizes, 1, 2)
    count, size = math.prod(_counts("fold", output_sizes, attrs)), math.prod(attrs["kernel_sizes"])
    if x.shape[2] not in (UNKNOWN, count):
        raise ShapeError(
            f"fold: an image of {list(output_sizes)} has {count} windows, but the last dimension of X {list(x.shape)} "
            f"is {x.shape[2]}"
        )
    if x.shape[1] != UNKNOWN and x.shape[1] % size:
        raise ShapeError(f"fold: the {x.shape[1]} rows of X {list(x.shape)} are no multiple of a window's {size}")
    channels = UNKNOWN if x.shape[1] == UNKNOWN else x.shape[1] // size
    return x.replace_shape((x.shape[0], channels, *output_sizes))


@fold.gradient
def _(k, x: Like, dy, *, kernel_sizes, strides, paddings, dilations):
    return k.unfold(dy, kernel_sizes=kernel_sizes, strides=strides, paddings=paddings, dilations=dilations)


@unfold.samples
def _(make):
    yield make(x=(2, 3, 5, 6), kernel_sizes=(3, 2))
    yield make(x=(1, 2, 5, 6), kernel_sizes=(2, 3), strides=(2, 1), paddings=(1, 0, 2, 1), dilations=(2, 1))
    yield make(x=(0, 2, 5, 6), kernel_sizes=(2, 3))
    yield make(x=(2, 3, 4, 6), kernel_sizes=(5, 2), strides=(2, 3))


@fold.samples
def _(make):
    yield make(x=(2, 12, 12), output_sizes=(4, 5), kernel_sizes=(2, 2))
    yield make(x=(2, 12, 35), output_sizes=(4, 5), kernel_sizes=(2, 3), paddings=(1, 2, 1, 2))
    yield make(x=(1, 4, 4), output_sizes=(5, 6), kernel_sizes=(2, 2), strides=(2, 2), dilations=(1, 2))

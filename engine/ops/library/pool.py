"""Pooling over two or three spatial dimensions.

Both kinds of pooling work on one dimension after the other, which takes as many steps as the window has rows and
columns, not as many as it has elements. The maximum goes with the place where it stands; its gradient is added there.
"""

from __future__ import annotations

import itertools
import math

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN, int32
from ..opdef import Like, Trait, op
from ..refusals import may_hold
from ..samples import distinct, ints
from ..writing import add_at, add_to, combine, put
from .window import LAYOUTS, SIDES, Window, check_numbers, line_of, windows_along

LOWEST = -3.4028234663852886e38
"""The maximum of no elements, for every type: Paddle begins with the lowest number of float32."""

INDEXED = ("ksize", "strides", "paddings", "global_pooling", "adaptive", "ceil_mode")
"""The attributes of a pooling that gives places too."""


def _attrs(rank):
    """The attributes of a pooling over that many dimensions."""
    return {
        "pooling_type": "",
        "ksize": (1,) * rank,
        "strides": (1,) * rank,
        "paddings": (0,) * rank,
        "global_pooling": False,
        "adaptive": False,
        "ceil_mode": False,
        "exclusive": True,
        "padding_algorithm": "EXPLICIT",
        "data_format": LAYOUTS[rank][0],
    }


def lines_of(name, image, window):
    return [line_of(name, i, window, image) for i in range(len(image))]


def at(axis, part):
    """An index that takes *part* of dimension *axis*."""
    return (slice(None),) * axis + (part,)


def total(xp, x, axis, line):
    """Sum of each window along one dimension."""
    out = xp.zeros((*x.shape[:axis], len(line.starts), *x.shape[axis + 1 :]), x.dtype)
    for elements, results in line.taps():
        part = x[at(axis, elements)]
        out = add_to(out, at(axis, results), part.sum(axis, keepdims=True) if line.is_whole(elements) else part)
    return out


def spread(xp, x, axis, line):
    """The transpose of :func:`total`: each result added to every element of its window."""
    out = xp.zeros((*x.shape[:axis], line.size, *x.shape[axis + 1 :]), x.dtype)
    for elements, results in line.taps():
        out = add_to(out, at(axis, elements), x[at(axis, results)])
    return out


def _largest(xp, x, axis, line):
    """Maximum of each window along one dimension."""
    out = xp.full((*x.shape[:axis], len(line.starts), *x.shape[axis + 1 :]), -xp.inf, x.dtype)
    for elements, results in line.taps():
        part = x[at(axis, elements)]
        if line.is_whole(elements):
            part = part.max(axis, keepdims=True)
        out = combine(xp.maximum, out, at(axis, results), part)
    return put(out, at(axis, xp.asarray(line.void)), LOWEST) if line.void else out


def _largest_at(xp, x, places, axis, line):
    """Maximum of each window along one dimension, and the smallest of the *places* where it stands.

    NaN is the maximum of its window, as it is for ``maximum``. A window without elements has place 0, which nobody may
    read: see :func:`_without_void`.
    """
    nowhere = xp.iinfo(places.dtype).max
    best = xp.full((*x.shape[:axis], len(line.starts), *x.shape[axis + 1 :]), -xp.inf, x.dtype)
    argmax = xp.full(best.shape, nowhere, places.dtype)
    if line.void:
        argmax = put(argmax, at(axis, xp.asarray(line.void)), 0)
    for elements, results in line.taps():
        part, place = x[at(axis, elements)], places[at(axis, elements)]
        if line.is_whole(elements):
            top = part.max(axis, keepdims=True)
            place = xp.where((part == top) | (part != part), place, nowhere).min(axis, keepdims=True)
            part = top
        before, where = best[at(axis, results)], argmax[at(axis, results)]
        better = (part > before) | ((part == before) & (place < where))
        lost = part != part
        if may_hold(lost):
            better = better | (lost & ((before == before) | (place < where)))
        best = put(best, at(axis, results), xp.where(better, part, before))
        argmax = put(argmax, at(axis, results), xp.where(better, place, where))
    return best, argmax


def _without_void(xp, x, lines):
    """*x*, by windows, with 0 for those that have no elements."""
    if not any(line.void for line in lines):
        return x
    x = x.copy()
    for axis, line in enumerate(lines, 2):
        x = put(x, at(axis, xp.asarray(line.void, int)), 0)
    return x


def _counts(xp, lines, dtype):
    """Return the number by which every window's sum is divided."""
    counts = xp.ones((), dtype)
    for line in lines:
        counts = counts[..., None] * xp.asarray(line.counts, dtype)
    return counts


def first(k, x, window):
    return k.xp.moveaxis(x, -1, 1) if window.data_format.endswith("C") else x


def back(k, x, window):
    return k.xp.moveaxis(x, 1, -1) if window.data_format.endswith("C") else x


def _means(xp, x, lines):
    sums = x
    for axis, line in enumerate(lines, 2):
        sums = total(xp, sums, axis, line)
    return sums / _counts(xp, lines, x.dtype)


def _average(k, x, window):
    x = first(k, x, window)
    return back(k, _means(k.xp, x, lines_of("pool2d", x.shape[2:], window)), window)


def maximum(k, x, window):
    x = first(k, x, window)
    lines = lines_of("pool2d", x.shape[2:], window)
    out = x
    for axis, line in enumerate(lines, 2):
        out = _largest(k.xp, out, axis, line)
    if not x.size:
        out = k.xp.zeros_like(out)  # so does Paddle where the image, and not the window only, has no elements
    return back(k, out, window)


def largest_of(xp, x, lines):
    """The maximum of each window, and where in its image it stands, elements counted row by row.

    It is the first one if there are several.
    """
    grid = xp.arange(math.prod(x.shape[2:]), dtype=xp.int64).reshape(x.shape[2:])
    best, places = x, xp.broadcast_to(grid, x.shape)
    for axis, line in enumerate(lines, 2):
        best, places = _largest_at(xp, best, places, axis, line)
    return best, places


STEPS = 64
"""Elements of a window beyond which maxima are sought along one dimension after the other."""


def _steps(lines):
    """Return whether to go through the elements of the window one by one."""
    return all(line.step for line in lines) and math.prod(line.reach for line in lines) <= STEPS


def _firsts(xp, x, largest, lines):
    """For every element of the window: where it is, its results, and which of those it is the first maximum of."""
    left = xp.ones(largest.shape, bool)
    lost = x != x if may_hold(xp.isnan(largest)) else None
    for pairs in itertools.product(*(list(line.elements()) for line in lines)):
        element, results = (..., *(pair[0] for pair in pairs)), (..., *(pair[1] for pair in pairs))
        same = x[element] == largest[results]
        hit = left[results] & (same if lost is None else same | lost[element])
        left = combine(xp.bitwise_xor, left, results, hit)
        yield element, results, hit


def _where(xp, hit, x):
    """*x* where *hit* holds and 0 elsewhere: by masking its bits, which takes a fraction of the time of ``where``."""
    if x.dtype.itemsize > 8:
        return xp.where(hit, x, xp.zeros((), x.dtype))
    bits = f"i{x.dtype.itemsize}"
    return (x.view(bits) & -hit.astype(bits)).view(x.dtype)


# -- operators of gradient rules --------------------------------------------------------------------------------------


@op("pool_average", "X -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def pool_average(k, x, *, window):
    """Mean of every window, 0 of one without elements: the transpose of ``pool_spread``."""
    x = first(k, x, window)
    lines = lines_of("pool2d", x.shape[2:], window)
    return back(k, _without_void(k.xp, _means(k.xp, x, lines), lines), window)


@op("pool_spread", "X Y -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def pool_spread(k, x, like, *, window):
    """Every element of *x* shared among its window of an image in the shape of *like*: the transpose of a mean."""
    xp = k.xp
    x, image = first(k, x, window), first(k, like, window).shape[2:]
    lines = lines_of("pool2d", image, window)
    out = x / _counts(xp, lines, x.dtype)
    for axis, line in reversed([*enumerate(lines, 2)]):
        out = spread(xp, out, axis, line)
    return back(k, out, window)


@pool_average.gradient
def _(k, x: Like, dout, *, window):
    return k.pool_spread(dout, x, window=window)


@pool_spread.gradient(wrt="X")
def _(k, dout, *, window):
    return k.pool_average(dout, window=window)


@op("put_largest", "X Image Largest -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def put_largest(k, x, image, largest, *, window):
    """Zeros in the shape of *image* with *x* added where the maximum of each window, *largest*, stands first."""
    xp = k.xp
    x, image, largest = (first(k, v, window) for v in (x, image, largest))
    lines = lines_of("pool2d", image.shape[2:], window)
    if not _steps(lines):
        _, places = largest_of(xp, image, lines)
        return back(k, put_places.kernel(k, _without_void(xp, x, lines), places, image), window)
    out = xp.zeros(image.shape, x.dtype)
    for element, results, hit in _firsts(xp, image, largest, lines):
        out = add_to(out, element, _where(xp, hit, x[results]))
    return back(k, out, window)


@op("take_largest", "X Image Largest -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def take_largest(k, x, image, largest, *, window):
    """The elements of *x* where the maxima of *image* stand: the transpose of ``put_largest``."""
    xp = k.xp
    x, image, largest = (first(k, v, window) for v in (x, image, largest))
    lines = lines_of("pool2d", image.shape[2:], window)
    if not _steps(lines):
        _, places = largest_of(xp, image, lines)
        return back(k, _without_void(xp, take_places.kernel(k, x, places), lines), window)
    out = xp.zeros(largest.shape, x.dtype)
    for element, results, hit in _firsts(xp, image, largest, lines):
        out = add_to(out, results, _where(xp, hit, x[element]))
    return back(k, out, window)


@put_largest.gradient(wrt="X")
def _(k, image, largest, dout, *, window):
    return k.take_largest(dout, image, largest, window=window)


@take_largest.gradient(wrt="X")
def _(k, image, largest, dout, *, window):
    return k.put_largest(dout, image, largest, window=window)


@op("take_places", "X Places -> Out", trait=Trait.INTERNAL)
def take_places(k, x, places):
    """The elements of every plane of *x* at *places*."""
    xp = k.xp
    if not x.size:  # places of windows that lie in padding, of which there is no element
        return xp.zeros(places.shape, x.dtype)
    flat = x.reshape((*x.shape[:2], math.prod(x.shape[2:])))
    wanted = places.reshape((*places.shape[:2], math.prod(places.shape[2:]))).astype(xp.int64)
    return xp.take_along_axis(flat, wanted, 2).reshape(places.shape)


@op("put_places", "X Places Y -> Out", trait=Trait.INTERNAL)
def put_places(k, x, places, like):
    """Zeros in the shape of *like* with *x* added at *places* of every plane: the transpose of ``take_places``."""
    xp = k.xp
    if not like.size:
        return xp.zeros(like.shape, x.dtype)
    planes, size = math.prod(like.shape[:2]), math.prod(like.shape[2:])
    out = xp.zeros(planes * size, x.dtype)
    starts = xp.arange(planes, dtype=xp.int64) * size
    elements = places.reshape((planes, math.prod(places.shape[2:]))) + starts[:, None]
    return add_at(out, elements.reshape(-1), x.reshape(-1)).reshape(like.shape)


@take_places.gradient(wrt="X")
def _(k, x: Like, places, dout):
    return k.put_places(dout, places, x)


@put_places.gradient(wrt="X")
def _(k, places, dout):
    return k.take_places(dout, places)


# -- what programs hold -----------------------------------------------------------------------------------------------


def pooled(name, x, window):
    """The spec of the result."""
    rank = 3 if "3d" in name else 2
    if x.ndim != rank + 2:
        raise ShapeError(
            f"{name}: X {list(x.shape)} must have {rank + 2} dimensions",
            hint=f"an image is [batch, channels, {SIDES[rank]}]; reshape or unsqueeze what is not",
        )
    if not x.dtype.is_floating:
        raise DtypeError(f"{name}: X must be of a floating-point type, but is {x.dtype.name}")
    if window.data_format not in (*LAYOUTS[rank], "NCHW"):
        raise OperatorError(f"{name}: data_format must be {' or '.join(LAYOUTS[rank])}, not {window.data_format!r}")
    check_numbers(name, "ksize", window.ksize, 1, rank)
    check_numbers(name, "strides", window.strides, 1, rank)
    check_numbers(name, "paddings", window.paddings, 0, rank)
    last = window.data_format.endswith("C")
    image = x.shape[1:-1] if last else x.shape[2:]
    if window.global_pooling:
        sizes = (1,) * rank
    elif window.adaptive:
        sizes = window.ksize
    else:
        sizes = tuple(_size(name, image, i, window) for i in range(rank))
    return x.replace_shape((x.shape[0], *sizes, x.shape[-1]) if last else (*x.shape[:2], *sizes))


def _size(name, image, index, window):
    if image[index] == UNKNOWN:
        return UNKNOWN
    return windows_along(name, index, window, [max(n, 0) for n in image])


def _define(name, rank):
    """``pool2d`` or ``pool3d``."""

    @op(name, attrs=_attrs(rank))
    def definition(k, x, *, pooling_type, **attrs):
        """Maximum or mean of every window of an image.

        ``adaptive`` makes a result of the size ``ksize``; ``global_pooling`` takes the whole image as the window;
        ``exclusive`` leaves padding out of the mean.
        """
        w = Window.of(attrs)
        return maximum(k, x, w) if pooling_type == "max" else _average(k, x, w)

    @definition.infer
    def _(x, *, pooling_type, **attrs):
        if pooling_type not in ("max", "avg"):
            raise OperatorError(f"{name}: pooling_type must be 'max' or 'avg', not {pooling_type!r}")
        return pooled(name, x, Window.of(attrs))

    @definition.gradient
    def _(k, x, out, dout, *, pooling_type, **attrs):
        w = Window.of(attrs)
        if pooling_type == "avg":
            return k.pool_spread(dout, x, window=w)
        # Which element is the maximum is settled: no gradient passes through the comparison, in whatever order.
        return k.put_largest(dout, x, out, window=w)

    return definition


def _define_indexed(name, rank):
    """``max_pool2d_with_index`` or ``max_pool3d_with_index``."""

    @op(name, "X -> Out Mask", attrs={n: v for n, v in _attrs(rank).items() if n in INDEXED})
    def definition(k, x, **attrs):
        """Maximum of every window of an image, and its place in it, elements counted row by row."""
        w = Window.of(attrs)
        _, places = largest_of(k.xp, x, lines_of(name, x.shape[2:], w))
        return maximum(k, x, w), places.astype(k.xp.int32)

    @definition.infer
    def _(x, **attrs):
        window = Window.of(attrs)
        out = pooled(name, x, window)
        for line in lines_of(name, x.shape[2:], window) if UNKNOWN not in x.shape[2:] else ():
            if line.void:
                raise ShapeError(
                    f"{name}: a window lies outside an image of {line.size} rows or columns, and no maximum has a "
                    "place there",
                    hint="use less padding, ceil_mode=False or return_mask=False",
                )
        return out, out.replace_dtype(int32)

    @definition.gradient
    def _(k, x: Like, mask, dout):
        return k.put_places(dout, mask, x)

    return definition


pool2d = _define("pool2d", 2)
pool3d = _define("pool3d", 3)
max_pool2d_with_index = _define_indexed("max_pool2d_with_index", 2)
max_pool3d_with_index = _define_indexed("max_pool3d_with_index", 3)


@pool2d.samples
def _(make):
    for kind in ("max", "avg"):
        image = distinct((2, 3, 7, 6))
        yield make(x=image, pooling_type=kind, ksize=(2, 3), strides=(2, 3))
        yield make(x=image, pooling_type=kind, ksize=(3, 2), strides=(2, 1), paddings=(1, 1))
        yield make(x=image, pooling_type=kind, ksize=(3, 2), strides=(2, 2), paddings=(1, 0, 0, 1), exclusive=False)
        yield make(x=image, pooling_type=kind, ksize=(2, 4), strides=(2, 3), ceil_mode=True, exclusive=False)
        yield make(x=image, pooling_type=kind, ksize=(3, 4), adaptive=True)
        yield make(x=image, pooling_type=kind, ksize=(1, 1), adaptive=True)
        yield make(x=image, pooling_type=kind, global_pooling=True)
        yield make(x=image, pooling_type=kind, ksize=(3, 2), strides=(2, 3), padding_algorithm="SAME")
        yield make(x=image, pooling_type=kind, ksize=(3, 2), paddings=(1, 1), padding_algorithm="VALID")
        yield make(x=distinct((2, 5, 4, 3)), pooling_type=kind, ksize=(3, 2), strides=(2, 1), data_format="NHWC")
        yield make(x=(0, 3, 5, 4), pooling_type=kind, ksize=(2, 2), strides=(2, 2))
        yield make(x=image, pooling_type=kind, ksize=(8, 2))
        yield make(x=image, pooling_type=kind, ksize=(8, 2), strides=(2, 1))
        # Beside the lowest number of float32, the maximum in the padding, no difference is seen.
        beyond = {"pooling_type": kind, "ksize": (2, 2), "paddings": (1, 1), "ceil_mode": True, "smooth": kind == "avg"}
        yield make(x=distinct((2, 3, 5, 5)), strides=(4, 4), **beyond)
        yield make(x=distinct((1, 2, 23, 4)), strides=(3, 5), exclusive=False, **beyond)
    many = ints((2, 3, 5, 4), 3, dtype="float64")
    yield make(x=many, pooling_type="max", ksize=(3, 2), strides=(2, 1), smooth=False)


@max_pool2d_with_index.samples
def _(make):
    image = distinct((2, 3, 7, 6))
    yield make(x=image, ksize=(2, 3), strides=(2, 3))
    yield make(x=image, ksize=(3, 2), strides=(2, 1), paddings=(1, 1))
    yield make(x=image, ksize=(2, 4), strides=(2, 3), ceil_mode=True)
    yield make(x=image, ksize=(3, 4), adaptive=True)
    yield make(x=image, global_pooling=True)
    yield make(x=ints((2, 3, 5, 4), 3, dtype="float64"), ksize=(3, 2), strides=(2, 1), smooth=False)


@pool3d.samples
def _(make):
    for kind in ("max", "avg"):
        image = distinct((2, 2, 4, 5, 3))
        yield make(x=image, pooling_type=kind, ksize=(2, 3, 1), strides=(2, 1, 1))
        yield make(x=image, pooling_type=kind, ksize=(3, 2, 2), strides=(1, 2, 2), paddings=(1, 0, 1), exclusive=False)
        yield make(x=image, pooling_type=kind, ksize=(2, 2, 3), strides=(3, 2, 2), ceil_mode=True)
        yield make(x=image, pooling_type=kind, ksize=(3, 2, 2), adaptive=True)
        yield make(x=image, pooling_type=kind, global_pooling=True)
        yield make(x=distinct((1, 4, 3, 5, 2)), pooling_type=kind, ksize=(2, 3, 2), data_format="NDHWC")
        yield make(x=(0, 2, 3, 4, 2), pooling_type=kind, ksize=(2, 2, 2), strides=(2, 2, 2))
        yield make(x=distinct((1, 1, 9, 8, 7)), pooling_type=kind, ksize=(5, 5, 5), strides=(4, 3, 2))


@max_pool3d_with_index.samples
def _(make):
    image = distinct((2, 2, 4, 5, 3))
    yield make(x=image, ksize=(2, 3, 1), strides=(2, 1, 1))
    yield make(x=image, ksize=(3, 2, 2), strides=(1, 2, 2), paddings=(1, 0, 1))
    yield make(x=image, ksize=(3, 2, 2), adaptive=True)
    yield make(x=ints((1, 2, 3, 4, 3), 3, dtype="float64"), ksize=(2, 2, 2), strides=(1, 2, 1), smooth=False)

"""Pooling over regions of interest: boxes ``x1 y1 x2 y2``, so many of them for each image of the batch.

The results are linear in the images, but for the maximum, whose places are kept. Each of them is a product with a
matrix for the rows and one for the columns of a region.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..refusals import refuse
from ..samples import distinct, exactly
from ..writing import add_at, put
from .shape_tensors import known

SIZES = {"pooled_height": 1, "pooled_width": 1, "spatial_scale": 1.0}
ALIGN = {**SIZES, "sampling_ratio": -1, "aligned": False}
CHANNELS = {"output_channels": 1, **SIZES}


def images_of(xp, rois, counts, batch):
    """The image that each region is of."""
    if counts is None:
        if batch != 1:
            raise OperatorError(
                f"regions of {batch} images came without RoisNum.", hint="say how many regions each image has"
            )
        return xp.zeros(rois.shape[0], xp.int64)
    numbers = counts.reshape(-1)
    error = partial(_miscounted, batch, rois.shape[0])
    if numbers.size != batch:
        raise error(numbers)
    refuse((numbers.sum() != rois.shape[0]) | (numbers < 0).any(), error, numbers)
    # A region is of the first image up to which there are more regions than before it.
    return xp.searchsorted(xp.cumsum(numbers), xp.arange(rois.shape[0]), side="right")


def _miscounted(batch, regions, numbers):
    return OperatorError(
        f"RoisNum {numbers.tolist()} must have a number for each of {batch} images, {regions} regions in all"
    )


def _shape_rule(name):
    def infer(x, rois, counts, *, pooled_height, pooled_width):
        expect_regions(name, x, rois, pooled_height, pooled_width)
        return x.replace_shape((rois.shape[0], x.shape[1], pooled_height, pooled_width))

    return infer


def expect_regions(name, x, rois, height, width):
    """Raise :class:`ShapeError` unless *x* holds images and *rois* boxes."""
    if x.ndim != 4 or rois.ndim != 2 or rois.shape[1] not in (4, UNKNOWN):
        raise ShapeError(f"{name}: X {list(x.shape)} must hold images, and ROIs {list(rois.shape)} boxes of 4 numbers")
    if height < 1 or width < 1:
        raise ShapeError(f"{name}: the pooled size must be positive, but is {height} by {width}")


# -- sampled and averaged --------------------------------------------------------------------------------------------


def _interpolated(xp, low, high, size, bins, count):
    """For each bin of regions from *low* to *high*: the share that each of *size* elements has of its mean.

    Args:
        count: of how many points in each bin the mean is.
    """
    low, high = low[:, None], high[:, None]
    finite = xp.isfinite(high - low)[..., None]
    step = (high - low) / bins
    shares = xp.zeros((len(low), bins, size))
    if not count:
        return xp.where(finite, shares, xp.nan)
    places = xp.arange(bins * count)
    at = low + (places // count) * step + (places % count + 0.5) * step / count
    inside = (at >= -1.0) & (at <= size)
    at = xp.where(finite[..., 0], xp.clip(at, 0.0, size - 1.0), 0.0)
    first = xp.minimum(at.astype(xp.int64), size - 1)
    second = xp.minimum(first + 1, size - 1)
    part = at - first
    regions, rows = xp.arange(len(low))[:, None], places // count
    shares = add_at(shares, (regions, rows, first), inside * (1.0 - part) / count)
    shares = add_at(shares, (regions, rows, second), inside * part / count)
    return xp.where(finite, shares, xp.nan)


def _aligned_shares(xp, x, rois, attrs):
    """The matrices of all regions: for their rows and their columns."""
    shift = 0.5 if attrs["aligned"] else 0.0
    scaled = rois.astype(xp.float64) * attrs["spatial_scale"] - shift
    low, high = scaled[:, :2], scaled[:, 2:]
    if not attrs["aligned"]:
        # Constants stay what they are while a program is compiled: from them the numbers of points are read.
        high = (np if known(high) else xp).maximum(high, low + 1.0)
    rows = _shares(xp, low[:, 1], high[:, 1], x.shape[2], attrs["pooled_height"], attrs["sampling_ratio"])
    columns = _shares(xp, low[:, 0], high[:, 0], x.shape[3], attrs["pooled_width"], attrs["sampling_ratio"])
    return rows.astype(x.dtype), columns.astype(x.dtype)


def _shares(xp, low, high, size, bins, sampling):
    """As :func:`_interpolated`; where *sampling* does not say how many points there are, as many as a bin is long."""
    if sampling > 0:
        return _interpolated(xp, low, high, size, bins, sampling)
    shares = xp.zeros((len(low), bins, size))
    for i, length in enumerate(((high - low) / bins).tolist()):
        count = max(math.ceil(length), 0) if math.isfinite(length) else 1
        shares = put(shares, i, _interpolated(xp, low[i : i + 1], high[i : i + 1], size, bins, count)[0])
    return shares


def _reads_regions(attrs):
    return "" if attrs["sampling_ratio"] > 0 else "ROIs"


@op("roi_align", "X ROIs RoisNum? -> Out", attrs=ALIGN, sized=_reads_regions)
def roi_align(k, x, rois, counts, **attrs):
    """Regions of images in one size: the mean of points that lie evenly in each bin, interpolated between pixels."""
    rows, columns = _aligned_shares(k.xp, x, rois, attrs)
    images = x[images_of(k.xp, rois, counts, x.shape[0])]
    return k.xp.einsum("rph,rchw,rqw->rcpq", rows, images, columns, optimize=True)


@roi_align.gradient(wrt="X")
def _(k, x: Like, rois, counts, dout, **attrs):
    return k.roi_unalign(dout, x, rois, counts, **attrs)


@op("roi_unalign", "X Y ROIs RoisNum? -> Out", attrs=ALIGN, trait=Trait.INTERNAL)
def roi_unalign(k, x, like, rois, counts, **attrs):
    """The transpose of ``roi_align``, for images like *Y*."""
    rows, columns = _aligned_shares(k.xp, like, rois, attrs)
    return _added(
        k.xp,
        k.xp.einsum("rph,rcpq,rqw->rchw", rows.astype(x.dtype), x, columns.astype(x.dtype), optimize=True),
        images_of(k.xp, rois, counts, like.shape[0]),
        like,
    )


def _added(xp, parts, images, like):
    """Zeros like *like* with what each region gives added to its image."""
    return add_at(xp.zeros(like.shape, parts.dtype), images, parts)


@roi_unalign.gradient(wrt="X")
def _(k, rois, counts, dout, **attrs):
    return k.roi_align(dout, rois, counts, **attrs)


roi_align.infer(_shape_rule("roi_align"))


# -- the maximum -----------------------------------------------------------------------------------------------------


def rounded(xp, x):
    """The nearest whole numbers, halves away from zero."""
    return xp.sign(x) * xp.floor(xp.abs(x) + 0.5)


def _bounds(xp, start, length, bins, size):
    """Return where each bin of a region begins and ends."""
    first = xp.floor(xp.arange(bins) * (length / bins)) + start
    last = xp.ceil((xp.arange(bins) + 1) * (length / bins)) + start
    return [xp.clip(v, 0, size).astype(xp.int64).tolist() for v in (first, last)]


@op("roi_pool", "X ROIs RoisNum? -> Out Argmax", attrs=SIZES)
def roi_pool(k, x, rois, counts, *, pooled_height, pooled_width, spatial_scale):
    """Regions of images in one size: the maximum of each bin, and its place; 0 and -1 for a bin of no pixels."""
    xp = k.xp
    shape = (rois.shape[0], x.shape[1], pooled_height, pooled_width)
    out, places = xp.zeros(shape, x.dtype), xp.full(shape, -1, xp.int64)
    corners = rounded(xp, rois * rois.dtype.type(spatial_scale)).tolist()
    width = x.shape[3]
    for i, image in enumerate(images_of(xp, rois, counts, x.shape[0]).tolist()):
        left, top, right, bottom = corners[i]
        if not math.isfinite(left + top + right + bottom):
            out[i] = xp.nan
            continue
        rows = _bounds(xp, top, max(bottom - top + 1, 1), pooled_height, x.shape[2])
        columns = _bounds(xp, left, max(right - left + 1, 1), pooled_width, width)
        for p, (y1, y2) in enumerate(zip(*rows, strict=True)):
            for q, (x1, x2) in enumerate(zip(*columns, strict=True)):
                if y1 >= y2 or x1 >= x2:
                    continue
                part = x[image, :, y1:y2, x1:x2].reshape(x.shape[1], -1)
                best = xp.argmax(part, axis=1)
                out[i, :, p, q] = part[xp.arange(len(part)), best]
                places[i, :, p, q] = (best // (x2 - x1) + y1) * width + best % (x2 - x1) + x1
    return out, places


@roi_pool.infer
def _(x, rois, counts, *, pooled_height, pooled_width):
    out = _shape_rule("roi_pool")(x, rois, counts, pooled_height=pooled_height, pooled_width=pooled_width)
    return out, out.replace_dtype("int64")


@roi_pool.gradient(wrt="X")
def _(k, x: Like, rois, counts, argmax, dout):
    return k.put_regions(dout, x, rois, counts, argmax)


@op("put_regions", "X Y ROIs RoisNum? Argmax -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def put_regions(k, x, like, rois, counts, argmax):
    """Zeros like *Y* with *X* added where the maxima of ``roi_pool`` stand."""
    xp = k.xp
    images = images_of(xp, rois, counts, like.shape[0])
    out = xp.zeros((*like.shape[:2], like.shape[2] * like.shape[3]), x.dtype)
    index = _places(xp, images, argmax)
    return add_at(out, index, xp.where(argmax < 0, 0, x)).reshape(like.shape)


def _places(xp, images, argmax):
    channels = xp.arange(argmax.shape[1]).reshape(1, -1, 1, 1)
    return images.reshape(-1, 1, 1, 1), channels, xp.maximum(argmax, 0)


@put_regions.gradient(wrt="X")
def _(k, rois, counts, argmax, dout):
    return k.take_regions(dout, rois, counts, argmax)


@op("take_regions", "X ROIs RoisNum? Argmax -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def take_regions(k, x, rois, counts, argmax):
    """Elements at the places of the maxima of ``roi_pool``."""
    xp = k.xp
    images = images_of(xp, rois, counts, x.shape[0])
    flat = x.reshape(*x.shape[:2], -1)
    return xp.where(argmax < 0, xp.zeros((), x.dtype), flat[_places(xp, images, argmax)])


@take_regions.gradient(wrt="X")
def _(k, x: Like, rois, counts, argmax, dout):
    return k.put_regions(dout, x, rois, counts, argmax)


# -- a channel for each bin ------------------------------------------------------------------------------------------


def _bin_shares(xp, x, rois, attrs):
    """The matrices of all regions: 1 over the number of rows or columns in a bin, and 0 outside of it."""
    scale = attrs["spatial_scale"]
    corners = rounded(xp, rois)
    low, high = corners[:, :2] * scale, (corners[:, 2:] + 1.0) * scale
    shares = []
    for axis, bins, size in ((1, attrs["pooled_height"], x.shape[2]), (0, attrs["pooled_width"], x.shape[3])):
        start = low[:, axis, None]
        step = xp.maximum(high[:, axis, None] - start, 0.1) / bins
        first = xp.clip(xp.floor(xp.arange(bins) * step + start), 0, size)[..., None]
        last = xp.clip(xp.ceil((xp.arange(bins) + 1) * step + start), 0, size)[..., None]
        at = xp.arange(size)
        inside = ((at >= first) & (at < last)) / xp.maximum(last - first, 1)
        shares.append(xp.where(xp.isfinite(step)[..., None], inside, xp.nan).astype(x.dtype))
    return shares


def _by_bin(x, attrs):
    """Images whose channels are told apart by the bin that they are for."""
    return x.reshape(x.shape[0], attrs["output_channels"], attrs["pooled_height"], attrs["pooled_width"], *x.shape[2:])


@op("psroi_pool", "X ROIs RoisNum? -> Out", attrs=CHANNELS)
def psroi_pool(k, x, rois, counts, **attrs):
    """Regions of images in one size: each bin is the mean of a channel of its own."""
    rows, columns = _bin_shares(k.xp, x, rois, attrs)
    images = _by_bin(x, attrs)[images_of(k.xp, rois, counts, x.shape[0])]
    return k.xp.einsum("rph,rcpqhw,rqw->rcpq", rows, images, columns, optimize=True)


@psroi_pool.infer
def _(x, rois, counts, *, output_channels, pooled_height, pooled_width):
    expect_regions("psroi_pool", x, rois, pooled_height, pooled_width)
    if x.shape[1] not in (UNKNOWN, output_channels * pooled_height * pooled_width):
        raise ShapeError(
            f"psroi_pool: X has {x.shape[1]} channels, which are not {output_channels} for each of "
            f"{pooled_height} by {pooled_width} bins"
        )
    return x.replace_shape((rois.shape[0], output_channels, pooled_height, pooled_width))


@psroi_pool.gradient(wrt="X")
def _(k, x: Like, rois, counts, dout, **attrs):
    return k.psroi_unpool(dout, x, rois, counts, **attrs)


@op("psroi_unpool", "X Y ROIs RoisNum? -> Out", attrs=CHANNELS, trait=Trait.INTERNAL)
def psroi_unpool(k, x, like, rois, counts, **attrs):
    """The transpose of ``psroi_pool``, for images like *Y*."""
    rows, columns = (v.astype(x.dtype) for v in _bin_shares(k.xp, like, rois, attrs))
    parts = k.xp.einsum("rph,rcpq,rqw->rcpqhw", rows, x, columns, optimize=True)
    images = images_of(k.xp, rois, counts, like.shape[0])
    return _added(k.xp, parts.reshape(len(parts), *like.shape[1:]), images, like)


@psroi_unpool.gradient(wrt="X")
def _(k, rois, counts, dout, **attrs):
    return k.psroi_pool(dout, rois, counts, **attrs)


BOXES = [[1.0, 0.5, 6.2, 4.9], [0.0, 2.0, 3.4, 7.8], [-2.0, 1.0, 9.0, 3.3]]


@roi_align.samples
def _(make):
    boxes, counts = exactly(BOXES, "float64"), exactly([2, 1], "int32")
    sizes = {"pooled_height": 3, "pooled_width": 2}
    yield make(x=(2, 2, 8, 7), rois=boxes, counts=counts, **sizes, smooth=False)
    yield make(x=(2, 2, 8, 7), rois=boxes, counts=counts, **sizes, spatial_scale=0.5, aligned=True, smooth=False)
    yield make(x=(1, 2, 8, 7), rois=boxes, counts=exactly([3], "int32"), **sizes, sampling_ratio=2, smooth=False)


@roi_pool.samples
def _(make):
    boxes, counts = exactly(BOXES, "float64"), exactly([2, 1], "int32")
    yield make(x=distinct((2, 2, 8, 7)), rois=boxes, counts=counts, pooled_height=3, pooled_width=2, smooth=False)
    yield make(x=distinct((2, 1, 4, 4)), rois=boxes, counts=counts, pooled_width=2, spatial_scale=0.5, smooth=False)


@psroi_pool.samples
def _(make):
    boxes, counts = exactly(BOXES, "float64"), exactly([2, 1], "int32")
    sizes = {"pooled_height": 3, "pooled_width": 2, "output_channels": 2}
    yield make(x=(2, 12, 8, 7), rois=boxes, counts=counts, **sizes, smooth=False)
    yield make(x=(2, 12, 4, 4), rois=boxes, counts=counts, **sizes, spatial_scale=0.5, smooth=False)

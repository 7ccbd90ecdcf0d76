"""Adding a border, and enlarging or shrinking by repetition."""

from __future__ import annotations

from ...errors import ShapeError, UnsupportedError
from ...spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import exactly
from .shape import whole, wholes

# -- pad3d ------------------------------------------------------------------------------------------------------------

PAD = {"paddings": (), "mode": "constant", "value": 0.0, "data_format": "NCDHW"}
MODES = ("constant", "reflect", "replicate", "circular")


def _sides(paddings, data_format):
    """(before, after) for each of the five dimensions; *paddings* begins with the last one, the width."""
    left, right, top, bottom, front, back = paddings
    inner = [(front, back), (top, bottom), (left, right)]
    return [(0, 0), *inner, (0, 0)] if data_format == "NDHWC" else [(0, 0), (0, 0), *inner]


def _source(k, size, before, after, mode):
    """For each place of the padded dimension the place that its value comes from."""
    places = k.xp.arange(-before, size + after)
    if mode == "replicate":
        return k.xp.clip(places, 0, size - 1)
    if mode == "circular":
        return places % size
    # Reflection does not repeat the edge: it runs up and down with period 2·(size - 1).
    period = max(2 * (size - 1), 1)
    places = places % period
    return k.xp.where(places < size, places, period - places)


def _center(shape, sides):
    return tuple(slice(before, before + n) for n, (before, _) in zip(shape, sides, strict=True))


def _given(paddings, tensor):
    return paddings if tensor is None else whole(tensor)


@op("pad3d", "X Paddings? -> Out", attrs=PAD)
def pad3d(k, x, paddings_tensor, *, paddings, mode, value, data_format):
    """Five dimensions with a border around the inner three: constant, mirrored, repeated or wrapped around."""
    sides = _sides(_given(paddings, paddings_tensor), data_format)
    if mode == "constant":
        out = k.xp.full([n + b + a for n, (b, a) in zip(x.shape, sides, strict=True)], value, x.dtype)
        out[_center(x.shape, sides)] = x
        return out
    for axis, (before, after) in enumerate(sides):
        if before or after:
            x = k.xp.take(x, _source(k, x.shape[axis], before, after, mode), axis=axis)
    return x


@pad3d.infer
def _(x, paddings_tensor, *, paddings, mode, data_format):
    if x.ndim != 5:
        raise ShapeError(f"pad3d: X {list(x.shape)} must have 5 dimensions")
    if mode not in MODES:
        raise UnsupportedError(f"pad3d: mode {mode!r} is none of {', '.join(MODES)}")
    if paddings_tensor is not None:
        inner = range(1, 4) if data_format == "NDHWC" else range(2, 5)
        return x.with_shape(UNKNOWN if i in inner else d for i, d in enumerate(x.shape))
    if len(paddings) != 6 or min(paddings) < 0:
        raise ShapeError(f"pad3d: paddings {list(paddings)} must be six numbers that are not negative")
    sides = _sides(paddings, data_format)
    for d, pair in zip(x.shape, sides, strict=True):
        if d == UNKNOWN:
            continue
        if mode == "reflect" and max(pair) >= max(d, 1):
            raise ShapeError(f"pad3d: reflection of {max(pair)} elements needs a dimension larger than {d}")
        if mode != "constant" and max(pair) and not d:
            raise ShapeError(f"pad3d: X {list(x.shape)} has no elements to {mode}")
    return x.with_shape(UNKNOWN if d == UNKNOWN else d + b + a for d, (b, a) in zip(x.shape, sides, strict=True))


@pad3d.gradient(wrt="X")
def _(k, x: Like, paddings_tensor, dout, *, paddings, mode, data_format):
    return k.unpad3d(dout, x, paddings_tensor, paddings=paddings, mode=mode, data_format=data_format)


@op("unpad3d", "X Y Paddings? -> Out", attrs=PAD, trait=Trait.INTERNAL)
def unpad3d(k, x, like, paddings_tensor, *, paddings, mode, data_format):
    """Sum of the copies that padding made of each element of *like*: the transpose of ``pad3d``."""
    sides = _sides(_given(paddings, paddings_tensor), data_format)
    if mode == "constant":
        return x[_center(like.shape, sides)]
    for axis, (before, after) in reversed(list(enumerate(sides))):
        if before or after:
            size = like.shape[axis]
            out = k.xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
            source = _source(k, size, before, after, mode)
            k.xp.add.at(k.xp.moveaxis(out, axis, 0), source, k.xp.moveaxis(x, axis, 0))
            x = out
    return x


@unpad3d.gradient(wrt="X")
def _(k, paddings_tensor, dout, *, paddings, mode, data_format):
    return k.pad3d(dout, paddings_tensor, paddings=paddings, mode=mode, data_format=data_format)


# -- pad --------------------------------------------------------------------------------------------------------------


def _pairs(paddings):
    return list(zip(paddings[::2], paddings[1::2], strict=True))


@op("pad", attrs={"paddings": (), "pad_value": 0.0})
def pad(k, x, *, paddings, pad_value):
    """A border of one value around all dimensions: (before, after) of the first, of the second, …"""
    return k.xp.pad(x, _pairs(paddings), constant_values=pad_value) if x.ndim else x


@pad.infer
def _(x, *, paddings):
    if len(paddings) != 2 * x.ndim or min(paddings, default=0) < 0:
        raise ShapeError(f"pad: paddings {list(paddings)} must be two numbers for each dimension of X {list(x.shape)}")
    return x.with_shape(
        UNKNOWN if d == UNKNOWN else d + b + a for d, (b, a) in zip(x.shape, _pairs(paddings), strict=True)
    )


@pad.gradient
def _(k, dout, *, paddings):
    return k.unpad(dout, paddings=paddings)


@op("unpad", attrs={"paddings": ()}, trait=Trait.INTERNAL)
def unpad(k, x, *, paddings):
    """*x* without its border."""
    return x[tuple(slice(b, n - a) for n, (b, a) in zip(x.shape, _pairs(paddings), strict=True))]


@unpad.gradient
def _(k, dout, *, paddings):
    return k.pad(dout, paddings=paddings)


# -- nearest_interp_v2 ------------------------------------------------------------------------------------------------

RESIZE = {
    "data_layout": "NCHW",
    "out_d": -1,
    "out_h": -1,
    "out_w": -1,
    "scale": (),
    "interp_method": "nearest",
    "align_corners": False,
    "align_mode": 1,
}
SIZES = "OutSize? SizeTensor* Scale?"


def _inner(ndim, data_layout):
    """The axes that are resized."""
    return range(1, ndim - 1) if data_layout in ("NHWC", "NDHWC") else range(2, ndim)


def _sizes(shape, axes, attrs, out_size, size_list, scale_tensor):
    """New size of each of *axes*, and the old one over the new one."""
    out_d, out_h, out_w, scale = attrs
    sizes = [out_d, out_h, out_w][-len(axes) :]
    scales = list(scale)
    if size_list:
        sizes, scales = list(wholes(size_list)), []
    elif out_size is not None:
        sizes, scales = list(whole(out_size)), []
    elif scale_tensor is not None:
        scales = [float(s) for s in scale_tensor.reshape(-1)]
    if scales:
        scales = scales * len(axes) if len(scales) == 1 else scales
        sizes = [UNKNOWN if shape[a] == UNKNOWN else int(shape[a] * s) for a, s in zip(axes, scales, strict=True)]
    return sizes, scales


def _nearest(k, size, new, scale, align_corners):
    """For each place of the resized dimension the place that its value comes from."""
    places = k.xp.arange(new)
    if align_corners:
        ratio = (size - 1) / (new - 1) if new > 1 else 0.0
        return k.xp.minimum((places * ratio + 0.5).astype("int64"), size - 1)
    ratio = 1 / scale if scale else size / new
    return k.xp.minimum(k.xp.floor(places * ratio).astype("int64"), size - 1)


def _sources(k, shape, data_layout, align_corners, attrs, out_size, size_list, scale_tensor):
    """(axis, source places) for each dimension that is resized."""
    axes = _inner(len(shape), data_layout)
    sizes, scales = _sizes(shape, axes, attrs, out_size, size_list, scale_tensor)
    for i, (axis, new) in enumerate(zip(axes, sizes, strict=True)):
        yield axis, _nearest(k, shape[axis], new, scales[i] if scales else 0.0, align_corners)


@op("nearest", f"X {SIZES} -> Out", type="nearest_interp_v2", attrs=RESIZE)
def nearest(k, x, out_size, size_list, scale_tensor, *, data_layout, out_d, out_h, out_w, scale, align_corners):
    """The inner dimensions resized; each element is the nearest one of *x*."""
    attrs = out_d, out_h, out_w, scale
    for axis, source in _sources(k, x.shape, data_layout, align_corners, attrs, out_size, size_list, scale_tensor):
        x = k.xp.take(x, source, axis=axis)
    return x


@nearest.infer
def _(x, out_size, size_list, scale_tensor, *, data_layout, out_d, out_h, out_w, scale):
    if x.ndim not in (3, 4, 5):
        raise ShapeError(f"nearest_interp_v2: X {list(x.shape)} must have 3, 4 or 5 dimensions")
    axes = _inner(x.ndim, data_layout)
    sizes, _ = _sizes(x.shape, axes, (out_d, out_h, out_w, scale), None, (), None)
    if out_size is not None or scale_tensor is not None:
        sizes = [UNKNOWN] * len(axes)
    elif not size_list and any(n == 0 or (n < 0 and x.shape[a] != UNKNOWN) for a, n in zip(axes, sizes, strict=True)):
        raise ShapeError(f"nearest_interp_v2: X {list(x.shape)} cannot be resized to {sizes}")
    dims = dict(zip(axes, sizes, strict=True))
    return x.with_shape(dims.get(i, d) for i, d in enumerate(x.shape))


@nearest.gradient(wrt="X")
def _(
    k,
    x: Like,
    out_size,
    size_list,
    scale_tensor,
    dout,
    *,
    data_layout,
    out_d,
    out_h,
    out_w,
    scale,
    align_corners,
):
    return k.unnearest(
        dout,
        x,
        out_size,
        size_list,
        scale_tensor,
        data_layout=data_layout,
        out_d=out_d,
        out_h=out_h,
        out_w=out_w,
        scale=scale,
        align_corners=align_corners,
    )


@op("unnearest", f"X Y {SIZES} -> Out", attrs=RESIZE, trait=Trait.INTERNAL)
def unnearest(k, x, like, out_size, size_list, scale_tensor, *, data_layout, out_d, out_h, out_w, scale, align_corners):
    """Sum of the copies that resizing made of each element of *like*: the transpose of ``nearest``."""
    attrs = out_d, out_h, out_w, scale
    for axis, source in _sources(k, like.shape, data_layout, align_corners, attrs, out_size, size_list, scale_tensor):
        out = k.xp.zeros((*x.shape[:axis], like.shape[axis], *x.shape[axis + 1 :]), x.dtype)
        k.xp.add.at(k.xp.moveaxis(out, axis, 0), source, k.xp.moveaxis(x, axis, 0))
        x = out
    return x


@unnearest.gradient(wrt="X")
def _(k, out_size, size_list, scale_tensor, dout, *, data_layout, out_d, out_h, out_w, scale, align_corners):
    return k.nearest(
        dout,
        out_size,
        size_list,
        scale_tensor,
        data_layout=data_layout,
        out_d=out_d,
        out_h=out_h,
        out_w=out_w,
        scale=scale,
        align_corners=align_corners,
    )


# -- samples ----------------------------------------------------------------------------------------------------------


@pad3d.samples
def _(make):
    yield make(x=(2, 3, 4, 5, 2), paddings=(1, 0, 2, 1, 0, 3), value=1.5)
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 3, 1, 2), mode="reflect")
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 5, 1, 2), mode="replicate", data_format="NDHWC")
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 3, 1, 2), mode="circular")
    yield make(x=(1, 1, 2, 1, 3), paddings_tensor=exactly([1, 2, 0, 0, 0, 1], "int32"))
    yield make(x=(0, 1, 2, 1, 3), paddings=(1, 1, 1, 1, 1, 1))


@pad.samples
def _(make):
    yield make(x=(2, 3), paddings=(1, 0, 2, 3), pad_value=0.5)
    yield make(x=(), paddings=())
    yield make(x=(0, 2), paddings=(1, 1, 0, 0))


@nearest.samples
def _(make):
    plain: dict[str, list[object]] = {"size_list": []}
    yield make(x=(2, 3, 4, 5), **plain, scale=(2.0, 3.0))
    yield make(x=(1, 2, 4, 5), **plain, out_h=6, out_w=3)
    yield make(x=(1, 4, 5, 2), **plain, out_h=7, out_w=3, data_layout="NHWC", align_corners=True)
    yield make(x=(1, 2, 2, 3, 2), **plain, out_d=3, out_h=2, out_w=5, data_layout="NCDHW")
    yield make(x=(1, 2, 4), **plain, out_w=6, data_layout="NCW")
    yield make(x=(1, 2, 3, 4), **plain, scale_tensor=exactly([2], "int32"))
    yield make(x=(1, 2, 3, 4), **plain, out_size=exactly([2, 5], "int32"))
    yield make(x=(1, 2, 3, 4), size_list=[exactly([5], "int32"), exactly([2], "int32")])
    yield make(x=(0, 2, 3, 4), **plain, scale=(2.0,))

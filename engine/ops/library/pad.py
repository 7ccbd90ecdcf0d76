"""Adding a border."""

from __future__ import annotations

from ...core.errors import ShapeError, UnsupportedError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import exactly
from ..writing import add_at, put
from .shape_tensors import whole

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


def _centers(shape, sides):
    """Return the part of a tensor of *shape* that stays, and its place within the border: negative sides cut off."""
    inner, places = [], []
    for n, (before, after) in zip(shape, sides, strict=True):
        first, last = max(-before, 0), n - max(-after, 0)
        inner.append(slice(first, max(last, first)))
        places.append(slice(max(before, 0), max(before, 0) + max(last - first, 0)))
    return tuple(inner), tuple(places)


def _given(paddings, tensor):
    return paddings if tensor is None else whole(tensor)


@op("pad3d", "X Paddings? -> Out", attrs=PAD, trait=Trait.MOVES, sized="Paddings")
def pad3d(k, x, paddings_tensor, *, paddings, mode, value, data_format):
    """Five dimensions with a border around the inner three: constant, mirrored, repeated or wrapped around."""
    sides = _sides(_given(paddings, paddings_tensor), data_format)
    if mode == "constant":
        out = k.xp.full([n + b + a for n, (b, a) in zip(x.shape, sides, strict=True)], value, x.dtype)
        inner, places = _centers(x.shape, sides)
        return put(out, places, x[inner])
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
        return x.replace_shape(UNKNOWN if i in inner else d for i, d in enumerate(x.shape))
    if len(paddings) != 6:
        raise ShapeError(f"pad3d: paddings {list(paddings)} must be six numbers")
    sides = _sides(paddings, data_format)
    for d, pair in zip(x.shape, sides, strict=True):
        if d == UNKNOWN:
            continue
        if d + sum(pair) < 0:
            raise ShapeError(f"pad3d: paddings {list(paddings)} cut off more than X {list(x.shape)} has")
        if mode == "reflect" and max(pair) >= max(d, 1):
            raise ShapeError(f"pad3d: reflection of {max(pair)} elements needs a dimension larger than {d}")
        if mode != "constant" and max(pair) and not d:
            raise ShapeError(f"pad3d: X {list(x.shape)} has no elements to {mode}")
    return x.replace_shape(UNKNOWN if d == UNKNOWN else d + b + a for d, (b, a) in zip(x.shape, sides, strict=True))


@pad3d.gradient(wrt="X")
def _(k, x: Like, paddings_tensor, dout, **attrs):
    return k.unpad3d(dout, x, paddings_tensor, **attrs)


@op("unpad3d", "X Y Paddings? -> Out", attrs=PAD, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def unpad3d(k, x, like, paddings_tensor, *, paddings, mode, data_format):
    """Sum of the copies that padding made of each element of *like*: the transpose of ``pad3d``."""
    sides = _sides(_given(paddings, paddings_tensor), data_format)
    if mode == "constant":
        inner, places = _centers(like.shape, sides)
        return put(k.xp.zeros(like.shape, x.dtype), inner, x[places])
    for axis, (before, after) in reversed(list(enumerate(sides))):
        if before or after:
            size = like.shape[axis]
            out = k.xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
            source = _source(k, size, before, after, mode)
            x = k.xp.moveaxis(add_at(k.xp.moveaxis(out, axis, 0), source, k.xp.moveaxis(x, axis, 0)), 0, axis)
    return x


@unpad3d.gradient(wrt="X")
def _(k, paddings_tensor, dout, **attrs):
    # The border of a gradient is zeros, whatever the border of the tensor is.
    return k.pad3d(dout, paddings_tensor, **{**attrs, "value": 0.0})


# -- pad --------------------------------------------------------------------------------------------------------------


def _pairs(paddings):
    return list(zip(paddings[::2], paddings[1::2], strict=True))


@op("pad", attrs={"paddings": (), "pad_value": 0.0}, trait=Trait.MOVES)
def pad(k, x, *, paddings, pad_value):
    """A border of one value around all dimensions: (before, after) of the first, of the second, …"""
    return k.xp.pad(x, _pairs(paddings), constant_values=pad_value) if x.ndim else x


@pad.infer
def _(x, *, paddings):
    if len(paddings) != 2 * x.ndim or min(paddings, default=0) < 0:
        raise ShapeError(f"pad: paddings {list(paddings)} must be two numbers for each dimension of X {list(x.shape)}")
    return x.replace_shape(
        UNKNOWN if d == UNKNOWN else d + b + a for d, (b, a) in zip(x.shape, _pairs(paddings), strict=True)
    )


@pad.gradient
def _(k, dout, *, paddings):
    return k.unpad(dout, paddings=paddings)


@op("unpad", attrs={"paddings": ()}, trait=Trait.INTERNAL | Trait.MOVES)
def unpad(k, x, *, paddings):
    """*x* without its border."""
    return x[tuple(slice(b, n - a) for n, (b, a) in zip(x.shape, _pairs(paddings), strict=True))]


@unpad.gradient
def _(k, dout, *, paddings):
    return k.pad(dout, paddings=paddings)


# -- samples ----------------------------------------------------------------------------------------------------------


@pad3d.samples
def _(make):
    yield make(x=(2, 3, 4, 5, 2), paddings=(1, 0, 2, 1, 0, 3), value=1.5)
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 3, 1, 2), mode="reflect")
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 5, 1, 2), mode="replicate", data_format="NDHWC")
    yield make(x=(1, 2, 3, 4, 5), paddings=(2, 1, 0, 3, 1, 2), mode="circular")
    yield make(x=(1, 1, 2, 1, 3), paddings_tensor=exactly([1, 2, 0, 0, 0, 1], "int32"))
    yield make(x=(0, 1, 2, 1, 3), paddings=(1, 1, 1, 1, 1, 1))
    for mode in MODES:
        yield make(x=(1, 2, 3, 4, 5), paddings=(-1, 2, -4, 1, -1, -1), mode=mode)


@pad.samples
def _(make):
    yield make(x=(2, 3), paddings=(1, 0, 2, 3), pad_value=0.5)
    yield make(x=(), paddings=())
    yield make(x=(0, 2), paddings=(1, 1, 0, 0))

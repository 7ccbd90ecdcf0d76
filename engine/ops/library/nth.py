"""Elements by their rank or by how often they come: the k-th, the most frequent, the one in the middle."""

from __future__ import annotations

import math

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import axes_in, axis_in
from ..opdef import Like, Trait, op
from ..samples import distinct, exactly, ints
from ..writing import put, put_along


def _one_of(name, x, axis, keepdim):
    """The specs of one element along *axis*, and of its place."""
    if not x.ndim:
        return x, x.replace_dtype("int64")
    at = axis_in(axis, x.ndim, name)
    if not x.shape[at]:
        raise ShapeError(f"{name}: X {list(x.shape)} has no elements along axis {at}")
    kept = (1,) if keepdim else ()
    out = x.replace_shape((*x.shape[:at], *kept, *x.shape[at + 1 :]))
    return out, out.replace_dtype("int64")


def _taken(xp, x, places, axis, keepdim):
    """The elements at *places*, which have size 1 along *axis*, and these."""
    out = xp.take_along_axis(x, places, axis)
    return (out, places) if keepdim else (xp.squeeze(out, axis), xp.squeeze(places, axis))


def _rule(defined):
    """The gradient goes to the element that was taken."""

    @defined.gradient
    def _(k, x: Like, indices, dout, *, axis, keepdim):
        if not x.ndim:
            return dout
        if not keepdim:
            dout, indices = (k.unsqueeze(v, axes=(axis % x.ndim,))[0] for v in (dout, indices))
        return k.put_along(dout, indices, x, axis=axis)

    return defined


@_rule
@op("kthvalue", "X -> Out Indices", attrs={"k": 1, "axis": -1, "keepdim": False})
def kthvalue(backend, x, *, k, axis, keepdim):
    """The *k*-th smallest element along *axis*, and its place; of equal ones the first."""
    xp = backend.xp
    if not x.ndim:
        return x, xp.zeros((), "int64")
    order = xp.argsort(x, axis=axis, stable=True)
    return _taken(xp, x, xp.take(order, xp.asarray([k - 1]), axis), axis, keepdim)


@kthvalue.infer
def _(x, *, k, axis, keepdim):
    size = x.shape[axis_in(axis, x.ndim, "kthvalue")] if x.ndim else 1
    if k < 1 or (size != UNKNOWN and k > size):
        raise ShapeError(f"kthvalue: k must be from 1 to the {size} elements along axis {axis}, but is {k}")
    return _one_of("kthvalue", x, axis, keepdim)


@_rule
@op("mode", "X -> Out Indices", attrs={"axis": -1, "keepdim": False})
def mode(k, x, *, axis, keepdim):
    """The most frequent element along *axis*, and the last place where it stands; of several the smallest."""
    xp = k.xp
    if not x.ndim:
        return x, xp.zeros((), "int64")
    order = xp.moveaxis(xp.argsort(x, axis=axis, stable=True), axis, -1)
    values = xp.take_along_axis(xp.moveaxis(x, axis, -1), order, -1)
    places = xp.broadcast_to(xp.arange(values.shape[-1]), values.shape)
    begins = put(xp.ones(values.shape, bool), (..., slice(1, None)), values[..., 1:] != values[..., :-1])
    started = xp.maximum.accumulate(xp.where(begins, places, 0), axis=-1)
    longest = xp.argmax(places - started, axis=-1, keepdims=True)
    return _taken(xp, x, xp.moveaxis(xp.take_along_axis(order, longest, -1), -1, axis), axis, keepdim)


@mode.infer
def _(x, *, axis, keepdim):
    return _one_of("mode", x, axis, keepdim)


# -- the middle -------------------------------------------------------------------------------------------------------


def _axes(ndim, axis):
    return axes_in(axis, ndim, "nanmedian") if axis else tuple(range(ndim))


def _folded(xp, x, axis):
    """*x* with the dimensions *axis* as one, the last."""
    axes = _axes(x.ndim, axis)
    moved = xp.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim)) if axes else x
    others = moved.shape[: x.ndim - len(axes)]
    return moved.reshape((*others, math.prod(moved.shape[len(others) :])))


def _unfolded(xp, x, shape, axis):
    """The opposite of :func:`_folded`."""
    axes = _axes(len(shape), axis)
    others = tuple(d for i, d in enumerate(shape) if i not in axes)
    moved = x.reshape((*others, *(shape[i] for i in axes)))
    return xp.moveaxis(moved, range(len(others), len(shape)), axes) if axes else moved


@op(
    "nanmedian",
    "X -> Out MedianIndex",
    attrs={"axis": (), "keepdim": True, "mode": "avg"},
)
def nanmedian(k, x, *, axis, keepdim, mode):
    """Element in the middle of those that are not NaN, over *axis* or everything, and its places among them.

    Of two in the middle it is the mean, and there are two places each (in a new last dimension); with mode ``min`` it
    is the smaller one.
    """
    xp = k.xp
    flat = _folded(xp, x, axis)
    if not flat.shape[-1]:
        raise _shape_error(x.shape)
    missing = xp.isnan(flat) if x.dtype.kind == "f" else xp.zeros(flat.shape, bool)
    counts = xp.maximum(flat.shape[-1] - missing.sum(axis=-1), 1)
    order = xp.argsort(flat, axis=-1, stable=True)
    middle = (counts - 1) // 2
    ranks = xp.stack([middle, counts // 2], -1) if mode == "avg" else middle[..., None]
    places = xp.take_along_axis(order, ranks, -1)
    values = xp.take_along_axis(flat, places, -1)
    out = (values.sum(axis=-1) / 2).astype(x.dtype) if mode == "avg" else values[..., 0]
    shape = _reduced(x.shape, axis, keepdim)
    return out.reshape(shape), places.reshape((*shape, 2) if mode == "avg" else shape)


def _reduced(shape, axis, keepdim):
    axes = _axes(len(shape), axis)
    if keepdim:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def _shape_error(shape):
    return ShapeError(f"nanmedian: there is no element in the middle of none: X is {list(shape)}")


@nanmedian.infer
def _(x, *, axis, keepdim, mode):
    if mode not in ("avg", "min"):
        raise OperatorError(f"nanmedian: mode must be 'avg' or 'min', but is {mode!r}")
    if 0 in [x.shape[i] for i in _axes(x.ndim, axis)]:
        raise _shape_error(x.shape)
    out = x.replace_shape(_reduced(x.shape, axis, keepdim))
    return out, out.replace_shape((*out.shape, 2) if mode == "avg" else out.shape).replace_dtype("int64")


@nanmedian.gradient
def _(k, x, medianindex, dout, *, axis, mode):
    parts = k.median_parts(x, medianindex, axis=axis, mode=mode)
    numbers = k.cast_like(parts, dout)
    each = k.restore(dout, x, dim=axis, reduce_all=not axis)
    return k.select(parts > 0, each / k.select(parts > 0, numbers, k.ones_like(numbers)), k.zeros_like(each))


@op("median_parts", "X Index -> Out", attrs={"axis": (), "mode": "avg"}, trait=Trait.INTERNAL, differentiable=False)
def median_parts(k, x, index, *, axis, mode):
    """n for an element that gets the n-th part of the gradient, 0 for one that gets nothing.

    Elements equal to the result share equally; along one dimension with mode ``min`` it all goes to one place.
    """
    xp = k.xp
    flat = _folded(xp, x, axis)
    places = index.reshape((*flat.shape[:-1], -1))
    values = xp.take_along_axis(flat, places, -1)
    parts = put_along(xp.zeros(flat.shape, "int64"), places, places.shape[-1], -1)
    if mode == "avg" or len(axis) != 1:
        equal = flat == values[..., :1]
        shared = equal * equal.sum(axis=-1, keepdims=True)
        parts = xp.where(values[..., :1] == values[..., -1:], shared, parts)
    else:
        parts = xp.minimum(parts, 1)
    return _unfolded(xp, parts, x.shape, axis)


@kthvalue.samples
def _(make):
    yield make(x=distinct((3, 4)), k=2)
    yield make(x=distinct((4, 2, 3)), k=3, axis=0, keepdim=True)
    yield make(x=ints((3, 4), 3), k=2, smooth=False)
    yield make(x=())


@mode.samples
def _(make):
    yield make(x=distinct((3, 4)))
    yield make(x=distinct((4, 2, 3)), axis=0, keepdim=True)
    yield make(x=ints((3, 5), 3), smooth=False)
    yield make(x=exactly([2.0, 1.0, 2.0, 1.0]), smooth=False)
    yield make(x=())


@nanmedian.samples
def _(make):
    yield make(x=distinct((3, 4)))
    yield make(x=distinct((3, 5)), axis=(1,), keepdim=False)
    yield make(x=distinct((4, 2, 3)), axis=(0, 2), mode="min")
    yield make(x=distinct((4, 2, 3)), axis=(-1,), mode="min", keepdim=False)
    yield make(x=ints((3, 4), 9), smooth=False)
    yield make(x=())

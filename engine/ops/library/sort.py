"""Order and extremes: sorting, the largest elements, their places."""

from __future__ import annotations

import math

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..flat_places import coordinates, pick
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..samples import bools, distinct, exactly, ints


def _order(k, x, axis, descending):
    """Places of the elements in sorted order; equal ones keep their order."""
    xp = k.xp
    if not x.ndim:
        return xp.zeros((), "int64")
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    # Sorting the mirrored tensor and mirroring back keeps the order of equal elements.
    return x.shape[axis] - 1 - xp.flip(xp.argsort(xp.flip(x, axis), axis=axis, stable=True), axis)


def _taken(k, x, places, axis):
    return pick(x, coordinates(k.xp, places, axis % x.ndim)) if x.ndim else x


@op("argsort", "X -> Out Indices", attrs={"axis": -1, "descending": False, "stable": False})
def argsort(k, x, *, axis, descending):
    """The elements sorted along *axis*, and where each came from."""
    places = _order(k, x, axis, descending)
    return _taken(k, x, places, axis), places


@argsort.infer
def _(x, *, axis):
    if x.ndim:
        axis_in(axis, x.ndim, "argsort")
    return x, x.replace_dtype("int64")


@argsort.gradient
def _(k, x: Like, indices, dout, *, axis):
    return k.put_along(dout, indices, x, axis=axis)


def how_many(x, count, k, axis):
    """Return how many elements ``topk`` finds.

    Raises:
        ShapeError: there are not so many.
    """
    k = k if count is None else int(count.reshape(()))
    if x.ndim and k > x.shape[axis]:
        raise ShapeError(f"top_k_v2: k={k} is more than the {x.shape[axis]} elements along axis {axis}")
    return k


@op(
    "topk",
    "X K? -> Out Indices",
    type="top_k_v2",
    attrs={"k": 1, "axis": -1, "largest": True, "sorted": True},
    sized="K",
)
def topk(backend, x, count, *, k, axis, largest):
    """The *k* largest (or smallest) elements along *axis*, best first, and their places."""
    k = how_many(x, count, k, axis)
    places = _order(backend, x, axis, largest)
    if x.ndim:
        places = backend.xp.moveaxis(backend.xp.moveaxis(places, axis, 0)[:k], 0, axis)
    return _taken(backend, x, places, axis), places


@topk.infer
def _(x, count, *, k, axis):
    if not x.ndim:
        return x, x.replace_dtype("int64")
    at = axis_in(axis, x.ndim, "top_k_v2")
    length = k if count is None else UNKNOWN
    if k < 1 or (x.shape[at] != UNKNOWN and length > x.shape[at]):
        raise ShapeError(f"top_k_v2: k={k} must be from 1 to the {x.shape[at]} elements along axis {at}")
    spec = x.replace_shape((*x.shape[:at], length, *x.shape[at + 1 :]))
    return spec, spec.replace_dtype("int64")


@topk.gradient(wrt="X")
def _(namespace, x: Like, count, indices, dout, *, axis):
    return namespace.put_along(dout, indices, x, axis=axis)


EXTREME = {"axis": 0, "keepdims": False, "flatten": False, "dtype": 3}


def _define(name, find, last, doc):
    def kernel(k, x, *, axis, keepdims, flatten, dtype):
        if x.dtype.kind == "f":  # NaN is never the one, as in Paddle, unless there is nothing else
            x = k.xp.where(k.xp.isnan(x), k.xp.asarray(last, x.dtype), x)
        if flatten:
            index = find(k.xp)(x.reshape(-1), axis=0)
            index = index.reshape((1,) * x.ndim) if keepdims else index
        elif x.ndim:
            index = find(k.xp)(x, axis=axis, keepdims=keepdims)
        else:
            index = k.xp.zeros(())
        return k.xp.asarray(index).astype(dtype_of(dtype).numpy)

    kernel.__doc__ = doc
    defined = op(name, attrs=EXTREME, differentiable=False)(kernel)

    @defined.infer
    def _(x, *, axis, keepdims, flatten, dtype):
        at = set(range(x.ndim)) if flatten else {axis_in(axis, x.ndim, name)}
        if 0 in [x.shape[i] for i in at if x.ndim]:
            raise ShapeError(f"{name}: X {list(x.shape)} has no elements to choose from")
        if keepdims:
            return TensorSpec((1 if i in at else d for i, d in enumerate(x.shape)), dtype)
        return TensorSpec((d for i, d in enumerate(x.shape) if i not in at), dtype)

    @defined.samples
    def _(make):
        yield make(x=distinct((3, 4)), axis=1)
        yield make(x=distinct((3, 4)), axis=-2, keepdims=True, dtype=2)
        yield make(x=distinct((3, 4)), flatten=True)
        yield make(x=distinct((3, 4)), flatten=True, keepdims=True)
        yield make(x=ints((3, 4), 3), axis=0)
        yield make(x=())
        yield make(x=(0, 4), axis=1)

    return defined


arg_max = _define(
    "arg_max", lambda xp: xp.argmax, -math.inf, "Place of the largest element along *axis*; the first one of several."
)
arg_min = _define(
    "arg_min", lambda xp: xp.argmin, math.inf, "Place of the smallest element along *axis*; the first of several."
)


# There are as many rows as elements that are not zero.
@op("where_index", "Condition -> Out", trait=Trait.COMPLEX | Trait.VALUES, differentiable=False)
def where_index(k, condition):
    """The coordinates of the elements that are not zero, one row each."""
    if not condition.ndim:
        return k.xp.zeros((int(bool(condition)), 0), "int64")
    return k.xp.argwhere(condition).astype("int64")


@where_index.infer
def _(condition):
    return TensorSpec((UNKNOWN, condition.ndim), "int64")


@argsort.samples
def _(make):
    yield make(x=distinct((3, 4)))
    yield make(x=distinct((3, 4)), axis=0, descending=True)
    yield make(x=ints((3, 4), 3), axis=0, descending=True, stable=True, smooth=False)
    yield make(x=())
    yield make(x=(0, 4))


@topk.samples
def _(make):
    yield make(x=distinct((3, 5)), k=2)
    yield make(x=distinct((5, 3)), k=2, axis=0, largest=False)
    yield make(x=distinct((3, 5)), count=exactly([3], "int32"))
    yield make(x=distinct((3, 5)), k=5, sorted=False)
    yield make(x=(), k=1)
    yield make(x=(0, 4), k=2)
    yield make(x=(3, 4), k=1)


@where_index.samples
def _(make):
    yield make(condition=bools((3, 4)))
    yield make(condition=ints((3,), 2))
    yield make(condition=bools(()))
    yield make(condition=(0, 3))

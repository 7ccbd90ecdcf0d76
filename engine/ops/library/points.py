"""Writing elements at coordinates: ``index_put``."""

from __future__ import annotations

from functools import partial

from ...core.errors import LabelError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import broadcast
from ..opdef import Like, Trait, op
from ..refusals import refuse_outside
from ..samples import exactly
from ..writing import add_at, put, put_last

POINTS = "indices*"


def _places(k, shape, indices):
    """One array of whole numbers per indexed dimension, broadcast against each other; a bool index gives several."""
    parts = []
    for index in indices:
        if index.dtype.kind == "b":
            parts.extend(k.xp.nonzero(index))
        else:
            parts.append(index)
    for size, index in zip(shape, parts, strict=False):
        refuse_outside(index, -size, size, partial(_outside, size))
    return k.xp.broadcast_arrays(*parts)


def _outside(size, index):
    return LabelError(f"index_put: index {index} is out of range for a dimension of {size}")


def _last(k, places, shape):
    """For each place whether no later one is the same: the one that an overwrite keeps."""
    order = k.xp.arange(places[0].size).reshape(places[0].shape)
    written = put_last(k.xp.zeros(shape[: len(places)], order.dtype), tuple(places), order)
    return written[tuple(places)] == order


def _kept(k, values, places, shape, accumulate):
    """*values* at the places, zeros for those that a later one overwrites."""
    if accumulate:
        return values
    mask = _last(k, places, shape).reshape(places[0].shape + (1,) * (values.ndim - places[0].ndim))
    return k.xp.where(mask, values, k.xp.zeros((), values.dtype))


@op("index_put", f"x {POINTS} value -> out", attrs={"accumulate": False}, trait=Trait.HOLOMORPHIC)
def index_put(k, x, indices, value, *, accumulate):
    """*x* with the elements at *indices* replaced by *value* (or with *value* added there), broadcast."""
    out = x.copy()
    places = tuple(_places(k, x.shape, indices))
    if accumulate:
        return add_at(out, places, value)
    return put_last(out, places, value)


@index_put.infer
def _(x, indices, value):
    count = sum(i.ndim if i.dtype.name == "bool" else 1 for i in indices)
    if not indices or count > x.ndim:
        raise ShapeError(f"index_put: {count} indexed dimensions for x {list(x.shape)}")
    if all(i.dtype.name != "bool" for i in indices):
        shape: tuple[int, ...] = ()
        for i in indices:
            shape = broadcast(shape, i.shape, op="index_put")
        target = shape + x.shape[count:]
        if UNKNOWN not in target and broadcast(target, value.shape, op="index_put") != target:
            raise ShapeError(f"index_put: value {list(value.shape)} does not broadcast to {list(target)}")
    return x


@index_put.gradient(wrt="x value")
def _(k, x: Like, indices, value: Like, dout, *, accumulate):
    return (
        lambda: dout if accumulate else k.clear_points(dout, indices),
        lambda: k.sum_to(k.points(dout, indices, accumulate=accumulate), value),
    )


@op("clear_points", f"X {POINTS} -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def clear_points(k, x, indices):
    """*x* with zeros at *indices*."""
    return put(x.copy(), tuple(_places(k, x.shape, indices)), 0)


@clear_points.gradient(wrt="X")
def _(k, indices, dout):
    return k.clear_points(dout, indices)


@op("points", f"X {POINTS} -> Out", attrs={"accumulate": False}, trait=Trait.INTERNAL | Trait.MOVES)
def points(k, x, indices, *, accumulate):
    """The elements of *x* at *indices*; without accumulate, zeros at places that a later one repeats."""
    places = _places(k, x.shape, indices)
    return _kept(k, x[tuple(places)], places, x.shape, accumulate)


@op("put_points", f"X {POINTS} Y -> Out", attrs={"accumulate": False}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def put_points(k, x, indices, like, *, accumulate):
    """Zeros in the shape of *like* with *x* added at *indices*: the transpose of ``points``."""
    places = _places(k, like.shape, indices)
    values = _kept(k, x, places, like.shape, accumulate)
    return add_at(k.xp.zeros(like.shape, x.dtype), tuple(places), values)


@points.gradient(wrt="X")
def _(k, x: Like, indices, dout, *, accumulate):
    return k.put_points(dout, indices, x, accumulate=accumulate)


@put_points.gradient(wrt="X")
def _(k, indices, dout, *, accumulate):
    return k.points(dout, indices, accumulate=accumulate)


@index_put.samples
def _(make):
    yield make(x=(4, 3), indices=[exactly([2, 0], "int64")], value=(2, 3))
    yield make(x=(4, 3), indices=[exactly([2, 0, 2], "int64")], value=(3, 3))
    yield make(x=(4, 3), indices=[exactly([2, 0, 2], "int64")], value=(3,), accumulate=True)
    yield make(x=(4, 3, 2), indices=[exactly([[2], [-1]], "int32"), exactly([1, 0, 2], "int32")], value=(2, 3, 1))
    yield make(x=(4, 3), indices=[exactly([True, False, True, True])], value=())
    yield make(x=(2, 2), indices=[exactly([[True, False], [True, True]])], value=(3,))
    yield make(x=(3,), indices=[exactly([], "int64")], value=())

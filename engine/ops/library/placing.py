"""Adding at places, picking by row, choosing among tensors, sums over what was broadcast, other views of storage."""

from __future__ import annotations

import math

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import axis_in, broadcast
from ..opdef import Like, Trait, op
from ..samples import exactly, ints
from ..writing import add_at, put
from .gather import _checked, _point_index


def _alike(shape, other):
    """Return whether two shapes can be the same."""
    return len(shape) == len(other) and all(UNKNOWN in (m, n) or m == n for m, n in zip(shape, other, strict=True))


@op("index_add", "X Index AddValue -> Out", attrs={"axis": 0})
def index_add(k, x, index, value, *, axis):
    """*X* with the slices of *AddValue* added to those at *Index* along *axis*; a place may come several times."""
    out = k.xp.array(x)
    places = _checked(index.reshape(-1), x.shape[axis], "index_add")
    target = add_at(k.xp.moveaxis(out, axis, 0), places, k.xp.moveaxis(value, axis, 0))
    return k.xp.moveaxis(target, 0, axis)


@index_add.infer
def _(x, index, value, *, axis):
    at = axis_in(axis, x.ndim, "index_add")
    wanted = (*x.shape[:at], *index.shape[:1], *x.shape[at + 1 :])
    if not _alike(wanted, value.shape):
        raise ShapeError(f"index_add: AddValue must have the shape {list(wanted)}, but it is {list(value.shape)}")
    return x


@index_add.gradient(wrt="X AddValue")
def _(k, index, value: Like, dout, *, axis):
    return dout, (lambda: k.index_select(dout, index, dim=axis))


@op("index_sample", "X Index -> Out", trait=Trait.MOVES)
def index_sample(k, x, index):
    """Of each row of *X* the elements that the same row of *Index* names."""
    return k.xp.take_along_axis(x, _checked(index, x.shape[1], "index_sample"), axis=1)


@index_sample.infer
def _(x, index):
    if x.ndim != 2 or index.ndim != 2 or (UNKNOWN not in (x.shape[0], index.shape[0]) and x.shape[0] != index.shape[0]):
        raise ShapeError(
            f"index_sample: X {list(x.shape)} and Index {list(index.shape)} must be matrices with as many rows"
        )
    return x.replace_shape(index.shape)


@index_sample.gradient(wrt="X")
def _(k, x: Like, index, dout):
    return k.put_along(dout, index, x, axis=1)


@op("scatter_nd_add", "X Index Updates -> Out")
def scatter_nd_add(k, x, index, updates):
    """*X* with *Updates* added at the coordinates in the last dimension of *Index*; they may come several times."""
    out = k.xp.array(x)
    places = _point_index(index, x.shape, "scatter_nd_add")
    if places:
        return add_at(out, places, updates)
    return out + updates.reshape((math.prod(index.shape[:-1]), *x.shape)).sum(axis=0, dtype=x.dtype)


@scatter_nd_add.infer
def _(x, index, updates):
    if index.ndim and index.shape[-1] == UNKNOWN:
        return x
    if not index.ndim or index.shape[-1] > x.ndim:
        raise ShapeError(
            f"scatter_nd_add: the last dimension of Index {list(index.shape)} must hold coordinates of {list(x.shape)}"
        )
    wanted = (*index.shape[:-1], *x.shape[index.shape[-1] :])
    if not _alike(wanted, updates.shape):
        raise ShapeError(f"scatter_nd_add: Updates must have the shape {list(wanted)}, but it is {list(updates.shape)}")
    return x


@scatter_nd_add.gradient(wrt="X Updates")
def _(k, index, updates: Like, dout):
    return dout, (lambda: k.at_points(dout, index))


@op("at_points", "X Index -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def at_points(k, x, index):
    """``gather_nd``, which needs the last dimension of *index* before it runs."""
    places = _point_index(index, x.shape, "scatter_nd_add")
    return x[places] if places else k.xp.broadcast_to(x, index.shape[:-1] + x.shape)


@at_points.gradient(wrt="X")
def _(k, x: Like, index, dout):
    return k.add_points(dout, index, x)


@op("multiplex", "Ids X* -> Out", trait=Trait.MOVES)
def multiplex(k, ids, xs):
    """Rows of several tensors of one shape: the i-th comes from the tensor that *Ids* names in its i-th row."""
    which = _checked(ids.reshape(-1), len(xs), "multiplex")
    if len(which) > len(xs[0]):
        raise ShapeError(f"multiplex: Ids {list(ids.shape)} has more rows than X {list(xs[0].shape)}")
    out = k.xp.array(xs[0][: len(which)])
    for n, x in enumerate(xs[1:], 1):
        out = k.xp.where((which == n).reshape((-1,) + (1,) * (x.ndim - 1)), x[: len(which)], out)
    return out


@multiplex.infer
def _(ids, xs):
    if len(xs) < 2 or xs[0].ndim < 2:
        raise ShapeError("multiplex: X must hold at least two tensors of two or more dimensions")
    if not all(_alike(x.shape, xs[0].shape) for x in xs):
        raise ShapeError(f"multiplex: all X must have one shape, but received {[list(x.shape) for x in xs]}")
    return xs[0].replace_shape((ids.shape[0], *xs[0].shape[1:]))


@multiplex.gradient(wrt="X")
def _(k, ids, xs: Like, dout):
    return [lambda n=n, x=x: k.rows_of(dout, ids, x, which=n) for n, x in enumerate(xs)]


@op("rows_of", "X Ids Y -> Out", attrs={"which": 0}, trait=Trait.INTERNAL | Trait.MOVES)
def rows_of(k, x, ids, like, *, which):
    """The first rows of zeros like *like*, those of *x* where *ids* has that number."""
    count = min(ids.size, len(x))
    chosen = (ids.reshape(-1)[:count] == which).reshape((-1,) + (1,) * (x.ndim - 1))
    rows = k.xp.where(chosen, x[:count], k.xp.zeros((), x.dtype))
    return put(k.xp.zeros(like.shape, x.dtype), slice(count), rows)


@rows_of.gradient(wrt="X")
def _(k, x: Like, ids, dout, *, which):
    return k.rows_of(dout, ids, x, which=which)


SUMMED = ("bool", "int32")
"""Types whose sums are int64."""


@op("reduce_as", "x target -> out", trait=Trait.HOLOMORPHIC)
def reduce_as(k, x, target):
    """*x*, summed over the dimensions that *target* would be broadcast over; only the shape of that is read."""
    extra = len(x.shape) - len(target.shape)
    kept = tuple(i + extra for i, n in enumerate(target.shape) if n == 1 != x.shape[i + extra])
    if x.shape == target.shape:  # nothing is summed
        return x
    kind = "int64" if x.dtype.name in SUMMED else x.dtype
    return x.sum(axis=(*range(extra), *kept), dtype=kind).reshape(target.shape)


@reduce_as.infer
def _(x, target):
    spread = broadcast(x.shape, target.shape, -1, "reduce_as")
    if not _alike(spread, x.shape):
        raise ShapeError(f"reduce_as: target {list(target.shape)} must be what broadcasts to x {list(x.shape)}")
    out = x.replace_shape(target.shape)
    return out.replace_dtype("int64") if x.dtype.name in SUMMED and x.shape != target.shape else out


@reduce_as.gradient(wrt="x")
def _(k, x: Like, target: Like, dout):
    return k.expand_like(dout, x)


# -- views ------------------------------------------------------------------------------------------------------------


STRIDED = {"dims": (), "stride": (), "offset": 0}


@op("as_strided", "input -> out", attrs=STRIDED, trait=Trait.MOVES)
def as_strided(k, x, *, dims, stride, offset):
    """Elements of the storage in order, by how far apart they stand along each new dimension; *offset* in bytes."""
    return x.reshape(-1)[_storage_places(k.xp, dims, stride, offset // x.dtype.itemsize)]


def _storage_places(xp, dims, stride, first):
    places = xp.full(dims, first, "int64")
    for i, (size, step) in enumerate(zip(dims, stride, strict=True)):
        along = (xp.arange(size) * step).reshape([-1 if i == j else 1 for j in range(len(dims))])
        places = places + along
    return places


@as_strided.infer
def _(x, *, dims, stride, offset):
    if len(dims) != len(stride):
        raise OperatorError(f"as_strided: {len(dims)} dimensions need as many strides, but received {list(stride)}")
    last = offset // x.dtype.size + sum(max(d - 1, 0) * s for d, s in zip(dims, stride, strict=True))
    if UNKNOWN not in x.shape and 0 not in dims and last >= math.prod(x.shape):
        raise ShapeError(f"as_strided: element {last} is beyond the storage of {list(x.shape)}")
    return x.replace_shape(dims)


@as_strided.gradient
def _(k, x: Like, dout, *, dims, stride, offset):
    return k.add_strided(dout, x, dims=dims, stride=stride, offset=offset)


@op("add_strided", "X Y -> Out", attrs=STRIDED, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def add_strided(k, x, like, *, dims, stride, offset):
    """Zeros like *like* with *x* added where ``as_strided`` reads: its transpose."""
    out = k.xp.zeros(math.prod(like.shape), x.dtype)
    return add_at(out, _storage_places(k.xp, dims, stride, offset // x.dtype.itemsize), x).reshape(like.shape)


@add_strided.gradient(wrt="X")
def _(k, dout, *, dims, stride, offset):
    return k.as_strided(dout, dims=dims, stride=stride, offset=offset)


@index_add.samples
def _(make):
    yield make(x=(4, 3), index=exactly([2, 0, 2], "int64"), value=(3, 3))
    yield make(x=(2, 4, 3), index=exactly([3, 1], "int32"), value=(2, 2, 3), axis=1)
    yield make(x=(4, 3), index=exactly([], "int64"), value=(0, 3))
    yield make(x=ints((4, 3), 9), index=exactly([1, 1], "int64"), value=ints((2, 3), 9), smooth=False)


@index_sample.samples
def _(make):
    yield make(x=(3, 4), index=ints((3, 5), 4))
    yield make(x=(3, 4), index=ints((3, 2), 4, dtype="int32"))


@scatter_nd_add.samples
def _(make):
    yield make(x=(3, 4), index=exactly([[0, 1], [2, 3], [0, 1]], "int64"), updates=(3,))
    yield make(x=(3, 4, 2), index=exactly([[0], [2]], "int32"), updates=(2, 4, 2))
    yield make(x=(3, 4), index=ints((2, 0), 1), updates=(2, 3, 4))
    yield make(x=ints((3,), 9), index=exactly([[1]], "int64"), updates=ints((1,), 9), smooth=False)


@multiplex.samples
def _(make):
    yield make(ids=exactly([[1], [0], [1]], "int32"), xs=[(3, 4), (3, 4)])
    yield make(ids=exactly([[2], [0]], "int64"), xs=[(3, 2), (3, 2), (3, 2)])


@reduce_as.samples
def _(make):
    yield make(x=(4, 2, 3), target=(3,))
    yield make(x=(4, 2, 3), target=(2, 1))
    yield make(x=(4, 3), target=())
    yield make(x=(2, 3), target=(2, 3))


@as_strided.samples
def _(make):
    yield make(x=(3, 4), dims=(2, 3), stride=(4, 1))
    yield make(x=(3, 4), dims=(3, 2, 2), stride=(2, 1, 1))
    yield make(x=(6,), dims=(0, 2), stride=(1, 1))

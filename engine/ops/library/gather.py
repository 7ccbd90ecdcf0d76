"""Looking up elements and rows by index, and writing them."""

from __future__ import annotations

import math

from ...core.errors import LabelError, ShapeError
from ...core.spec import UNKNOWN
from ..flat_places import coordinates, pick
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..refusals import refuse_outside
from ..samples import exactly, ints
from ..scattering import add_slices
from ..writing import add_at as added_at
from ..writing import put, put_last


def _checked(index, size, name):
    """*index*, if all its numbers are places in a dimension of that size (negative ones count from the end)."""
    refuse_outside(
        index, -size, size, lambda bad: LabelError(f"{name}: index {bad} is out of range for a dimension of {size}")
    )
    return index


def _number(axis, axis_tensor):
    return axis if axis_tensor is None else int(axis_tensor.reshape(()))


# -- rows -------------------------------------------------------------------------------------------------------------


def _rows(index):
    """A column of indices counts as a vector of them."""
    return index.reshape(-1) if index.ndim == 2 else index


def _taken_spec(x, index, axis, name):
    if not x.ndim:
        raise ShapeError(f"{name}: X must have at least one dimension")
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] not in (1, UNKNOWN)):
        raise ShapeError(f"{name}: Index {list(index.shape)} must be a vector, a column or a 0-d tensor")
    at = axis_in(axis, x.ndim, name)
    return x.replace_shape((*x.shape[:at], *index.shape[:1], *x.shape[at + 1 :]))


@op("gather", "X Index Axis? -> Out", attrs={"axis": 0}, trait=Trait.MOVES, sized="Axis")
def gather(k, x, index, axis_tensor, *, axis):
    """The slices of *x* at *index* along *axis*."""
    axis = _number(axis, axis_tensor)
    return k.xp.take(x, _checked(_rows(index), x.shape[axis], "gather"), axis=axis)


@gather.infer
def _(x, index, axis_tensor, *, axis):
    if axis_tensor is not None:
        return x.replace_shape((UNKNOWN,) * (x.ndim - 1 + min(index.ndim, 1)))
    return _taken_spec(x, index, axis, "gather")


@gather.gradient(wrt="X")
def _(k, x: Like, index, axis_tensor, dout, *, axis):
    return k.add_at(dout, index, x, axis_tensor, axis=axis)


@op("add_at", "X Index Y Axis? -> Out", attrs={"axis": 0}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def add_at(k, x, index, like, axis_tensor, *, axis):
    """Zeros in the shape of *like* with *x* added at *index* along *axis*: the transpose of ``gather``."""
    return add_slices(k.xp.zeros(like.shape, x.dtype), _number(axis, axis_tensor), _rows(index), x)


@add_at.gradient(wrt="X")
def _(k, index, axis_tensor, dout, *, axis):
    return k.gather(dout, index, axis_tensor, axis=axis)


@op("index_select", "X Index -> Out", attrs={"dim": 0}, trait=Trait.MOVES)
def index_select(k, x, index, *, dim):
    """The slices of *x* at *index* along *dim*."""
    return k.xp.take(x, _checked(_rows(index), x.shape[dim], "index_select"), axis=dim)


@index_select.infer
def _(x, index, *, dim):
    return _taken_spec(x, index, dim, "index_select")


@index_select.gradient(wrt="X")
def _(k, x: Like, index, dout, *, dim):
    return k.add_at(dout, index, x, axis=dim)


@op("scatter", "X Ids Updates -> Out", attrs={"overwrite": True}, trait=Trait.HOLOMORPHIC)
def scatter(k, x, ids, updates, *, overwrite):
    """*x* with the rows at *ids* replaced by *updates*; without overwrite, by the sum of the updates of each row."""
    out = x.copy()
    ids = _checked(_rows(ids), x.shape[0], "scatter")
    if overwrite:
        return put_last(out, (ids,), updates)
    return added_at(put(out, ids, 0), ids, updates)


@scatter.infer
def _(x, ids, updates):
    wanted = (*ids.shape[:1], *x.shape[1:])
    fits = x.ndim and len(wanted) == updates.ndim and ids.ndim < 3 and (ids.ndim < 2 or ids.shape[1] in (1, UNKNOWN))
    if not fits or any(UNKNOWN not in (m, n) and m != n for m, n in zip(wanted, updates.shape, strict=True)):
        raise ShapeError(
            f"scatter: Updates {list(updates.shape)} at Ids {list(ids.shape)} must be rows of X {list(x.shape)}"
        )
    return x


@scatter.gradient(wrt="X Updates")
def _(k, ids, updates: Like, dout, *, overwrite):
    return (lambda: k.clear_rows(dout, ids)), (lambda: k.written_rows(dout, ids, updates, overwrite=overwrite))


@op("clear_rows", "X Ids -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def clear_rows(k, x, ids):
    """*x* with zeros in the rows *ids*."""
    return put(x.copy(), _rows(ids), 0)


@clear_rows.gradient(wrt="X")
def _(k, ids, dout):
    return k.clear_rows(dout, ids)


def _last(k, ids, rows):
    """For each entry of *ids* whether no later entry names the same row: the one that an overwrite keeps."""
    order = k.xp.arange(ids.size)
    written = put_last(k.xp.zeros(rows, order.dtype), (ids,), order)
    return written[ids] == order


def _kept(k, values, ids, rows, overwrite):
    if not overwrite or not ids.ndim:
        return values
    mask = _last(k, ids, rows).reshape((-1,) + (1,) * (values.ndim - 1))
    return k.xp.where(mask, values, k.xp.zeros((), values.dtype))


@op("written_rows", "X Ids Y -> Out", attrs={"overwrite": True}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def written_rows(k, x, ids, like, *, overwrite):
    """The rows of *x* at *ids*, zeros for updates that a later one overwrites."""
    ids = _rows(ids)
    return _kept(k, x[ids], ids, x.shape[0], overwrite)


@op("write_rows", "X Ids Y -> Out", attrs={"overwrite": True}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def write_rows(k, x, ids, like, *, overwrite):
    """Zeros in the shape of *like* with *x* at the rows *ids*: the transpose of ``written_rows``."""
    ids = _rows(ids)
    return added_at(k.xp.zeros(like.shape, x.dtype), ids, _kept(k, x, ids, like.shape[0], overwrite))


@written_rows.gradient(wrt="X")
def _(k, x: Like, ids, dout, *, overwrite):
    return k.write_rows(dout, ids, x, overwrite=overwrite)


@write_rows.gradient(wrt="X")
def _(k, x: Like, ids, dout, *, overwrite):
    return k.written_rows(dout, ids, x, overwrite=overwrite)


# -- points -----------------------------------------------------------------------------------------------------------


def _point_index(index, shape, name):
    """The index arrays, one per coordinate."""
    parts = [index[..., i] for i in range(index.shape[-1])]
    return tuple(_checked(p, d, name) for p, d in zip(parts, shape, strict=False))


@op("gather_nd", "X Index -> Out", trait=Trait.MOVES)
def gather_nd(k, x, index):
    """The elements (or slices) of *x* at the coordinates in the last dimension of *index*."""
    places = _point_index(index, x.shape, "gather_nd")
    return x[places] if places else k.xp.broadcast_to(x, index.shape[:-1] + x.shape)


@gather_nd.infer
def _(x, index):
    if not index.ndim or index.shape[-1] > x.ndim:
        raise ShapeError(
            f"gather_nd: the last dimension of Index {list(index.shape)} must hold at most the {x.ndim} coordinates of "
            f"X {list(x.shape)}"
        )
    if index.shape[-1] == UNKNOWN:
        raise ShapeError(f"gather_nd: the last dimension of Index {list(index.shape)} must be known")
    return x.replace_shape((*index.shape[:-1], *x.shape[index.shape[-1] :]))


@gather_nd.gradient(wrt="X")
def _(k, x: Like, index, dout):
    return k.add_points(dout, index, x)


@op("add_points", "X Index Y -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def add_points(k, x, index, like):
    """Zeros in the shape of *like* with *x* added at coordinates: the transpose of ``gather_nd``."""
    out = k.xp.zeros(like.shape, x.dtype)
    places = _point_index(index, like.shape, "gather_nd")
    if places:
        return added_at(out, places, x)
    return x.reshape((math.prod(index.shape[:-1]), *like.shape)).sum(axis=0)


@add_points.gradient(wrt="X")
def _(k, index, dout):
    return k.gather_nd(dout, index)


@op("take_along_axis", "Input Index -> Result", attrs={"Axis": 0}, trait=Trait.MOVES)
def take_along_axis(k, x, index, *, Axis):
    """For each place of *index* the element of *x* whose coordinate along Axis is the index there."""
    axis = Axis % x.ndim
    return pick(x, coordinates(k.xp, _checked(index, x.shape[axis], "take_along_axis"), axis))


@take_along_axis.infer
def _(x, index, *, Axis):
    at = axis_in(Axis, x.ndim, "take_along_axis")
    fits = index.ndim == x.ndim and all(
        i == at or UNKNOWN in (m, n) or n <= m for i, (m, n) in enumerate(zip(x.shape, index.shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"take_along_axis: Index {list(index.shape)} must have the dimensions of Input {list(x.shape)}, none "
            f"larger but along axis {at}"
        )
    return x.replace_shape(index.shape)


@take_along_axis.gradient(wrt="Input")
def _(k, x: Like, index, dresult, *, Axis):
    return k.put_along(dresult, index, x, axis=Axis)


@op("put_along", "X Index Y -> Out", attrs={"axis": 0}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def put_along(k, x, index, like, *, axis):
    """Zeros in the shape of *like* with *x* added where ``take_along_axis`` reads: its transpose."""
    out = k.xp.zeros(like.shape, x.dtype)
    if not like.ndim:
        return x.reshape(())
    return added_at(out, coordinates(k.xp, index, axis % like.ndim), x)


@put_along.gradient(wrt="X")
def _(k, x: Like, index, dout, *, axis):
    return k.pick_along(dout, index, axis=axis)


@op("pick_along", "X Index -> Out", attrs={"axis": 0}, trait=Trait.INTERNAL | Trait.MOVES)
def pick_along(k, x, index, *, axis):
    """``take_along_axis``, for scalars too."""
    return pick(x, coordinates(k.xp, index, axis % x.ndim)) if x.ndim else x


@pick_along.gradient(wrt="X")
def _(k, x: Like, index, dout, *, axis):
    return k.put_along(dout, index, x, axis=axis)


# -- samples ----------------------------------------------------------------------------------------------------------


@gather.samples
def _(make):
    yield make(x=(4, 3), index=exactly([2, 0, 2], "int64"))
    yield make(x=(2, 4, 3), index=exactly([[3], [1]], "int32"), axis=1)
    yield make(x=(2, 4), index=exactly(3, "int64"), axis=-1)
    yield make(x=(2, 4), index=exactly([1, -1], "int64"), axis_tensor=exactly([1], "int32"))
    yield make(x=(4, 3), index=exactly([], "int64"))


@index_select.samples
def _(make):
    yield make(x=(4, 3), index=exactly([2, 0, 2], "int64"))
    yield make(x=(2, 4, 3), index=exactly([3, 1], "int32"), dim=-2)


@scatter.samples
def _(make):
    yield make(x=(4, 3), ids=exactly([2, 0], "int64"), updates=(2, 3))
    yield make(x=(4, 3), ids=exactly([2, 0, 2], "int64"), updates=(3, 3))
    yield make(x=(4, 3), ids=exactly([[2], [0], [2]], "int32"), updates=(3, 3), overwrite=False)
    yield make(x=(4,), ids=exactly([], "int64"), updates=(0,))


@gather_nd.samples
def _(make):
    yield make(x=(4, 3, 2), index=exactly([[0, 1], [3, -1], [0, 1]], "int64"))
    yield make(x=(4, 3), index=exactly([[[2]], [[0]]], "int32"))
    yield make(x=(4, 3), index=exactly([1, 2], "int64"))
    yield make(x=(4, 3), index=ints((2, 0), 1))
    yield make(x=(4, 3), index=ints((0, 2), 1))


@take_along_axis.samples
def _(make):
    yield make(x=(3, 4), index=ints((3, 2), 4), Axis=1)
    yield make(x=(3, 4, 2), index=ints((5, 4, 2), 3), Axis=-3)
    yield make(x=(3, 4), index=ints((2, 4), 3), Axis=0)
    yield make(x=(3, 4), index=ints((3, 0), 1), Axis=1)

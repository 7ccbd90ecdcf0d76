"""Rows that meet at places: segments of rows, and the messages that the nodes of a graph send along its edges."""

from __future__ import annotations

import numpy as np

from ...core.errors import DtypeError, LabelError, OperatorError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import broadcast
from ..opdef import Like, Trait, op
from ..refusals import refuse_outside
from ..samples import distinct, exactly, ints
from ..scattering import combine_at, counts
from ..writing import add_at, put
from .gather import _rows
from .placing import _alike

REDUCTIONS = ("SUM", "MEAN", "MIN", "MAX")
MESSAGES = ("ADD", "MUL")


def _places(index, size, name):
    """*index* as a vector, if all its numbers are places in a dimension of that size."""
    index = _rows(index)
    refuse_outside(
        index, 0, size, lambda bad: LabelError(f"{name}: (OutOfRange) row {bad} is out of range for {size} rows")
    )
    return index


def _met(xp, rows, index, size, how):
    """Combine the *rows* that are sent to each of *size* places, 0 where none is; and count them."""
    numbers = counts(xp, index, size)
    if not index.size:
        return xp.zeros((size, *rows.shape[1:]), rows.dtype), numbers
    each = numbers.reshape((-1,) + (1,) * (rows.ndim - 1))
    out = _combined(xp, rows, index, each, how)
    if how == "MEAN":
        each = xp.maximum(each, 1).astype(rows.dtype)
        # Whole numbers are divided as in C, towards zero.
        out = xp.sign(out) * (xp.abs(out) // each) if rows.dtype.kind in "iu" else out / each
    return out, numbers


def _combined(xp, rows, index, each, how):
    """The sum, the smallest or the largest of the *rows* at each place."""
    shape = (len(each), *rows.shape[1:])
    if isinstance(rows, np.ndarray):
        order = np.argsort(index, stable=True)
        places, starts = np.unique(index[order], return_index=True)
        ufunc = {"MIN": np.minimum, "MAX": np.maximum}.get(how, np.add)
        return put(np.zeros(shape, rows.dtype), places, ufunc.reduceat(rows[order], starts, axis=0, dtype=rows.dtype))
    if how not in ("MIN", "MAX"):
        return add_at(xp.zeros(shape, rows.dtype), index, rows)
    # It begins with one of the rows that come, whichever is written last.
    begun = put(xp.zeros(shape, rows.dtype), index, rows)
    return combine_at("minimum" if how == "MIN" else "maximum", begun, index, rows)


@op("share_of", "Count Y -> Out", trait=Trait.INTERNAL, differentiable=False)
def share_of(k, count, like):
    """One over each count, 1 where nothing came, to be multiplied with the rows of *like*."""
    return (1 / k.xp.maximum(count.reshape((-1,) + (1,) * (like.ndim - 1)), 1)).astype(like.dtype)


def _towards(k, message, index, out, count, dout, how):
    """The gradient of each message; of several that are the largest, each gets all of it (as in Paddle 3.1)."""
    if how == "MEAN":
        dout = dout * k.share_of(count, dout)
    arriving = k.gather(dout, index)
    if how in ("SUM", "MEAN"):
        return arriving
    return arriving * k.cast_like(k.equal(message, k.gather(out, index)), message)


def _expect_one_of(words, value, attribute, name):
    if value not in words:
        raise OperatorError(f"{name}: {attribute} must be one of {', '.join(words)}, but received {value!r}.")


def _expect_index(name, **indices):
    """Raise unless all are vectors, or columns, of whole numbers and of one length."""
    for slot, index in indices.items():
        if index.ndim not in (1, 2) or (index.ndim == 2 and index.shape[1] not in (1, UNKNOWN)):
            raise ShapeError(f"{name}: {slot} {list(index.shape)} must be a vector or a column")
        if index.dtype.name not in ("int32", "int64"):
            raise DtypeError(f"{name}: {slot} must hold int32 or int64, but received {index.dtype.name}.")
    if len({index.shape[0] for index in indices.values()} - {UNKNOWN}) > 1:
        listed = " and ".join(f"{slot} {list(index.shape)}" for slot, index in indices.items())
        raise ShapeError(f"{name}: {listed} should have the same shape")


# -- segments ---------------------------------------------------------------------------------------------------------


# There are as many segments as the last number says.
@op("segment_pool", "X SegmentIds -> Out SummedIds", attrs={"pooltype": "SUM"}, trait=Trait.VALUES)
def segment_pool(k, x, ids, *, pooltype):
    """The sum, mean, smallest or largest of the rows of each segment, 0 for segments without any; how many rows.

    *SegmentIds* says of each row which segment it belongs to; the numbers must not fall from one row to the next.
    """
    ids = _rows(ids)
    if len(ids) != len(x):
        raise ShapeError(
            f"segment_pool: Segment_ids should be the same size as dimension 0 of input X, but received {len(ids)} and "
            f"{len(x)}"
        )
    falls = k.xp.flatnonzero(ids[1:] < ids[:-1])
    if falls.size:
        i = int(falls[0])
        raise LabelError(
            f"segment_pool: (InvalidArgument) The segment ids should be sorted, but got segment_ids[{i}]:{ids[i]} > "
            f"segment_ids[{i + 1}]:{ids[i + 1]}."
        )
    size = int(ids[-1]) + 1 if ids.size else 0
    out, counts = _met(k.xp, x, _places(ids, size, "segment_pool"), size, pooltype)
    return out, counts.astype(x.dtype).reshape(-1, 1)


@segment_pool.infer
def _(x, ids, *, pooltype):
    _expect_one_of(REDUCTIONS, pooltype, "pooltype", "segment_pool")
    _expect_index("segment_pool", SegmentIds=ids)
    if not x.ndim or (UNKNOWN not in (x.shape[0], ids.shape[0]) and x.shape[0] != ids.shape[0]):
        raise ShapeError(
            f"segment_pool: Segment_ids should be the same size as dimension 0 of input X, but received "
            f"{list(ids.shape)} and {list(x.shape)}"
        )
    return x.replace_shape((UNKNOWN, *x.shape[1:])), x.replace_shape((UNKNOWN, 1))


@segment_pool.gradient(wrt="X")
def _(k, x, ids, out, summedids, dout, *, pooltype):
    return _towards(k, x, ids, out, summedids, dout, pooltype)


# -- messages ---------------------------------------------------------------------------------------------------------


def _count_of(x, out_size, size_tensor):
    """Return the number of places: as many as rows of *x*, unless another number is given."""
    wanted = out_size[0] if out_size else 0
    if size_tensor is not None:
        wanted = int(size_tensor.reshape(-1)[0])
    return wanted if wanted > 0 else x.shape[0]


def _received(x, message_shape, out_size, size_tensor, how, name):
    """The specs of Out and Dst_count."""
    _expect_one_of(REDUCTIONS, how, "reduce_op", name)
    rows = UNKNOWN if size_tensor is not None else _count_of(x, out_size, None)
    return x.replace_shape((rows, *message_shape)), TensorSpec((rows,), "int32")


@op(
    "graph_send_recv",
    "X Src_index Dst_index Out_size? -> Out Dst_count",
    attrs={"reduce_op": "SUM", "out_size": (0,)},
    sized="Out_size",
)
def graph_send_recv(k, x, src_index, dst_index, size_tensor, *, reduce_op, out_size):
    """The rows of *X* at *Src_index*, each sent to *Dst_index*: what comes together there, 0 where nothing comes.

    The result has as many rows as *X*, or those that *out_size* or *Out_size* says. Dst_count says how many came.
    """
    size = _count_of(x, out_size, size_tensor)
    messages = x[_places(src_index, len(x), "graph_send_recv: Src_index")]
    places = _places(dst_index, size, "graph_send_recv: Dst_index")
    out, counts = _met(k.xp, messages, places, size, reduce_op)
    return out, counts.astype("int32")


@graph_send_recv.infer
def _(x, src_index, dst_index, size_tensor, *, reduce_op, out_size):
    _expect_index("graph_send_recv", Src_index=src_index, Dst_index=dst_index)
    if not x.ndim:
        raise ShapeError("graph_send_recv: X must have at least one dimension")
    return _received(x, x.shape[1:], out_size, size_tensor, reduce_op, "graph_send_recv")


@graph_send_recv.gradient(wrt="X")
def _(k, x, src_index, dst_index, out, dst_count, dout, *, reduce_op):
    message = k.gather(x, src_index) if reduce_op in ("MIN", "MAX") else None
    return k.add_at(_towards(k, message, dst_index, out, dst_count, dout, reduce_op), src_index, x)


@op("beside_rows", "X Y -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def beside_rows(k, x, like):
    """Rows with ones behind their first dimension, so that they broadcast against those of *like*."""
    return x.reshape((len(x), *(1,) * (like.ndim - x.ndim), *x.shape[1:]))


@beside_rows.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


def _sent(k, x, y, how):
    """Rows of *x* and *y*, one to one, broadcast against each other; added or multiplied."""
    x, y = beside_rows.kernel(k, x, y), beside_rows.kernel(k, y, x)
    return x + y if how == "ADD" else x * y


def _sent_shape(x, y, how, name):
    """Return the shape of each message, without the edges."""
    _expect_one_of(MESSAGES, how, "message_op", name)
    return broadcast(x.shape[1:], y.shape[1:], -1, name)


def _sent_back(k, x, y, arriving, how):
    """Functions that give the gradients of the rows that :func:`_sent` took."""
    wide_x, wide_y = k.beside_rows(x, y), k.beside_rows(y, x)

    def back(like, wide, other):
        return k.reshape_like(k.sum_to(arriving * other if how == "MUL" else arriving, wide), like)

    return (lambda: back(x, wide_x, wide_y)), (lambda: back(y, wide_y, wide_x))


@op(
    "graph_send_ue_recv",
    "X Y Src_index Dst_index Out_size? -> Out Dst_count",
    attrs={"message_op": "ADD", "reduce_op": "SUM", "out_size": (0,)},
    sized="Out_size",
)
def graph_send_ue_recv(k, x, y, src_index, dst_index, size_tensor, *, message_op, reduce_op, out_size):
    """As ``graph_send_recv``, the rows that are sent each added to, or multiplied with, a row of *Y*, the edges'."""
    size = _count_of(x, out_size, size_tensor)
    sources = x[_places(src_index, len(x), "graph_send_ue_recv: Src_index")]
    if len(sources) != len(y):
        raise ShapeError(
            f"graph_send_ue_recv: Expect Input Y to have size {len(sources)} as Src_index on the first dimension, but "
            f"we get {len(y)}"
        )
    places = _places(dst_index, size, "graph_send_ue_recv: Dst_index")
    out, counts = _met(k.xp, _sent(k, sources, y, message_op), places, size, reduce_op)
    return out, counts.astype("int32")


@graph_send_ue_recv.infer
def _(x, y, src_index, dst_index, size_tensor, *, message_op, reduce_op, out_size):
    _expect_index("graph_send_ue_recv", Src_index=src_index, Dst_index=dst_index)
    if not x.ndim or not y.ndim or not _alike(y.shape[:1], src_index.shape[:1]):
        raise ShapeError(
            f"graph_send_ue_recv: Expect Input Y to have size {src_index.shape[0]} as Src_index on the first "
            f"dimension, but X is {list(x.shape)} and Y {list(y.shape)}"
        )
    shape = _sent_shape(x, y, message_op, "graph_send_ue_recv")
    return _received(x, shape, out_size, size_tensor, reduce_op, "graph_send_ue_recv")


@graph_send_ue_recv.gradient(wrt="X Y")
def _(k, x, y, src_index, dst_index, out, dst_count, dout, *, message_op, reduce_op):
    sources = k.gather(x, src_index)
    message = None
    if reduce_op in ("MIN", "MAX"):
        wide = k.beside_rows(sources, y), k.beside_rows(y, sources)
        message = wide[0] + wide[1] if message_op == "ADD" else wide[0] * wide[1]
    arriving = _towards(k, message, dst_index, out, dst_count, dout, reduce_op)
    of_sources, of_edges = _sent_back(k, sources, y, arriving, message_op)
    return (lambda: k.add_at(of_sources(), src_index, x)), of_edges


@op("graph_send_uv", "x y src_index dst_index -> out", attrs={"message_op": "ADD"})
def graph_send_uv(k, x, y, src_index, dst_index, *, message_op):
    """For each edge a row of *x*, its source's, and one of *y*, its target's, added or multiplied."""
    sources = x[_places(src_index, len(x), "graph_send_uv: src_index")]
    return _sent(k, sources, y[_places(dst_index, len(y), "graph_send_uv: dst_index")], message_op)


@graph_send_uv.infer
def _(x, y, src_index, dst_index, *, message_op):
    _expect_index("graph_send_uv", src_index=src_index, dst_index=dst_index)
    if not x.ndim or not y.ndim:
        raise ShapeError(f"graph_send_uv: x {list(x.shape)} and y {list(y.shape)} must have at least one dimension")
    return x.replace_shape((src_index.shape[0], *_sent_shape(x, y, message_op, "graph_send_uv")))


@graph_send_uv.gradient(wrt="x y")
def _(k, x, y, src_index, dst_index, dout, *, message_op):
    sources, targets = k.gather(x, src_index), k.gather(y, dst_index)
    of_sources, of_targets = _sent_back(k, sources, targets, dout, message_op)
    return (lambda: k.add_at(of_sources(), src_index, x)), (lambda: k.add_at(of_targets(), dst_index, y))


@segment_pool.samples
def _(make):
    ids = exactly([0, 0, 1, 3, 3], "int64")
    yield make(x=(5, 3), ids=ids)
    yield make(x=(5, 2, 2), ids=ids, pooltype="MEAN")
    yield make(x=distinct((5, 3)), ids=exactly([0, 0, 1, 3, 3], "int32"), pooltype="MAX")
    yield make(x=distinct((5,)), ids=ids, pooltype="MIN")
    yield make(x=exactly([[1.0, 2.0], [1.0, 3.0], [1.0, 3.0]]), ids=exactly([0, 0, 0]), pooltype="MAX", smooth=False)


EDGES = {"src_index": exactly([0, 1, 2, 0, 3], "int64"), "dst_index": exactly([1, 2, 1, 0, 2], "int64")}


@graph_send_recv.samples
def _(make):
    yield make(x=(4, 3), **EDGES)
    yield make(x=(4, 3), **EDGES, reduce_op="MEAN", out_size=(3,))
    yield make(x=distinct((4, 3)), **EDGES, reduce_op="MAX", size_tensor=exactly([5], "int32"))
    yield make(x=distinct((4, 3)), **EDGES, reduce_op="MIN")
    yield make(x=exactly([[1.0], [1.0], [1.0], [2.0]]), **EDGES, reduce_op="MIN", smooth=False)
    yield make(x=(2, 3), src_index=ints((0,), 1), dst_index=ints((0,), 1))


@graph_send_ue_recv.samples
def _(make):
    yield make(x=(4, 3), y=(5, 3), **EDGES)
    yield make(x=(4, 3), y=(5, 1), **EDGES, message_op="MUL", reduce_op="MEAN")
    yield make(x=distinct((4, 3)), y=(5, 2, 1), **EDGES, reduce_op="MAX", out_size=(3,))
    yield make(x=(4, 1, 3), y=(5, 3), **EDGES, message_op="MUL", reduce_op="MIN")
    yield make(x=(4, 3), y=(5, 3), **EDGES, message_op="MUL", size_tensor=exactly([5], "int64"))


@graph_send_uv.samples
def _(make):
    yield make(x=(4, 3), y=(4, 3), **EDGES)
    yield make(x=(4, 3), y=(3, 2, 1), **EDGES, message_op="MUL")

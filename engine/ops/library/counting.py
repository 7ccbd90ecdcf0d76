"""Counting: histograms, places in a sorted sequence, runs of equal elements, membership."""

from __future__ import annotations

import math

import numpy as np

from ...core.errors import LabelError, ShapeError, UsageError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..infer import axis_in, product
from ..opdef import Trait, op
from ..refusals import refuse, refuse_outside
from ..samples import exactly, ints
from ..scattering import counts


@op("searchsorted", "SortedSequence Values -> Out", attrs={"out_int32": False, "right": False}, differentiable=False)
def searchsorted(k, sequence, values, *, out_int32, right):
    """Position where each value would be put into the sorted last dimension of the sequence; before equal ones, or
    behind.
    """
    xp = k.xp
    kind, side = "int32" if out_int32 else "int64", "right" if right else "left"
    if sequence.ndim == 1:
        return xp.asarray(xp.searchsorted(sequence, values, side)).astype(kind)
    if not values.size:
        return xp.zeros(values.shape, kind)
    rows = sequence.reshape((math.prod(sequence.shape[:-1]), sequence.shape[-1]))
    wanted = values.reshape((len(rows), -1))
    places = [xp.searchsorted(row, w, side) for row, w in zip(rows, wanted, strict=True)]
    return xp.asarray(places).reshape(values.shape).astype(kind)


@searchsorted.infer
def _(sequence, values, *, out_int32):
    if not sequence.ndim:
        raise ShapeError("searchsorted: SortedSequence must have at least one dimension")
    rows = sequence.shape[:-1]
    if sequence.ndim > 1 and (
        values.ndim != sequence.ndim
        or any(UNKNOWN not in (m, n) and m != n for m, n in zip(rows, values.shape[:-1], strict=True))
    ):
        raise ShapeError(
            f"searchsorted: SortedSequence {list(sequence.shape)} and Values {list(values.shape)} must be alike but "
            "for the last dimension",
            hint="a sequence of one dimension serves values of any shape",
        )
    return values.replace_dtype("int32" if out_int32 else "int64")


HISTOGRAM = {"bins": 100, "min": 0.0, "max": 0.0, "density": False}


@op("histogram", "X Weight? -> Out", attrs=HISTOGRAM, differentiable=False)
def histogram(k, x, weight, *, bins, min, max, density):
    """Number of elements in each of *bins* equal parts from *min* to *max*, of the whole range if both are equal.

    The last part has its end. *Weight* says what each element counts; density makes the parts' areas sum to 1.
    """
    xp = k.xp
    values = x.reshape(-1)
    low, high = min, max
    if low == high and values.size:
        low, high = values.min(), values.max()
    refuse(
        ~(xp.isfinite(low) & xp.isfinite(high)),
        lambda: UsageError("histogram: the range of infinite numbers or NaN has no parts", hint="give min and max"),
    )
    low, high = _apart(xp, low, high)
    inside = (values >= low) & (values <= high)
    wide = xp.where(inside, values.astype("float64"), low)
    place = xp.minimum(((wide - low) * bins / (high - low)).astype("int64"), bins - 1)
    counted = None if weight is None else weight.reshape(-1).astype("float64")
    numbers = counts(xp, place, bins, counted, inside)
    if density:
        total = numbers.sum()
        numbers = numbers / (total * ((high - low) / bins))
    return numbers.astype(_counted_in(x, weight, density).numpy)


def _apart(xp, low, high):
    """A range with something in it."""
    same = low == high
    if not isinstance(same, (bool, np.bool_)):
        return xp.where(same, low - 0.5, low), xp.where(same, high + 0.5, high)
    return (low - 0.5, high + 0.5) if same else (low, high)


def _counted_in(x, weight, density):
    if weight is not None and not density:
        return dtype_of(weight.dtype)
    return dtype_of("float32" if density else "int64")


@histogram.infer
def _(x, weight, *, bins, min, max, density):
    if bins < 1:
        raise UsageError(f"histogram: bins must be 1 or more, but is {bins}")
    if max < min:
        raise UsageError(f"histogram: max must not be less than min, but received min={min}, max={max}")
    if weight is not None and weight.shape != x.shape and UNKNOWN not in (*weight.shape, *x.shape):
        raise ShapeError(f"histogram: Weight {list(weight.shape)} must have the shape of X {list(x.shape)}")
    return TensorSpec((bins,), _counted_in(x, weight, density))


# There are as many counts as the largest number says.
@op("bincount", "X Weights? -> Out", attrs={"minlength": 0}, trait=Trait.VALUES, differentiable=False)
def bincount(k, x, weights, *, minlength):
    """Number of times that each whole number from 0 on occurs, or the sum of the weights of its elements."""
    xp = k.xp
    if x.size and x.min() < 0:
        raise LabelError(f"bincount: numbers must not be negative, but X has {x.min()}")
    counts = xp.bincount(x, weights=weights, minlength=minlength)
    return counts.astype(_summed_in(weights).numpy)


def _summed_in(weights):
    if weights is None:
        return dtype_of("int64")
    return dtype_of("float32" if dtype_of(weights.dtype).name == "float32" else "float64")


@bincount.infer
def _(x, weights, *, minlength):
    if x.ndim != 1 or (weights is not None and weights.ndim != 1):
        raise ShapeError(f"bincount: X must be a vector, and Weights one of its length; X is {list(x.shape)}")
    if minlength < 0:
        raise UsageError(f"bincount: minlength must not be negative, but is {minlength}")
    return TensorSpec((UNKNOWN,), _summed_in(weights))


CONSECUTIVE = {"return_inverse": False, "return_counts": False, "axis": (), "dtype": 5}


# There are as many results as runs.
@op("unique_consecutive", "X -> Out Index Counts", attrs=CONSECUTIVE, trait=Trait.VALUES, differentiable=False)
def unique_consecutive(k, x, *, axis, dtype):
    """The elements (or slices along *axis*) without those equal to the one before; which one each is; how many."""
    xp = k.xp
    rows = xp.moveaxis(x, axis[0], 0) if axis else x.reshape(-1)
    flat = rows.reshape((len(rows), -1)) if rows.size else rows.reshape((len(rows), 0))
    begins = xp.ones(len(rows), bool)
    begins[1:] = (flat[1:] != flat[:-1]).any(axis=1)
    kind = dtype_of(dtype).numpy
    starts = xp.flatnonzero(begins)
    counts = xp.diff(xp.append(starts, len(rows)))
    out = xp.moveaxis(rows[begins], 0, axis[0]) if axis else rows[begins]
    return out, (xp.cumsum(begins) - 1).astype(kind), counts.astype(kind)


@unique_consecutive.infer
def _(x, *, axis, dtype):
    some = TensorSpec((UNKNOWN,), dtype)
    if not axis:
        return x.replace_shape((UNKNOWN,)), TensorSpec((product(x.shape),), dtype), some
    at = axis_in(axis[0], x.ndim, "unique_consecutive")
    shape = (*x.shape[:at], UNKNOWN, *x.shape[at + 1 :])
    return x.replace_shape(shape), TensorSpec((x.shape[at],), dtype), some


@op("isin", "X Y -> Out", attrs={"invert": False}, trait=Trait.COMPLEX, differentiable=False)
def isin(k, x, y, *, invert):
    """True for elements of *X* that are among those of *Y*; with invert, for those that are not."""
    return k.xp.isin(x, y, invert=invert)


@isin.infer
def _(x, y):
    return x.replace_dtype("bool")


@op("is_empty", trait=Trait.LIKE | Trait.COMPLEX, differentiable=False)
def is_empty(k, x):
    """True if the tensor has no elements."""
    return k.xp.asarray(x.size == 0)


@is_empty.infer
def _(x):
    return TensorSpec((), "bool")


@op(
    "shard_index",
    attrs={"index_num": 0, "nshards": 1, "shard_id": 0, "ignore_value": -1},
    differentiable=False,
)
def shard_index(k, x, *, index_num, nshards, shard_id, ignore_value):
    """Places within one of *nshards* equal parts of *index_num* places; ignore_value for those in other parts."""
    xp = k.xp
    refuse_outside(x, 0, index_num, lambda bad: LabelError(f"shard_index: places must be from 0 to {index_num - 1}"))
    size = (index_num + nshards - 1) // nshards
    return xp.where(x // size == shard_id, x % size, ignore_value).astype(x.dtype)


@shard_index.infer
def _(x, *, index_num, nshards, shard_id):
    if index_num < 1 or nshards < 1 or not 0 <= shard_id < nshards:
        raise UsageError(
            f"shard_index: shard_id must be one of nshards parts, but received index_num={index_num}, "
            f"nshards={nshards}, shard_id={shard_id}"
        )
    return x


@searchsorted.samples
def _(make):
    line = exactly([-0.5, 0.1, 0.1, 0.6])
    yield make(sequence=line, values=(2, 3))
    yield make(sequence=line, values=exactly([0.1, 0.6]), right=True, out_int32=True)
    yield make(sequence=exactly([[0.0, 1.0], [0.5, 0.7]]), values=(2, 3))
    yield make(sequence=line, values=())
    yield make(sequence=exactly([1, 3, 5], "int64"), values=ints((4,), 7))


@histogram.samples
def _(make):
    yield make(x=(3, 4), bins=4)
    yield make(x=(3, 4), bins=3, min=-0.5, max=0.5)
    yield make(x=(3, 4), bins=3, min=-1.0, max=1.0, density=True)
    yield make(x=(5,), weight=(5,), bins=3, min=-1.0, max=1.0)
    yield make(x=ints((7,), 9), bins=3)


@bincount.samples
def _(make):
    yield make(x=ints((7,), 5))
    yield make(x=ints((7,), 5, dtype="int32"), minlength=9)
    yield make(x=ints((4,), 3), weights=(4,))
    yield make(x=ints((0,), 3), minlength=2)


@unique_consecutive.samples
def _(make):
    yield make(x=exactly([1.0, 1.0, 2.0, 2.0, 1.0]), dtype=3)
    yield make(x=exactly([[1, 1], [1, 1], [2, 1]], "int64"), axis=(0,), dtype=2)
    yield make(x=exactly([[1, 1, 2], [3, 3, 3]], "int64"), axis=(-1,), dtype=3)
    yield make(x=ints((3, 4), 2), dtype=3, return_inverse=True, return_counts=True)
    yield make(x=(0,), dtype=3)


@isin.samples
def _(make):
    yield make(x=ints((3, 4), 5), y=ints((3,), 5))
    yield make(x=(3,), y=(2, 2), invert=True)
    yield make(x=(), y=(0,))


@is_empty.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=(0, 3))
    yield make(x=())


@shard_index.samples
def _(make):
    yield make(x=ints((4, 1), 20), index_num=20, nshards=2)
    yield make(x=ints((4, 1), 20, dtype="int32"), index_num=21, nshards=2, shard_id=1, ignore_value=-3)

"""Writing elements along a dimension, alone or combined with what was there."""

from __future__ import annotations

import math

import numpy as np

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..flat_places import coordinates
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..samples import distinct, exactly, ints
from ..scattering import combine_at, counts
from ..writing import add_at, put, put_last
from .gather import _checked

COMBINES = {
    "add": "add",
    "mul": "multiply",
    "multiply": "multiply",
    "mean": "add",
    "amin": "minimum",
    "amax": "maximum",
}
REDUCES = ("assign", *COMBINES)


def _targets(k, index, shape, axis):
    """For each entry of *index* the place that it writes to, counted through a tensor of that shape."""
    xp = k.xp
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    places = coordinates(k.xp, _checked(index, shape[axis], "put_along_axis") % max(shape[axis], 1), axis)
    total = xp.zeros(index.shape, "int64")
    for place, step in zip(places, steps, strict=True):
        total = total + place * step
    return total.reshape(-1)


@op(
    "put_along_axis",
    "Input Index Value -> Result",
    attrs={"Axis": 0, "Reduce": "assign", "Include_self": True},
)
def put_along_axis(k, x, index, value, *, Axis, Reduce, Include_self):
    """*x* with the elements that ``take_along_axis`` would read combined with, or replaced by, those of *value*.

    Reduce says how: ``assign`` (the last one counts), ``add``, ``multiply``, ``mean``, ``amin`` or ``amax``. Without
    Include_self the elements that were there do not take part.
    """
    xp = k.xp
    at, values = _targets(k, index, x.shape, Axis % x.ndim), value.reshape(-1)
    out = x.reshape(-1).copy()
    if Reduce == "assign":
        return put_last(out, (at,), values).reshape(x.shape)
    if not Include_self:
        out = put(out, at, {"mul": 1, "multiply": 1}.get(Reduce, 0))
        if Reduce in ("amin", "amax"):
            out = put_last(out, (at,), values)
    out = combine_at(COMBINES[Reduce], out, at, values)
    if Reduce == "mean":
        members = xp.maximum(counts(xp, at, out.size) + (1 if Include_self else 0), 1)
        quotient = out / members.astype(x.dtype)
        out = quotient if quotient.dtype == x.dtype else (out // members).astype(x.dtype)
    return out.reshape(x.shape)


@put_along_axis.infer
def _(x, index, value, *, Axis, Reduce):
    if Reduce not in REDUCES:
        raise OperatorError(f"put_along_axis: Reduce must be one of {', '.join(REDUCES)}, but is {Reduce!r}")
    if not x.ndim:
        raise ShapeError("put_along_axis: Input must have at least one dimension")
    at = axis_in(Axis, x.ndim, "put_along_axis")
    fits = index.ndim == x.ndim == value.ndim and all(
        UNKNOWN in (m, n) or ((i == at or n <= m) and v in (n, UNKNOWN))
        for i, (m, n, v) in enumerate(zip(x.shape, index.shape, value.shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"put_along_axis: Index {list(index.shape)} and Value {list(value.shape)} must be alike, with the "
            f"dimensions of Input {list(x.shape)}, none larger but along axis {at}"
        )
    return x


# The gradient sees every element of the result as made of members: the element of Input and those of Value that went
# there. `members` says which they are, `pick_members` looks them up, `add_members` is the transpose of that.


@put_along_axis.gradient(wrt="Input Value")
def _(k, x, index, value, result, dresult, *, Axis, Reduce, Include_self):
    both = [k.reshape(a, shape=(-1,))[0] for a in (x, value)]
    each = k.concat(both, axis=0)
    which = k.members(x, index, axis=Axis, own=Include_self, last=Reduce == "assign")
    product = Reduce in ("mul", "multiply")
    values = k.pick_members(each, which, fill=1.0 if product else 0.0)

    def spread(a):
        return k.restore(a, values, dim=(-1,))

    there = k.pick_members(k.ones_like(each), which, fill=0.0)
    if product:
        shares = k.leave_one_out(values, [], dim=(-1,)) * spread(dresult)
    elif Reduce == "mean":
        shares = spread(dresult / k.reduce_sum(there, dim=(-1,)))
    elif Reduce in ("amin", "amax"):
        hit = k.cast_like(k.equal(values, spread(result)), values) * there
        shares = hit * spread(dresult / k.reduce_sum(hit, dim=(-1,)))
    else:
        shares = spread(dresult)
    parts = k.split_like(k.add_members(shares, which, each), both, axis=0)
    return (lambda: k.reshape_like(parts[0], x)), (lambda: k.reshape_like(parts[1], value))


@op(
    "members",
    "X Index -> Out",
    attrs={"axis": 0, "own": True, "last": False},
    trait=Trait.INTERNAL,
    differentiable=False,
)
def members(k, like, index, *, axis, own, last):
    """For each element of *like* the places of its members among the elements of *like* and then those of *index*.

    They stand along a last dimension, filled up with -1. The element itself is left out where others are written
    unless *own*; of those only the last one counts when *last*.
    """
    xp = k.xp
    size = math.prod(like.shape)
    at = _targets(k, index, like.shape, axis % like.ndim)
    order = xp.argsort(at, stable=True)
    each = counts(xp, at, size)
    starts = xp.cumsum(each) - each
    itself = xp.arange(size)
    if last:
        latest = size + order[xp.maximum(starts + each - 1, 0)] if at.size else itself
        return xp.where(each > 0, latest, itself).reshape((*like.shape, 1))
    most = _most(each, index.shape[axis % like.ndim])
    places = xp.full((size, most + 1), -1, itself.dtype)
    places = put(places, (slice(None), 0), itself if own else xp.where(each > 0, -1, itself))
    places = put(places, (at[order], xp.arange(at.size) - starts[at[order]] + 1), size + order)
    return places.reshape((*like.shape, most + 1))


def _most(each, along):
    """The largest number of members, or what it may be at most where they are not counted yet."""
    if not isinstance(each, np.ndarray):
        return along
    return int(each.max()) if each.size else 0


@op("pick_members", "X Index -> Out", attrs={"fill": 0.0}, trait=Trait.INTERNAL)
def pick_members(k, x, index, *, fill):
    """The elements of the vector *x* at *index*, *fill* where that is -1."""
    return k.xp.where(index < 0, k.xp.asarray(fill, x.dtype), x[k.xp.maximum(index, 0)])


@op("add_members", "X Index Y -> Out", trait=Trait.INTERNAL)
def add_members(k, x, index, like):
    """A vector like *like* with *x* added at *index* where that is not -1: the transpose of ``pick_members``."""
    there = index >= 0
    out = k.xp.zeros(like.shape, x.dtype)
    return add_at(out, k.xp.where(there, index, 0).reshape(-1), k.xp.where(there, x, 0).reshape(-1))


@pick_members.gradient(wrt="X")
def _(k, x: Like, index, dout):
    return k.add_members(dout, index, x)


@add_members.gradient(wrt="X")
def _(k, index, dout):
    return k.pick_members(dout, index)


@put_along_axis.samples
def _(make):
    twice = exactly([[0, 0], [1, 3], [2, -2]], "int64")
    yield make(x=(3, 4), index=twice, value=(3, 2), Axis=1)
    for reduce in REDUCES[1:]:
        for own in (True, False):
            yield make(x=distinct((3, 4)), index=twice, value=distinct((3, 2)), Axis=1, Reduce=reduce, Include_self=own)
    zeros = exactly([[0.0, 2.0], [0.0, 3.0]])
    yield make(x=zeros, index=exactly([[0, 0], [0, 1]], "int32"), value=zeros, Axis=1, Reduce="multiply")
    ties = exactly([[1.0, 2.0], [2.0, 3.0]])
    yield make(x=ties, index=exactly([[1, 0]], "int64"), value=exactly([[2.0, 2.0]]), Reduce="amax", smooth=False)
    yield make(x=(2, 4, 3), index=ints((2, 5, 1), 4), value=(2, 5, 1), Axis=-2, Reduce="add")
    yield make(x=(3,), index=exactly([], "int64"), value=(0,), Reduce="mean")
    yield make(x=(2, 0), index=ints((0, 0), 1), value=(0, 0), Reduce="add")

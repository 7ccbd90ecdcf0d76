"""The middle element, and which elements it is made of."""

from __future__ import annotations

import numpy as np

from ...core.errors import ShapeError
from ..infer import axis_in
from ..opdef import op
from ..refusals import may_hold
from ..samples import distinct, exactly
from ..writing import put_along


def _at(xp, like, places, axis):
    """1 at *places* along *axis*, 0 elsewhere."""
    return put_along(xp.zeros(like.shape, "int64"), places, 1, axis)


@op("median", "X -> Out Index Parts", attrs={"axis": 0, "mean": True, "split": True})
def median(k, x, *, axis, mean, split):
    """The element in the middle along *axis*, which stays with size 1; NaN where there is any.

    Of two in the middle it is their mean, or the smaller one. ``Index`` is where that stands, or the first NaN;
    ``Parts`` says how the gradient is shared: n for an element that gets the n-th part of it, 0 for one that gets
    nothing. Elements equal to the result share equally if *split* is set.
    """
    xp = k.xp
    order = xp.argsort(x, axis=axis, stable=True)
    count = x.shape[axis]
    if not count:
        raise _shape_error(x.shape)
    below = xp.take(order, np.array([(count - 1) // 2]), axis)
    above = xp.take(order, np.array([count // 2]), axis) if mean else below
    low, high = xp.take_along_axis(x, below, axis), xp.take_along_axis(x, above, axis)
    equal = x == low
    two = below != above
    parts = xp.maximum(_at(xp, x, below, axis), _at(xp, x, above, axis)) * xp.where(two, 2, 1)
    if split:
        parts = xp.where(low == high, equal * xp.sum(equal, axis=axis, keepdims=True), parts)
    out = (low + high) / 2 if mean else low
    flawed = xp.isnan(x)
    if may_hold(flawed):
        first = xp.argmax(flawed, axis=axis, keepdims=True)
        has = xp.any(flawed, axis=axis, keepdims=True)
        below, out = xp.where(has, first, below), xp.where(has, xp.nan, out)
        parts = xp.where(has, _at(xp, x, first, axis), parts)
    return out.astype(x.dtype), below, parts


def _shape_error(shape):
    return ShapeError(f"median: there is no element in the middle of none: X is {list(shape)}")


@median.infer
def _(x, *, axis):
    at = axis_in(axis, x.ndim, "median")
    if not x.shape[at]:
        raise _shape_error(x.shape)
    out = x.replace_shape(1 if i == at else d for i, d in enumerate(x.shape))
    return out, out.replace_dtype("int64"), x.replace_dtype("int64")


@median.gradient
def _(k, parts, dout):
    numbers = k.cast_like(parts, dout)
    shared = dout / k.select(numbers > 0, numbers, k.ones_like(numbers))
    return k.select(numbers > 0, shared, k.zeros_like(shared))


@median.samples
def _(make):
    yield make(x=distinct((5,)))
    yield make(x=distinct((4, 3)))
    yield make(x=distinct((2, 5, 4)), axis=1)
    yield make(x=distinct((2, 4)), axis=-1, mean=False)
    yield make(x=distinct((3, 2)), axis=1, mean=False, split=False)
    yield make(x=exactly([[2.0, 2.0, 5.0, 2.0], [1.0, 3.0, 3.0, 3.0]]), axis=1, smooth=False)

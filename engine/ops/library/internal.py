"""Operators that only gradient rules use.

They take their target shape from another tensor instead of from an attribute, so that rules work while dimensions are
unknown and can be differentiated again.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ..opdef import Like, Trait, op


@lru_cache(1 << 12)
def broadcast_axes(shape, target, axis):
    """Return *target*'s place in *shape*: its shape with ones filled in, and the axes of *shape* to sum over."""
    if axis in (-1, len(shape) - len(target)):
        aligned = (1,) * (len(shape) - len(target)) + tuple(target)
    else:
        aligned = (1,) * axis + tuple(target) + (1,) * (len(shape) - axis - len(target))
    summed = tuple(i for i, (m, n) in enumerate(zip(shape, aligned, strict=True)) if n == 1 and m != 1)
    return aligned, summed


@op("sum_to", "X Y -> Out", attrs={"axis": -1}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def sum_to(k, x, like, *, axis):
    """Sum *x* over the dimensions that *like* was broadcast over, giving the shape of *like*."""
    if x.shape == like.shape:
        return x
    if len(x.shape) < len(like.shape):
        return x.reshape(like.shape)
    _, summed = broadcast_axes(x.shape, like.shape, axis)
    return (x.sum(axis=summed) if summed else x).reshape(like.shape)


@sum_to.gradient(wrt="X")
def _(k, x: Like, dout, *, axis):
    return k.expand_like(dout, x, axis=axis)


@op("expand_like", "X Y -> Out", attrs={"axis": -1}, trait=Trait.INTERNAL | Trait.MOVES)
def expand_like(k, x, like, *, axis):
    """Broadcast *x* to the shape of *like*: the inverse of ``sum_to``."""
    if x.shape == like.shape:
        return x
    if x.size == math.prod(like.shape) and x.ndim >= like.ndim:
        return x.reshape(like.shape)
    aligned, _ = broadcast_axes(like.shape, x.shape, axis)
    return k.xp.broadcast_to(x.reshape(aligned), like.shape)


@expand_like.gradient(wrt="X")
def _(k, x: Like, dout, *, axis):
    return k.sum_to(dout, x, axis=axis)


@op("align", "X Y -> Out", attrs={"axis": -1}, trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def align(k, x, like, *, axis):
    """Give *x* the ones that let it broadcast against *like* with its first dimension at *axis*."""
    if axis in (-1, like.ndim - x.ndim) or x.ndim > like.ndim:
        return x
    return x.reshape(broadcast_axes(like.shape, x.shape, axis)[0])


@align.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


@op("reshape_like", "X Y -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def reshape_like(k, x, like):
    """*x* in the shape of *like*."""
    return x.reshape(like.shape)


@reshape_like.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


@op("unshape", "X XShape -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def unshape(k, x, xshape):
    """*x* in the shape that an ``XShape`` output remembers: all but its leading 0."""
    return x.reshape(xshape.shape[1:])


@unshape.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


@op("zeros_like", "X -> Out", trait=Trait.INTERNAL | Trait.MOVES, differentiable=False)
def zeros_like(k, x):
    """Zeros in the shape and dtype of *x*."""
    return k.xp.zeros(x.shape, x.dtype)


@op("ones_like", "X -> Out", trait=Trait.INTERNAL | Trait.MOVES, differentiable=False)
def ones_like(k, x):
    """Ones in the shape and dtype of *x*."""
    return k.xp.ones(x.shape, x.dtype)


@op("size_of", "X -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC, differentiable=False)
def size_of(k, x):
    """The number of elements of *x*, as a tensor of its dtype."""
    return k.xp.asarray(math.prod(x.shape), x.dtype)


@op("cast_like", "X Y -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def cast_like(k, x, like):
    """*x* in the dtype of *like*; of complex numbers only the real parts, unless that is complex too."""
    if x.dtype == like.dtype:
        return x
    return (x if like.dtype.kind == "c" else x.real).astype(like.dtype)


@cast_like.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.cast_like(dout, x)

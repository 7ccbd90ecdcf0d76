"""Reductions over some or all dimensions.

``dim`` lists the dimensions, ``reduce_all`` (or an empty list) means all of them.
"""

from __future__ import annotations

from ...spec import dtype as dtype_of
from ..infer import axes_in, reduced
from ..opdef import Like, Trait, op

ATTRS = {"dim": (), "keep_dim": False, "reduce_all": False, "in_dtype": -1, "out_dtype": -1}


def _axes(dim, reduce_all, ndim, name):
    return tuple(range(ndim)) if reduce_all or not dim else axes_in(dim, ndim, name)


def _reduced_spec(name, dtype_rule=None):
    def infer(x, *, dim, keep_dim, reduce_all, out_dtype):
        spec = x.with_shape(reduced(x.shape, _axes(dim, reduce_all, x.ndim, name), keep_dim))
        if out_dtype != -1:
            return spec.with_dtype(out_dtype)
        return spec.with_dtype(dtype_rule(x.dtype)) if dtype_rule else spec

    return infer


def _summed_dtype(given):
    """Sums of narrow integers and of truth values are int64, so that they do not wrap around."""
    return "int64" if given.name in ("bool", "int32", "int16", "int8", "uint8") else given


@op("reduce_sum", attrs=ATTRS)
def reduce_sum(k, x, *, dim, keep_dim, reduce_all, out_dtype):
    """Sum over dimensions; a narrow integer type widens to int64."""
    axes = _axes(dim, reduce_all, x.ndim, "reduce_sum")
    target = dtype_of(out_dtype) if out_dtype != -1 else dtype_of(_summed_dtype(dtype_of(x.dtype)))
    return k.xp.sum(x, axis=axes, keepdims=keep_dim, dtype=target.numpy)


@op("reduce_mean", attrs=ATTRS)
def reduce_mean(k, x, *, dim, keep_dim, reduce_all):
    """Mean over dimensions."""
    return k.xp.mean(x, axis=_axes(dim, reduce_all, x.ndim, "reduce_mean"), keepdims=keep_dim, dtype=x.dtype)


reduce_sum.infer(_reduced_spec("reduce_sum", _summed_dtype))
reduce_mean.infer(_reduced_spec("reduce_mean"))


@op("restore", "X Y -> Out", attrs={"dim": (), "reduce_all": False}, trait=Trait.INTERNAL)
def restore(k, x, like, *, dim, reduce_all):
    """Broadcast a reduced *x* back to the shape of *like*: the transpose of a sum over *dim*."""
    axes = _axes(dim, reduce_all, like.ndim, "restore")
    return k.xp.broadcast_to(x.reshape(reduced(like.shape, axes, True)), like.shape)


@restore.gradient(wrt="X")
def _(k, x: Like, dout, *, dim, reduce_all):
    return k.reshape_like(k.reduce_sum(dout, dim=dim, reduce_all=reduce_all), x)


@reduce_sum.gradient
def _(k, x: Like, dout, *, dim, reduce_all):
    return k.restore(k.cast_like(dout, x), x, dim=dim, reduce_all=reduce_all)


@reduce_mean.gradient
def _(k, x: Like, dout, *, dim, reduce_all):
    share = k.size_of(dout) / k.size_of(x)
    return k.restore(dout * share, x, dim=dim, reduce_all=reduce_all)


for _op in (reduce_sum, reduce_mean):

    @_op.samples
    def _(make):
        yield make(x=(2, 3, 4), reduce_all=True)
        yield make(x=(2, 3, 4), dim=(1,))
        yield make(x=(2, 3, 4), dim=(0, -1), keep_dim=True)
        yield make(x=())

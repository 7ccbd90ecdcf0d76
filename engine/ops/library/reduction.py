"""Reductions over some or all dimensions, and running sums.

``dim`` lists the dimensions, ``reduce_all`` (or an empty list) means all of them; where a program says neither it is
the first one, as in Paddle.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import DtypeError, UnsupportedError
from ...core.spec import bool_, int64
from ...core.spec import dtype as dtype_of
from ..accumulation import accumulate
from ..infer import axes_in, axis_in, expect_floating, product, reduce_shape
from ..opdef import Like, Trait, op
from ..samples import bools, distinct, exactly, ints

ATTRS = {"dim": (0,), "keep_dim": False, "reduce_all": False, "in_dtype": -1, "out_dtype": -1}


def axes_of(dim, reduce_all, ndim, name):
    """The dimensions to reduce, counted from the front."""
    axes = tuple(range(ndim)) if reduce_all or not dim else axes_in(dim, ndim, name)
    return axes if ndim else ()


def _reduced_spec(name, dtype_rule=None, real=False):
    """The shape rule of a reduction; operators that could take their dimensions from tensors refuse those."""

    def infer(x, *axis_tensors, dim, keep_dim, reduce_all, out_dtype):
        if any(axis_tensors):
            raise UnsupportedError(
                f"{name}: dimensions given as tensors are not part of this version of gradtool.",
                hint="give them as a list of numbers",
            )
        if real:
            expect_floating(x, "X", name)
        if x.dtype.is_complex and out_dtype != -1 and not dtype_of(out_dtype).is_complex:
            raise DtypeError(
                f"{name}: a result of {dtype_of(out_dtype).name} cannot hold {x.dtype.name}.",
                hint="sum the parts, paddle.real(x) and paddle.imag(x)",
            )
        spec = x.replace_shape(reduce_shape(x.shape, axes_of(dim, reduce_all, x.ndim, name), keep_dim))
        if out_dtype != -1:
            return spec.replace_dtype(out_dtype)
        return spec.replace_dtype(dtype_rule(x.dtype)) if dtype_rule else spec

    return infer


def _summed_dtype(kind):
    """Sums of int32 and of truth values are int64; narrower integers stay what they are (as in Paddle)."""
    return "int64" if kind.name in ("bool", "int32") else kind


def _running_dtype(kind):
    """Running sums of integers are int64."""
    return int64 if kind.is_integer or kind is bool_ else kind


@op("reduce_sum", attrs=ATTRS, trait=Trait.HOLOMORPHIC)
def reduce_sum(k, x, *, dim, keep_dim, reduce_all, out_dtype):
    """Sum over dimensions; int32 and truth values are counted in int64."""
    axes = axes_of(dim, reduce_all, x.ndim, "reduce_sum")
    kind = dtype_of(out_dtype if out_dtype != -1 else _summed_dtype(dtype_of(x.dtype)))
    return k.xp.sum(x, axis=axes, keepdims=keep_dim, dtype=kind.numpy)


@op("reduce_mean", attrs=ATTRS, trait=Trait.HOLOMORPHIC)
def reduce_mean(k, x, *, dim, keep_dim, reduce_all):
    """Mean over dimensions."""
    return _mean(k.xp, x, axes_of(dim, reduce_all, x.ndim, "reduce_mean"), keep_dim)


@op("mean", attrs={"rank": 0}, trait=Trait.HOLOMORPHIC)
def mean(k, x, *, rank):
    """Mean of all elements: a scalar, or with rank 1 one element as ``fluid.layers.mean`` made it."""
    return _mean(k.xp, x, None, False).reshape((1,) * rank)


def _mean(xp, x, axes, keep):
    """The mean in the dtype of *x*; half precision and integers are added up in a wider one."""
    # Of no elements it is 0 / 0; NumPy's own mean says so in a warning.
    average = xp.mean(x, axis=axes, keepdims=keep) if x.size else xp.sum(x, axis=axes, keepdims=keep) / 0
    return average if average.dtype == x.dtype else average.astype(x.dtype)


@op("reduce_prod", attrs=ATTRS, trait=Trait.HOLOMORPHIC)
def reduce_prod(k, x, *, dim, keep_dim, reduce_all, out_dtype):
    """Product over dimensions."""
    axes = axes_of(dim, reduce_all, x.ndim, "reduce_prod")
    kind = dtype_of(out_dtype if out_dtype != -1 else x.dtype)
    return k.xp.prod(x, axis=axes, keepdims=keep_dim, dtype=kind.numpy)


reduce_sum.infer(_reduced_spec("reduce_sum", _summed_dtype))
reduce_mean.infer(_reduced_spec("reduce_mean"))
reduce_prod.infer(_reduced_spec("reduce_prod"))


@mean.infer
def _(x, *, rank):
    return x.replace_shape((1,) * rank)


@op("restore", "X Y -> Out", attrs={"dim": (), "reduce_all": False}, trait=Trait.INTERNAL | Trait.MOVES)
def restore(k, x, like, *, dim, reduce_all):
    """Broadcast a reduced *x* back to the shape of *like*: the transpose of a sum over *dim*."""
    axes = axes_of(dim, reduce_all, like.ndim, "restore")
    return k.xp.broadcast_to(x.reshape(reduce_shape(like.shape, axes, True)), like.shape)


@restore.gradient(wrt="X")
def _(k, x: Like, dout, *, dim, reduce_all):
    return k.reshape_like(k.reduce_sum(dout, dim=dim, reduce_all=reduce_all), x)


@restore.samples
def _(make):
    yield make(x=(3,), like=(2, 3, 4), dim=(0, -1))
    yield make(x=(), like=(2, 3))


@reduce_sum.gradient
def _(k, x: Like, dout, *, dim, reduce_all):
    return k.restore(k.cast_like(dout, x), x, dim=dim, reduce_all=reduce_all)


@reduce_mean.gradient
def _(k, x: Like, dout, *, dim, reduce_all):
    share = k.size_of(dout) / k.size_of(x)
    return k.restore(dout * share, x, dim=dim, reduce_all=reduce_all)


@mean.gradient
def _(k, x: Like, dout):
    return k.restore(dout / k.size_of(x), x)


@reduce_prod.gradient
def _(k, x, out: Like, dout, *, dim, reduce_all):
    others = k.leave_one_out(x, [], dim=dim, reduce_all=reduce_all)
    return k.restore(k.cast_like(dout, x), x, dim=dim, reduce_all=reduce_all) * others


@op("leave_one_out", "X V* -> Out", attrs={"dim": (), "reduce_all": False}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def leave_one_out(k, x, vs, *, dim, reduce_all):
    """For each element the product of the others along *dim*, differentiated once in each direction of *vs*.

    With m directions it is the coefficient of ``t₁…tₘ`` in the product of the other ``x + Σ tₐ·vₐ``. Zeros are no
    special case, as nothing is divided: the product of what comes before times the product of what comes after.
    """
    axes = axes_of(dim, reduce_all, x.ndim, "leave_one_out")
    order = (*(i for i in range(x.ndim) if i not in axes), *axes)
    shape = [x.shape[i] for i in order]
    lead = shape[: x.ndim - len(axes)]

    def rows(a):
        """The reduced dimensions as one, at the end."""
        return a.transpose(order).reshape((*lead, math.prod(shape[len(lead) :])))

    before = _running_product(k.xp, [rows(a) for a in (x, *vs)])
    after = _running_product(k.xp, [rows(a)[..., ::-1] for a in (x, *vs)])
    everything = len(before) - 1
    total = sum(before[s] * after[everything ^ s][..., ::-1] for s in range(len(before)))
    return total.reshape(shape).transpose(sorted(range(x.ndim), key=order.__getitem__))


def _running_product(xp, factors):
    """Products of all elements before each one along the last dimension, as polynomials in one variable per direction.

    A polynomial is a list indexed by sets of variables, written as bit masks; squares of variables count as zero. The
    scan doubles its reach each time, so it takes as many steps as the length has binary digits.
    """
    x, *vs = factors
    length, parts = x.shape[-1], 1 << len(vs)
    terms = [xp.zeros_like(x)] * parts
    terms[0] = x
    for a, v in enumerate(vs):
        terms[1 << a] = v
    one, zero = xp.ones_like(x[..., :1]), xp.zeros_like(x[..., :1])
    levels = [xp.concatenate([zero if s else one, t], axis=-1)[..., :length] for s, t in enumerate(terms)]
    if not vs:
        return [xp.cumprod(levels[0], axis=-1)]
    reach = 1
    while reach < length:
        near, far = [a[..., :-reach] for a in levels], [a[..., reach:] for a in levels]
        levels = [
            xp.concatenate([a[..., :reach], sum(near[p] * far[s ^ p] for p in range(parts) if p & s == p)], axis=-1)
            for s, a in enumerate(levels)
        ]
        reach *= 2
    return levels


@leave_one_out.infer
def _(x, vs):
    return x


@leave_one_out.gradient
def _(k, x, vs, dout, *, dim, reduce_all):
    def along(directions):
        return lambda: k.leave_one_out(x, directions, dim=dim, reduce_all=reduce_all)

    return along([*vs, dout]), [along([*vs[:a], *vs[a + 1 :], dout]) for a in range(len(vs))]


@leave_one_out.samples
def _(make):
    yield make(x=(2, 3, 4), vs=[], dim=(1,))
    yield make(x=(2, 3, 5), vs=[(2, 3, 5)], dim=(0, -1))
    yield make(x=(3,), vs=[(3,), (3,)])
    yield make(x=exactly([0.0, 2.0, 0.0, 3.0]), vs=[(4,), (4,)])


WITH_AXES = "X AxisTensor? AxisTensorList* -> Out"


@op("reduce_max", attrs=ATTRS)
def reduce_max(k, x, *, dim, keep_dim, reduce_all):
    """Largest element over dimensions."""
    return k.xp.max(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_max"), keepdims=keep_dim)


@op("reduce_min", attrs=ATTRS)
def reduce_min(k, x, *, dim, keep_dim, reduce_all):
    """Smallest element over dimensions."""
    return k.xp.min(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_min"), keepdims=keep_dim)


@op("reduce_amax", WITH_AXES, attrs=ATTRS)
def reduce_amax(k, x, axis_tensor, axis_tensor_list, *, dim, keep_dim, reduce_all):
    """Largest element over dimensions."""
    return k.xp.max(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_amax"), keepdims=keep_dim)


@op("reduce_amin", WITH_AXES, attrs=ATTRS)
def reduce_amin(k, x, axis_tensor, axis_tensor_list, *, dim, keep_dim, reduce_all):
    """Smallest element over dimensions."""
    return k.xp.min(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_amin"), keepdims=keep_dim)


@op("reduce_all", WITH_AXES, attrs=ATTRS, trait=Trait.COMPLEX, differentiable=False)
def reduce_all(k, x, axis_tensor, axis_tensor_list, *, dim, keep_dim, reduce_all):
    """True if all elements over dimensions are true."""
    return k.xp.all(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_all"), keepdims=keep_dim)


@op("reduce_any", WITH_AXES, attrs=ATTRS, trait=Trait.COMPLEX, differentiable=False)
def reduce_any(k, x, axis_tensor, axis_tensor_list, *, dim, keep_dim, reduce_all):
    """True if any element over dimensions is true."""
    return k.xp.any(x, axis=axes_of(dim, reduce_all, x.ndim, "reduce_any"), keepdims=keep_dim)


for _op in (reduce_max, reduce_min, reduce_amax, reduce_amin):
    _op.infer(_reduced_spec(_op.type))
for _op in (reduce_all, reduce_any):
    _op.infer(_reduced_spec(_op.type, lambda dtype: "bool"))


def _shared(k, x, out, dout, dim, reduce_all):
    """The gradient of an extreme value: elements that tie for it share it equally (as in Paddle 3.1)."""
    where = {"dim": dim, "reduce_all": reduce_all}
    hit = k.cast_like(k.equal(x, k.restore(out, x, **where)), x)
    return hit * k.restore(dout, x, **where) / k.restore(k.reduce_sum(hit, **where), x, **where)


for _op in (reduce_max, reduce_min):

    @_op.gradient
    def _(k, x, out, dout, *, dim, reduce_all):
        return _shared(k, x, out, dout, dim, reduce_all)


for _op in (reduce_amax, reduce_amin):

    @_op.gradient(wrt="X")
    def _(k, x, axis_tensor, axis_tensor_list, out, dout, *, dim, reduce_all):
        return _shared(k, x, out, dout, dim, reduce_all)


@op("logsumexp", attrs={"axis": (0,), "keepdim": False, "reduce_all": False})
def logsumexp(k, x, *, axis, keepdim, reduce_all):
    """Logarithm of the sum of exponentials over dimensions, without overflow; -∞ where nothing is summed."""
    xp = k.xp
    axes = axes_of(axis, reduce_all, x.ndim, "logsumexp")
    if not x.size:
        return xp.full(reduce_shape(x.shape, axes, keepdim), -xp.inf, x.dtype)
    top = xp.max(x, axis=axes, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0)
    logs = xp.log(xp.sum(xp.exp(x - top), axis=axes, keepdims=True)) + top
    return logs.reshape(reduce_shape(x.shape, axes, keepdim))


@logsumexp.infer
def _(x, *, axis, keepdim, reduce_all):
    expect_floating(x, "X", "logsumexp")
    return x.replace_shape(reduce_shape(x.shape, axes_of(axis, reduce_all, x.ndim, "logsumexp"), keepdim))


@logsumexp.gradient
def _(k, x, out, dout, *, axis, reduce_all):
    where = {"dim": axis, "reduce_all": reduce_all}
    return k.restore(dout, x, **where) * k.exp(x - k.restore(out, x, **where))


@op("cumsum", attrs={"axis": -1, "flatten": False, "exclusive": False, "reverse": False}, trait=Trait.HOLOMORPHIC)
def cumsum(k, x, *, axis, flatten, exclusive, reverse):
    """Running sums along a dimension, or over all elements in a row.

    *exclusive* leaves each element out of its own sum; *reverse* starts from the end.
    """
    kind = _running_dtype(dtype_of(x.dtype)).numpy
    if flatten:
        x, axis = x.reshape(-1), 0
    if not x.ndim:
        return (x - x if exclusive else x).astype(kind, copy=False)
    if reverse:
        x = k.xp.flip(x, axis)
    sums = accumulate(k.xp, "cumsum", x, axis, kind)
    if exclusive:
        first, others = ([slice(None)] * sums.ndim for _ in range(2))
        first[axis], others[axis] = slice(1), slice(-1)
        sums = k.xp.concatenate([k.xp.zeros_like(sums[tuple(first)]), sums[tuple(others)]], axis)
    return k.xp.flip(sums, axis) if reverse else sums


@cumsum.infer
def _(x, *, axis, flatten):
    x = x.replace_dtype(_running_dtype(x.dtype))
    if flatten:
        return x.replace_shape((product(x.shape),))
    axis_in(axis, x.ndim, "cumsum")
    return x


@cumsum.gradient
def _(k, x: Like, dout, *, axis, flatten, exclusive, reverse):
    axis = 0 if flatten else axis
    return k.reshape_like(k.cumsum(dout, axis=axis, exclusive=exclusive, reverse=not reverse), x)


for _op in (reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_amax, reduce_amin):

    @_op.samples
    def _(make):
        lists: dict[str, Any] = {} if len(make.op.inputs) == 1 else {"axis_tensor_list": []}
        yield make(x=distinct((2, 3, 4)), reduce_all=True, **lists)
        yield make(x=distinct((2, 3, 4)), dim=(1,), **lists)
        yield make(x=distinct((2, 3, 4)), dim=(0, -1), keep_dim=True, **lists)
        yield make(x=(), **lists)
        yield make(x=(0, 3), dim=(1,), **lists)
        yield make(x=exactly([[1.0, 2.0, 2.0], [0.0, 0.0, 1.0]]), dim=(1,), smooth=False, **lists)
        if make.op in (reduce_sum, reduce_prod):
            yield make(x=ints((2, 3), 5, dtype="int32"), smooth=False)
            yield make(x=ints((2, 3), 5), out_dtype=6, smooth=False)


for _op in (reduce_all, reduce_any):

    @_op.samples
    def _(make):
        yield make(x=bools((2, 3, 4)), axis_tensor_list=[])
        yield make(x=bools((2, 3, 4)), dim=(0, -1), keep_dim=True, axis_tensor_list=[])
        yield make(x=bools((0, 3)), dim=(0,), axis_tensor_list=[])


@mean.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=(2, 3), rank=1)
    yield make(x=())


@logsumexp.samples
def _(make):
    yield make(x=(2, 3, 4), reduce_all=True)
    yield make(x=(2, 3, 4), axis=(1,))
    yield make(x=(2, 3, 4), axis=(0, -1), keepdim=True)
    yield make(x=exactly([[1000.0, 999.5], [-1000.0, -999.0]]), axis=(1,))
    yield make(x=())
    yield make(x=(0, 3), axis=(1,))
    yield make(x=(0, 3), axis=(0,), smooth=False)  # of -∞ there are no differences
    yield make(x=(3, 0), axis=(1,), keepdim=True, smooth=False)


@cumsum.samples
def _(make):
    yield make(x=(2, 3, 4), axis=1)
    yield make(x=(2, 3, 4), axis=-1, reverse=True)
    yield make(x=(2, 3, 4), axis=0, exclusive=True)
    yield make(x=(2, 3), flatten=True, exclusive=True, reverse=True)
    yield make(x=())
    yield make(x=(0, 3), axis=0)

"""Filling by a mask, and the softmax of scores in which a step sees only those before it."""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..choosing import choose
from ..infer import broadcast, expect_floating
from ..opdef import Like, Trait, op
from ..samples import bools, ints


@op("masked_fill", "x mask value -> out", trait=Trait.MOVES)
def masked_fill(k, x, mask, value):
    """*x* with *value* where *mask* holds; the three are broadcast against each other."""
    return choose(k.xp, mask, value, x)


@masked_fill.infer
def _(x, mask, value):
    if mask.dtype.name != "bool":
        raise DtypeError(f"masked_fill: mask must hold truth values, but received {mask.dtype.name}")
    if value.dtype is not x.dtype:
        raise DtypeError(f"masked_fill: value is {value.dtype.name} and x is {x.dtype.name}", hint="cast the value")
    whole = broadcast(x.shape, mask.shape, op="masked_fill")
    every = broadcast(whole, value.shape, op="masked_fill")
    if len(every) > len(whole) or any(n not in (m, UNKNOWN) for m, n in zip(every, whole, strict=True)):
        raise ShapeError(f"masked_fill: value {list(value.shape)} must fit into x and mask, {list(whole)}")
    return x.replace_shape(whole)


@masked_fill.gradient(wrt="x value")
def _(k, x: Like, mask, value: Like, dout):
    zero = k.zeros_like(dout)
    return (
        lambda: k.sum_to(k.select(mask, zero, dout), x),
        lambda: k.sum_to(k.select(mask, dout, zero), value),
    )


@op("causal_softmax", type="fused_softmax_mask_upper_triangle")
def causal_softmax(k, x):
    """Softmax along the last dimension, in row i over the first i + 1 elements alone; zeros elsewhere."""
    xp = k.xp
    seen = xp.tril(xp.ones(x.shape[-2:], bool))
    top = xp.max(xp.where(seen, x, -xp.inf), axis=-1, keepdims=True) if x.size else x
    grown = xp.where(seen, xp.exp(xp.where(seen, x - top, 0)), 0).astype(x.dtype)
    return grown / xp.sum(grown, axis=-1, keepdims=True)


@causal_softmax.infer
def _(x):
    name = "fused_softmax_mask_upper_triangle"
    expect_floating(x, "X", name)
    if x.ndim < 2 or (UNKNOWN not in x.shape[-2:] and x.shape[-2] != x.shape[-1]):
        raise ShapeError(
            f"{name}: the last two dimensions of X {list(x.shape)} must be equal",
            hint="causal attention compares a sequence with itself; give a mask for two sequences",
        )
    return x


@causal_softmax.gradient
def _(k, out, dout):
    return out * (dout - k.reduce_sum(dout * out, dim=(-1,), keep_dim=True))


@masked_fill.samples
def _(make):
    yield make(x=(2, 3, 4), mask=bools((2, 3, 4)), value=())
    yield make(x=(3, 4), mask=bools((3, 1)), value=(1,))
    yield make(x=(3, 1), mask=bools((2, 1, 4)), value=(4,))
    yield make(x=(), mask=bools(()), value=())
    yield make(x=(0, 3), mask=bools((3,)), value=())
    yield make(x=ints((2, 3), 5), mask=bools((2, 3)), value=ints((), 5), smooth=False)


@causal_softmax.samples
def _(make):
    yield make(x=(2, 3, 4, 4))
    yield make(x=(3, 3))
    yield make(x=(0, 2, 2))
    yield make(x=(2, 0, 0))


@op(
    "sequence_mask",
    "X MaxLenTensor? -> Y",
    attrs={"maxlen": -1, "out_dtype": 3},
    differentiable=False,
)
def sequence_mask(k, x, longest, *, maxlen, out_dtype):
    """For each length in *x* that many ones, then zeros; ``maxlen`` altogether, or as many as the longest has."""
    if longest is not None:
        maxlen = int(longest.reshape(()))
    elif maxlen < 0:
        maxlen = int(x.max()) if x.size else 0
    return (k.xp.arange(maxlen) < x[..., None]).astype(dtype_of(out_dtype).numpy)


@sequence_mask.infer
def _(x, longest, *, maxlen, out_dtype):
    if not x.dtype.is_integer:
        raise DtypeError(f"sequence_mask: X must hold whole numbers, but received {x.dtype.name}")
    count = UNKNOWN if longest is not None or maxlen < 0 else maxlen
    return TensorSpec((*x.shape, count), dtype_of(out_dtype))


@sequence_mask.samples
def _(make):
    yield make(x=ints((2, 3), 5), maxlen=4)
    yield make(x=ints((), 5), maxlen=3, out_dtype=5)
    yield make(x=ints((0, 3), 5), maxlen=2)

"""Keeping gradients small: their norms, and scaling by them."""

from __future__ import annotations

from ...core.errors import OperatorError
from ...core.spec import TensorSpec
from ..infer import expect_floating, real_shape_rule
from ..opdef import op


@op("clip_by_norm", attrs={"max_norm": 1.0})
def clip_by_norm(k, x, *, max_norm):
    """*x*, scaled down to the Euclidean norm *max_norm* where it is longer."""
    norm = k.xp.sqrt((x * x).sum())
    return (x * (max_norm / k.xp.maximum(norm, max_norm))).astype(x.dtype)


@clip_by_norm.gradient
def _(k, x, dout, *, max_norm):
    norm = k.sqrt(k.reduce_sum(x * x, reduce_all=True))
    shorter = norm <= max_norm  # asked this way round, a norm that is NaN goes on into the gradient
    # Where it is clipped, out = max_norm·x / norm: the part of the gradient along x does not pass.
    safe = k.select(shorter, k.ones_like(norm), norm)
    along = x * (k.reduce_sum(x * dout, reduce_all=True) / (safe * safe))
    return k.select(k.expand_like(shorter, x), dout, (dout - along) * (max_norm / safe))


@clip_by_norm.infer
def _(x, *, max_norm):
    # NaN is no limit either.
    if not max_norm > 0:
        raise OperatorError(f"clip_by_norm: max_norm must be greater than 0, but is {max_norm:g}")
    expect_floating(x, "X", "clip_by_norm")
    return x


@clip_by_norm.samples
def _(make):
    yield make(x=(2, 3), max_norm=0.5)
    yield make(x=(2,), max_norm=9.0)
    yield make(x=(), max_norm=0.05)
    yield make(x=(0, 2))


@op("squared_l2_norm")
def squared_l2_norm(k, x):
    """The sum of the squares of all elements, as a tensor of shape [1]."""
    return (x * x).sum().reshape((1,))


@squared_l2_norm.gradient
def _(k, x, dout):
    return x * (k.reshape_like(dout, k.reduce_sum(x, reduce_all=True)) * 2.0)


@squared_l2_norm.infer
def _(x):
    real_shape_rule("squared_l2_norm")(x)
    return TensorSpec((1,), x.dtype)


@squared_l2_norm.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=())
    yield make(x=(0, 2))

"""Parts of a number, and functions of one number with settings."""

from __future__ import annotations

from ..infer import real_shape_rule
from ..opdef import Trait, op
from ..samples import exactly, ints, uniform


@op("trunc", trait=Trait.UNARY)
def trunc(k, x):
    """Each element without what stands behind the decimal point."""
    return x if x.dtype.kind in "iu" else k.xp.trunc(x)


@trunc.gradient
def _(k, dout):
    return k.zeros_like(dout)


@op("stanh", attrs={"scale_a": 0.67, "scale_b": 1.7159}, trait=Trait.UNARY | Trait.HOLOMORPHIC)
def stanh(k, x, *, scale_a, scale_b):
    """Hyperbolic tangent with other scales, ``scale_b·tanh(scale_a·x)``."""
    return k.xp.tanh(x * scale_a) * scale_b


@stanh.gradient
def _(k, x, dout, *, scale_a, scale_b):
    return dout * (1 - k.square(k.tanh(x * scale_a))) * (scale_a * scale_b)


@op("logit", attrs={"eps": 1e-6}, trait=Trait.UNARY)
def logit(k, x, *, eps):
    """Inverse of the logistic function, ``log(x / (1 - x))``, of x moved into [eps, 1 - eps]; NaN without eps."""
    xp = k.xp
    if eps:
        moved = xp.clip(x, eps, 1 - eps)
        return xp.log(moved) - xp.log1p(-moved)
    inside = (x >= 0) & (x <= 1)
    safe = xp.where(inside, x, 0.5).astype(x.dtype)
    return xp.where(inside, xp.log(safe) - xp.log1p(-safe), xp.nan).astype(x.dtype)


logit.infer(real_shape_rule("logit"))


@logit.gradient
def _(k, x, dout, *, eps):
    slope = dout / (x * (1 - x))
    if not eps:
        return k.select(k.logical_or(x < 0, x > 1), k.full_like(slope, value=float("nan")), slope)
    return k.select(k.logical_or(x < eps, x > 1 - eps), k.zeros_like(slope), slope)


@trunc.samples
def _(make):
    yield make(x=uniform(0.1, 0.9, (2, 3)))
    yield make(x=uniform(-1.9, -1.1, ()))
    yield make(x=ints((2, 3), 5, -5), smooth=False)
    yield make(x=(0, 3))


@stanh.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=(2, 3), scale_a=0.5, scale_b=2.0)
    yield make(x=())
    yield make(x=(0, 3))


@logit.samples
def _(make):
    yield make(x=uniform(0.1, 0.9, (2, 3)), eps=0.0)
    yield make(x=uniform(0.3, 0.7, (2, 3)), eps=0.2)
    yield make(x=exactly([0.05, 0.95, 0.5]), eps=0.1)
    yield make(x=uniform(0.1, 0.9, ()))
    yield make(x=(0, 3))

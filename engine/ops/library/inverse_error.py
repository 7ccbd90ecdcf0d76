"""The inverse of the error function."""

from __future__ import annotations

import math

from ..infer import real_shape_rule
from ..opdef import Trait, op
from ..samples import uniform
from . import special

GUESS = 0.147
"""The constant of a formula good to 2e-3 (S. Winitzki, "A handy approximation for the error function", 2008)."""

STEPS = 3
"""Halley's method triples the number of digits with each step."""


@op("erfinv", trait=Trait.UNARY)
def erfinv(k, x):
    """Number whose error function is the element; ±∞ at ±1, and beyond."""
    xp = k.xp
    wide = x.astype("float64")
    inside = xp.abs(wide) < 1
    safe = xp.where(inside, wide, 0.0)
    size = xp.abs(safe)
    logarithm = xp.log1p(-size * size)
    middle = 2 / (math.pi * GUESS) + logarithm / 2
    out = xp.sqrt(xp.maximum(xp.sqrt(middle * middle - logarithm / GUESS) - middle, 0.0))
    for _ in range(STEPS):
        # Where the function is nearly 1 the difference from 1 keeps its digits.
        miss = xp.where(size < 0.5, special.erf(xp, out) - size, (1 - size) - special.erfc(xp, out))
        step = miss / (2 / math.sqrt(math.pi) * xp.exp(-out * out))
        out = out - step / (1 + out * step)
    out = xp.where(inside, out, xp.where(xp.isnan(wide), xp.nan, xp.inf))
    return xp.copysign(out, wide).astype(x.dtype)


erfinv.infer(real_shape_rule("erfinv"))


@erfinv.gradient
def _(k, out, dout):
    return dout * k.exp(k.square(out)) * (math.sqrt(math.pi) / 2)


@erfinv.samples
def _(make):
    yield make(x=uniform(-0.9, 0.9, (2, 3)))
    yield make(x=uniform(0.97, 0.99, (3,)))
    yield make(x=uniform(-0.9, 0.9, ()))
    yield make(x=(0, 3))

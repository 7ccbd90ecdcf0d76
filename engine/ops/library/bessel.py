"""Modified Bessel functions of the first kind."""

from __future__ import annotations

from ..infer import real_shape_rule
from ..opdef import Trait, op
from ..samples import uniform
from . import bessel_series


def _define(name, order, values, doc):
    def kernel(k, x):
        return values(k.xp, x, order)

    kernel.__doc__ = doc
    defined = op(name, "x -> out", trait=Trait.UNARY)(kernel)
    defined.infer(real_shape_rule(name))

    @defined.samples
    def _(make):
        yield make(x=uniform(0.3, 3, (2, 3)))
        yield make(x=uniform(-9, -4, (2, 3)))
        yield make(x=uniform(20, 24, (3,)))
        yield make(x=uniform(0.3, 3, ()))
        yield make(x=(0, 3))

    return defined


i0 = _define("i0", 0, bessel_series.plain, "Modified Bessel function of the first kind of order 0.")
i1 = _define("i1", 1, bessel_series.plain, "Modified Bessel function of the first kind of order 1.")
i0e = _define("i0e", 0, bessel_series.scaled, "Modified Bessel function of order 0, times ``exp(-|x|)``.")
i1e = _define("i1e", 1, bessel_series.scaled, "Modified Bessel function of order 1, times ``exp(-|x|)``.")


def _over(k, value, x):
    """``value / x`` for a first-order function, which is a half at 0."""
    zero = k.equal(x, k.zeros_like(x))
    halves = k.full_like(x, value=0.5)
    return k.select(zero, halves, value / k.select(zero, k.ones_like(x), x))


@i0.gradient
def _(k, x, dout):
    return dout * k.i1(x)


@i1.gradient
def _(k, x, out, dout):
    return dout * (k.i0(x) - _over(k, out, x))


@i0e.gradient
def _(k, x, out, dout):
    return dout * (k.i1e(x) - k.sign(x) * out)


@i1e.gradient
def _(k, x, out, dout):
    return dout * (k.i0e(x) - k.sign(x) * out - _over(k, out, x))

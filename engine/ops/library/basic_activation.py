"""The activation functions that nearly every program has, apart from the others, which it need not load for them."""

from __future__ import annotations

from ..bounding import maximum
from ..infer import real_shape_rule
from ..opdef import Trait, op
from ..samples import exactly, uniform

_KINKS = exactly([-6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0])


def sampled(defined, **settings):
    """Give *defined* samples on both sides of its kinks, far from them and on them.

    Args:
        settings: attributes unlike the defaults, for one sample more.
    """

    @defined.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=uniform(1.2, 2.8, (2, 3)))
        yield make(x=uniform(-2.8, -1.2, (2, 3)))
        yield make(x=exactly([-25.0, -7.5, 7.5, 25.5]))
        yield make(x=())
        yield make(x=(0, 3))
        yield make(x=_KINKS, smooth=False)
        if settings:
            yield make(x=(2, 3), **settings)


def logistic(xp, x):
    """``1 / (1 + exp(-x))``."""
    if x.dtype.itemsize >= 4:
        # Where exp overflows the quotient is 0, which is what these precisions have for it.
        return 1 / (1 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


@op("relu", trait=Trait.UNARY)
def relu(k, x):
    """The positive part of each element."""
    return maximum(k.xp, x, 0)


@relu.gradient
def _(k, out, dout):
    return dout * (out > 0)


@op("sigmoid", trait=Trait.UNARY | Trait.HOLOMORPHIC)
def sigmoid(k, x):
    """``1 / (1 + exp(-x))``."""
    return logistic(k.xp, x)


@sigmoid.gradient
def _(k, out, dout):
    return dout * out * (1 - out)


@op("tanh", trait=Trait.UNARY | Trait.HOLOMORPHIC)
def tanh(k, x):
    """Hyperbolic tangent of each element."""
    return k.xp.tanh(x)


@tanh.gradient
def _(k, out, dout):
    return dout * (1 - out * out)


for _op in (relu, sigmoid, tanh):
    sampled(_op)
for _op in (sigmoid, tanh):
    _op.infer(real_shape_rule(_op.type))

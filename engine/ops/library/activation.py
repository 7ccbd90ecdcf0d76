"""Activation functions; conventions at the kinks are Paddle's (paddle.md 10)."""

from __future__ import annotations

from ..opdef import Trait, op


@op("relu", trait=Trait.UNARY)
def relu(k, x):
    """The positive part of each element."""
    return k.xp.maximum(x, 0)


@relu.gradient
def _(k, out, dout):
    return dout * (out > 0)


@op("sigmoid", trait=Trait.UNARY)
def sigmoid(k, x):
    """``1 / (1 + exp(-x))``, without overflow at either end."""
    xp = k.xp
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


@sigmoid.gradient
def _(k, out, dout):
    return dout * out * (1 - out)


@op("tanh", trait=Trait.UNARY)
def tanh(k, x):
    """Hyperbolic tangent of each element."""
    return k.xp.tanh(x)


@tanh.gradient
def _(k, out, dout):
    return dout * (1 - out * out)


for _op in (relu, sigmoid, tanh):

    @_op.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=())
        yield make(x=(0, 3))

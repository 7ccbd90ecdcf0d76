"""The gamma function's logarithm, its derivatives, and the incomplete gamma function."""

from __future__ import annotations

from ...core.errors import OperatorError
from ..infer import broadcast, real_shape_rule
from ..opdef import Trait, op
from ..samples import uniform
from . import gamma_series


def _logarithm(name):
    """Paddle has the function twice."""

    def kernel(k, x):
        return gamma_series.lgamma(k.xp, x)

    kernel.__doc__ = "Logarithm of the size of the gamma function, ``log |Γ(x)|``."
    defined = op(name, "X -> Out" if name == "lgamma" else "x -> out", trait=Trait.UNARY)(kernel)
    defined.infer(real_shape_rule(name))
    return defined


lgamma, gammaln = _logarithm("lgamma"), _logarithm("gammaln")


@lgamma.gradient
def _(k, x, dout):
    return dout * k.digamma(x)


@gammaln.gradient
def _(k, x, dout):
    return dout * k.digamma(x)


@op("digamma", trait=Trait.UNARY)
def digamma(k, x):
    """Derivative of the logarithm of the gamma function."""
    return gamma_series.digamma(k.xp, x)


@digamma.gradient
def _(k, x, dout):
    return dout * k.polygamma(x, n=1)


@op("polygamma", "x -> out", attrs={"n": 1}, trait=Trait.UNARY)
def polygamma(k, x, *, n):
    """Derivative of order *n* of digamma, n >= 1."""
    return gamma_series.polygamma(k.xp, x, n)


@polygamma.infer
def _(x, *, n):
    if n < 1:
        raise OperatorError(f"polygamma: n must be 1 or more, but is {n}")
    return x


@polygamma.gradient
def _(k, x, dout, *, n):
    return dout * k.polygamma(x, n=n + 1)


@op("gammaincc", "x y -> out")
def gammaincc(k, x, y):
    """Upper incomplete gamma function ``Γ(x, y)/Γ(x)``; as in Paddle, *x* gets no gradient."""
    return gamma_series.gammaincc(k, x, y)


@gammaincc.infer
def _(x, y):
    return x.replace_shape(broadcast(x.shape, y.shape, -1, "gammaincc"))


@gammaincc.gradient(wrt="y")
def _(k, x, y, dout):
    return k.sum_to(-dout * k.exp(k.log(y) * (x - 1) - y - k.lgamma(x)), y)


for _op in (lgamma, gammaln, digamma, polygamma):

    @_op.samples
    def _(make):
        yield make(x=uniform(0.2, 3, (2, 3)))
        yield make(x=uniform(8, 30, (2, 3)))
        yield make(x=uniform(-2.8, -2.2, (3,)))
        yield make(x=uniform(1.2, 3, ()))
        yield make(x=(0, 3))


@gammaincc.samples
def _(make):
    yield make(x=uniform(0.5, 3, (2, 3)), y=uniform(0.5, 3, (2, 3)))
    yield make(x=uniform(0.5, 3, (4, 1)), y=uniform(4, 9, (3,)))
    yield make(x=uniform(6, 9, ()), y=uniform(1, 3, ()))
    yield make(x=(0, 3), y=uniform(1, 2, (3,)))

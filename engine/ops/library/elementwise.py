"""Two tensors in, broadcast against each other, element by element.

``axis`` is Paddle's: the dimension of X at which Y's first one stands; -1 aligns the last dimensions, as NumPy does.
"""

from __future__ import annotations

from ...core.errors import UsageError
from ..choosing import choose
from ..opdef import Like, Trait, op
from ..samples import distinct, exactly, ints, uniform
from .internal import broadcast_axes


def _placed(x, y, axis):
    """*y* with trailing ones, so that NumPy broadcasting puts it at *axis* of *x*."""
    if axis == -1 or y.ndim >= x.ndim or axis == x.ndim - y.ndim:
        return y
    return y.reshape(broadcast_axes(x.shape, y.shape, axis)[0])


def _define(name, type_, function, takes=Trait.NONE):
    """An elementwise operator whose kernel is the array module's *function*.

    Args:
        takes: how it takes complex numbers, if it does.
    """

    def kernel(k, x, y, *, axis):
        return function(k.xp)(x, _placed(x, y, axis))

    kernel.__doc__ = f"{_DOCS[name]}, broadcast against each other."
    return op(name, "X Y -> Out", type=type_, attrs={"axis": -1}, trait=Trait.ELEMENTWISE | takes)(kernel)


def _by_zero():
    return UsageError("whole numbers cannot be divided by zero", hint="look at the divisor, or divide floats")


def _refusing_zero(function):
    """A division of the array module that refuses whole numbers over zero, where NumPy would say 0."""

    def divide(x, y):
        if y.dtype.kind in "iu" and x.size:
            from ..refusals import refuse  # read here: most programs do without

            refuse(~y.all(), _by_zero)
        return function(x, y)

    return divide


_DOCS = {
    "add": "Sum of two tensors",
    "sub": "Difference of two tensors",
    "mul": "Product of two tensors",
    "div": "Quotient of two tensors",
    "pow": "First tensor to the power of the second",
    "max": "Larger of two tensors, element by element",
    "min": "Smaller of two tensors, element by element",
    "mod": "Remainder of a division, with the sign of the divisor",
    "floordiv": "Quotient rounded towards minus infinity",
}


def _powers(xp):
    """Powers; of whole numbers by negative ones what stands before the decimal point, as in Paddle."""

    def compute(x, y):
        if y.dtype.kind != "i":
            return xp.power(x, y)
        from ..refusals import may_hold  # read here: most programs do without

        if not may_hold(y < 0):
            return xp.power(x, y)
        inverse = xp.where(x == -1, 1 - 2 * (y % 2), x == 1)
        return xp.where(y < 0, inverse, xp.power(x, xp.maximum(y, 0))).astype(x.dtype)

    return compute


add = _define("add", "elementwise_add", lambda xp: xp.add, Trait.HOLOMORPHIC)
sub = _define("sub", "elementwise_sub", lambda xp: xp.subtract, Trait.HOLOMORPHIC)
mul = _define("mul", "elementwise_mul", lambda xp: xp.multiply, Trait.HOLOMORPHIC)
div = _define("div", "elementwise_div", lambda xp: xp.divide, Trait.HOLOMORPHIC)
pow = _define("pow", "elementwise_pow", _powers, Trait.HOLOMORPHIC)
max = _define("max", "elementwise_max", lambda xp: xp.maximum)
min = _define("min", "elementwise_min", lambda xp: xp.minimum)
mod = _define("mod", "elementwise_mod", lambda xp: _refusing_zero(xp.mod))
floordiv = _define("floordiv", "elementwise_floordiv", lambda xp: _refusing_zero(xp.floor_divide))
floordiv.differentiable = False


@add.gradient
def _(k, x: Like, y: Like, dout, *, axis):
    return (lambda: k.sum_to(dout, x)), (lambda: k.sum_to(dout, y, axis=axis))


@sub.gradient
def _(k, x: Like, y: Like, dout, *, axis):
    return (lambda: k.sum_to(dout, x)), (lambda: k.sum_to(-dout, y, axis=axis))


@mul.gradient
def _(k, x, y, dout, *, axis):
    return (
        lambda: k.sum_to(dout * k.align(y, x, axis=axis), x),
        lambda: k.sum_to(dout * x, y, axis=axis),
    )


@div.gradient
def _(k, x: Like, y, out, dout, *, axis):
    part = dout / k.align(y, x, axis=axis)
    return (lambda: k.sum_to(part, x)), (lambda: k.sum_to(-part * out, y, axis=axis))


@pow.gradient
def _(k, x, y, dout, *, axis):
    exponent = k.align(y, x, axis=axis)

    def base():
        # x**(y-1) is infinite at x = 0 where y < 1, and the product with y must be 0 where y is 0.
        zero = k.zeros_like(exponent)
        return k.sum_to(
            dout * exponent * k.pow(x, k.select(k.equal(exponent, zero), k.ones_like(exponent), exponent - 1)), x
        )

    def power():
        # The derivative by the exponent is x**y · ln x. At x = 0 it is 0 for y > 0, and taken as 0 for y = 0. Negative
        # x have powers at single y only, and no derivative.
        flat = k.equal(x, k.zeros_like(x))
        if x.dtype.kind != "c":
            flat = k.logical_and(flat, exponent >= 0)
        safe = k.select(flat, k.ones_like(x), x)
        return k.sum_to(dout * k.pow(safe, exponent) * k.log(safe), y, axis=axis)

    return base, power


def _share(k, x, y, dout, axis, larger):
    """Gradients of maximum and minimum; a tie is shared equally (as in Paddle 3.1)."""
    y_at = k.align(y, x, axis=axis)
    tie, share, zero = k.equal(x, y_at), dout * 0.5, k.zeros_like(dout)

    def chosen(mine):
        return k.select(mine, dout, k.select(tie, share, zero))

    return (
        lambda: k.sum_to(chosen(x > y_at if larger else x < y_at), x),
        lambda: k.sum_to(chosen(x < y_at if larger else x > y_at), y, axis=axis),
    )


@max.gradient
def _(k, x, y, dout, *, axis):
    return _share(k, x, y, dout, axis, larger=True)


@min.gradient
def _(k, x, y, dout, *, axis):
    return _share(k, x, y, dout, axis, larger=False)


@mod.gradient
def _(k, x, y, dout, *, axis):
    return (
        lambda: k.sum_to(dout, x),
        lambda: k.sum_to(-dout * k.floordiv(x, y, axis=axis), y, axis=axis),
    )


@op("select", "Condition X Y -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def select(k, condition, x, y):
    """*x* where the condition holds, else *y*; the shapes broadcast."""
    return choose(k.xp, condition, x, y)


@select.gradient(wrt="X Y")
def _(k, condition, x: Like, y: Like, dout):
    zero = k.zeros_like(dout)
    return (
        lambda: k.sum_to(k.select(condition, dout, zero), x),
        lambda: k.sum_to(k.select(condition, zero, dout), y),
    )


for _op in (add, sub, mul, div, max, min):

    @_op.samples
    def _(make):
        yield make(x=(2, 3), y=(2, 3))
        yield make(x=(4, 2, 3), y=(3,))
        yield make(x=(4, 2, 3), y=(2, 1))
        yield make(x=(4, 1, 3), y=(2, 3))
        yield make(x=(4, 2, 3), y=(2,), axis=1)
        yield make(x=(4, 2, 3), y=(4, 2), axis=0)
        yield make(x=(), y=())
        yield make(x=(3,), y=())
        yield make(x=(0, 3), y=(3,))


@pow.samples
def _(make):
    yield make(x=uniform(0.5, 2, (2, 3)), y=uniform(0.5, 2, (2, 3)))
    yield make(x=uniform(0.5, 2, (4, 2, 3)), y=uniform(-2, 2, (3,)))
    yield make(x=uniform(0.5, 2, (4, 2, 3)), y=uniform(-2, 2, (2,)), axis=1)
    yield make(x=uniform(0.5, 2, ()), y=exactly(2.0))


@mod.samples
def _(make):
    yield make(x=distinct((4, 3)), y=uniform(0.31, 0.37, (3,)))
    yield make(x=ints((4, 3), 9), y=ints((3,), 5, 1), smooth=False)


@floordiv.samples
def _(make):
    yield make(x=ints((4, 3), 9), y=ints((3,), 5, 1))
    yield make(x=ints((4, 2, 3), 9), y=ints((2,), 5, 1), axis=1)

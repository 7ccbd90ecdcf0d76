"""Functions of two numbers beyond arithmetic, broadcast against each other."""

from __future__ import annotations

from ..infer import broadcast
from ..opdef import Like, Trait, op
from ..samples import exactly, ints, uniform


@op("atan2", "X1 X2 -> Out", trait=Trait.ELEMENTWISE)
def atan2(k, y, x):
    """Angle of the point (X2, X1) to the positive first axis, between -π and π."""
    return k.xp.arctan2(y, x)


@atan2.gradient
def _(k, y, x, dout):
    size = k.square(x) + k.square(y)
    return (lambda: k.sum_to(dout * x / size, y)), (lambda: k.sum_to(-dout * y / size, x))


@op("logaddexp", "X Y -> Out", trait=Trait.ELEMENTWISE)
def logaddexp(k, x, y):
    """Logarithm of the sum of ``exp(X)`` and ``exp(Y)``, without overflow."""
    xp = k.xp
    return xp.maximum(x, y) + xp.log1p(xp.exp(-xp.abs(x - y)))


@logaddexp.gradient
def _(k, x, y, dout):
    # The shares of the two in the sum: smooth, where maximum and abs are not, also where both are equal.
    return (lambda: k.sum_to(dout * k.sigmoid(x - y), x)), (lambda: k.sum_to(dout * k.sigmoid(y - x), y))


@op("copysign", "x y -> out", trait=Trait.ELEMENTWISE)
def copysign(k, x, y):
    """Size of the first with the sign of the second, of which zeros have one too."""
    return k.xp.copysign(x, y)


@copysign.gradient
def _(k, x, y, out, dout):
    def first():
        # The result is x or -x; at 0 there is no slope, and the gradient is 0.
        slope = k.sign(out) * k.sign(x)
        return k.sum_to(k.select(k.not_equal(slope, k.zeros_like(slope)), dout * slope, k.zeros_like(dout)), x)

    return first, (lambda: k.zeros_like(y))


@op("nextafter", "x y -> out", trait=Trait.ELEMENTWISE, differentiable=False)
def nextafter(k, x, y):
    """Next number after the first that can be represented, towards the second."""
    return k.xp.nextafter(x, y)


@op("heaviside", "X Y -> Out", type="elementwise_heaviside", trait=Trait.ELEMENTWISE)
def heaviside(k, x, y):
    """Step: 0 for negative first numbers, 1 for positive ones, and for 0 the second number."""
    return k.xp.heaviside(x, y).astype(x.dtype)


@heaviside.gradient
def _(k, x, y: Like, dout):
    def second():
        at_zero = k.equal(x, k.zeros_like(x))
        return k.sum_to(k.select(at_zero, dout, k.zeros_like(dout)), y)

    return (lambda: k.zeros_like(x)), second


def _extreme(name, function, doc):
    def kernel(k, x, y):
        return function(k.xp)(x, y)

    kernel.__doc__ = doc
    defined = op(name, "X Y -> Out", type=f"elementwise_{name}", trait=Trait.ELEMENTWISE)(kernel)

    @defined.gradient
    def _(k, x, y, dout):
        ahead = x >= y if name == "fmax" else x <= y
        first = k.logical_or(ahead, k.isnan(y))
        zero = k.zeros_like(dout)
        return (
            lambda: k.sum_to(k.select(first, dout, zero), x),
            lambda: k.sum_to(k.select(first, zero, dout), y),
        )

    return defined


fmax = _extreme(
    "fmax", lambda xp: xp.fmax, "Larger of two numbers; NaN counts for nothing where the other is a number."
)
fmin = _extreme(
    "fmin", lambda xp: xp.fmin, "Smaller of two numbers; NaN counts for nothing where the other is a number."
)


@op("lerp", "X Y Weight -> Out")
def lerp(k, x, y, weight):
    """``X + Weight·(Y - X)``; as in Paddle, *Weight* gets no gradient."""
    return x + weight * (y - x)


@lerp.infer
def _(x, y, weight):
    return x.replace_shape(broadcast(broadcast(x.shape, y.shape, -1, "lerp"), weight.shape, -1, "lerp"))


@lerp.gradient(wrt="X Y")
def _(k, x: Like, y: Like, weight, dout):
    return (lambda: k.sum_to(dout * (1 - weight), x)), (lambda: k.sum_to(dout * weight, y))


# -- whole numbers ----------------------------------------------------------------------------------------------------


@op("gcd", "X Y -> Out", trait=Trait.ELEMENTWISE, differentiable=False)
def gcd(k, x, y):
    """Greatest common divisor, never negative."""
    return k.xp.gcd(x, y)


@op("lcm", "X Y -> Out", trait=Trait.ELEMENTWISE, differentiable=False)
def lcm(k, x, y):
    """Least common multiple, never negative."""
    return k.xp.lcm(x, y)


def _shift(name, left):
    def kernel(k, x, y, *, is_arithmetic):
        xp = k.xp
        bits = x.dtype.itemsize * 8
        beyond = (y < 0) | (y >= bits)  # nothing of the number is left, as in Paddle, but for its sign
        places = xp.where(beyond, xp.zeros_like(y), y)
        nothing = xp.zeros_like(x)
        if left:
            return xp.where(beyond, nothing, xp.left_shift(x, places))
        if x.dtype.kind == "u":
            return xp.where(beyond, nothing, xp.right_shift(x, places))
        if is_arithmetic:
            return xp.right_shift(x, xp.where(beyond, xp.full_like(y, bits - 1), y))
        plain = f"uint{bits}"
        moved = xp.right_shift(x.astype(plain), places.astype(plain)).astype(x.dtype)
        return xp.where(beyond, nothing, moved)

    way = "left; zeros come in" if left else "right; without is_arithmetic zeros come in, otherwise copies of the sign"
    kernel.__doc__ = f"Bits of the first number, moved by the second to the {way}."
    return op(name, "x y -> out", attrs={"is_arithmetic": True}, trait=Trait.ELEMENTWISE, differentiable=False)(kernel)


bitwise_left_shift = _shift("bitwise_left_shift", left=True)
bitwise_right_shift = _shift("bitwise_right_shift", left=False)


# -- samples ----------------------------------------------------------------------------------------------------------


for _op, _names in ((atan2, ("y", "x")), (copysign, ("x", "y")), (logaddexp, ("x", "y"))):

    @_op.samples
    def _(make, _names=_names):
        for first, second in (((2, 3), (2, 3)), ((4, 2, 3), (3,)), ((4, 1), (2, 1, 3)), ((), ()), ((0, 3), (3,))):
            yield make(**dict(zip(_names, (first, second), strict=True)))


@nextafter.samples
def _(make):
    yield make(x=(2, 3), y=(3,))
    yield make(x=(), y=())


@heaviside.samples
def _(make):
    yield make(x=(2, 3), y=(3,))
    yield make(x=exactly([0.0, 1.0, -1.0, 0.0]), y=(4,), smooth=False)
    yield make(x=(), y=())


for _op in (fmax, fmin):

    @_op.samples
    def _(make):
        yield make(x=(2, 3), y=(2, 3))
        yield make(x=(4, 2, 3), y=(3,))
        yield make(x=(), y=())
        yield make(x=(0, 3), y=(3,))
        yield make(x=exactly([1.0, 2.0]), y=exactly([1.0, 2.0]), smooth=False)


@lerp.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3), weight=(2, 3))
    yield make(x=(4, 1), y=(3,), weight=())
    yield make(x=(3,), y=(2, 3), weight=uniform(0, 1, (4, 1, 1)))
    yield make(x=(), y=(), weight=())


for _op in (gcd, lcm):

    @_op.samples
    def _(make):
        yield make(x=ints((2, 3), 20, -20), y=ints((3,), 20, 1))
        yield make(x=ints((), 20), y=ints((), 20))


for _op in (bitwise_left_shift, bitwise_right_shift):

    @_op.samples
    def _(make):
        yield make(x=ints((2, 3), 90, -90), y=ints((3,), 6))
        yield make(x=ints((2, 3), 90, -90), y=ints((2, 1), 6), is_arithmetic=False)
        yield make(x=ints((), 9, dtype="int32"), y=ints((), 3, dtype="int32"))

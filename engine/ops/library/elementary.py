"""Elementary functions: one tensor in, one of the same shape and dtype out, element by element, without attributes."""

from __future__ import annotations

import math
from typing import Any

from ..infer import real_part, real_shape_rule
from ..opdef import Trait, op
from ..samples import ints, uniform
from . import special


def _define(name, doc, function, rule, *ranges, integers=False, takes=Trait.HOLOMORPHIC):
    """An operator for a function of one variable.

    Args:
        function: a name in the array module, or ``function(xp, x)``.
        rule: its gradient rule.
        ranges: where samples are drawn from, as pairs of ends.
        integers: whether it takes integers too.
        takes: how it takes complex numbers, if it does.
    """

    def kernel(k, x):
        return getattr(k.xp, function)(x) if isinstance(function, str) else function(k.xp, x)

    kernel.__doc__ = doc
    defined = op(name, trait=Trait.UNARY | takes)(kernel)
    defined.gradient(rule)
    if not integers:
        defined.infer(real_shape_rule(name))

    @defined.samples
    def _(make):
        for low, high in ranges:
            yield make(x=uniform(low, high, (2, 3)))
        yield make(x=uniform(ranges[0][0], ranges[0][1], ()))
        yield make(x=(0, 3))
        if integers:
            yield make(x=ints((2, 3), 5, -5), smooth=False)

    return defined


def _rounding(function):
    """A rounding function that leaves integers as they are."""
    return lambda xp, x: x if x.dtype.kind in "iub" else getattr(xp, function)(x)


_ROOT_PI = math.sqrt(math.pi)

FUNCTIONS: tuple[tuple[Any, ...], ...] = (
    ("exp", "e to the power of each element.", "exp", lambda k, out, dout: dout * out, (-2, 2)),
    ("expm1", "``exp(x) - 1``, exact near 0.", "expm1", lambda k, out, dout: dout * (out + 1), (-2, 2)),
    ("log", "Natural logarithm of each element.", "log", lambda k, x, dout: dout / x, (0.3, 2)),
    ("log1p", "``log(1 + x)``, exact near 0.", "log1p", lambda k, x, dout: dout / (x + 1), (-0.7, 2)),
    ("log2", "Logarithm to base 2 of each element.", "log2", lambda k, x, dout: dout / (x * math.log(2)), (0.3, 2)),
    ("log10", "Logarithm to base 10 of each element.", "log10", lambda k, x, dout: dout / (x * math.log(10)), (0.3, 2)),
    ("sqrt", "Square root of each element.", "sqrt", lambda k, out, dout: dout * 0.5 / out, (0.3, 2)),
    (
        "rsqrt",
        "One over the square root.",
        lambda xp, x: 1 / xp.sqrt(x),
        lambda k, out, dout: dout * -0.5 * (out * out * out),
        (0.3, 2),
    ),
    (
        "reciprocal",
        "One over each element.",
        "reciprocal",
        lambda k, out, dout: -dout * out * out,
        (0.3, 2),
        (-2, -0.3),
    ),
    ("sin", "Sine of each element.", "sin", lambda k, x, dout: dout * k.cos(x), (-4, 4)),
    ("cos", "Cosine of each element.", "cos", lambda k, x, dout: -dout * k.sin(x), (-4, 4)),
    ("tan", "Tangent of each element.", "tan", lambda k, x, dout: dout * (k.square(k.tan(x)) + 1), (-1, 1)),
    (
        "asin",
        "Inverse sine of each element.",
        "arcsin",
        lambda k, x, dout: dout * k.rsqrt(1 - k.square(x)),
        (-0.9, 0.9),
    ),
    (
        "acos",
        "Inverse cosine of each element.",
        "arccos",
        lambda k, x, dout: -dout * k.rsqrt(1 - k.square(x)),
        (-0.9, 0.9),
    ),
    ("atan", "Inverse tangent of each element.", "arctan", lambda k, x, dout: dout / (k.square(x) + 1), (-4, 4)),
    ("sinh", "Hyperbolic sine of each element.", "sinh", lambda k, x, dout: dout * k.cosh(x), (-2, 2)),
    ("cosh", "Hyperbolic cosine of each element.", "cosh", lambda k, x, dout: dout * k.sinh(x), (-2, 2)),
    (
        "asinh",
        "Inverse hyperbolic sine of each element.",
        "arcsinh",
        lambda k, x, dout: dout * k.rsqrt(k.square(x) + 1),
        (-4, 4),
    ),
    (
        "acosh",
        "Inverse hyperbolic cosine of each element.",
        "arccosh",
        # Not the root of x² - 1, which has the wrong sign for complex x to the left of the imaginary axis.
        lambda k, x, dout: dout * k.rsqrt(x - 1) * k.rsqrt(x + 1),
        (1.3, 4),
    ),
    (
        "atanh",
        "Inverse hyperbolic tangent of each element.",
        "arctanh",
        lambda k, x, dout: dout / (1 - k.square(x)),
        (-0.9, 0.9),
    ),
)
"""Name, documentation, function, gradient rule and ranges of samples of functions of real and complex numbers."""

ROUNDING: tuple[tuple[Any, ...], ...] = (
    ("floor", "Next whole number below.", _rounding("floor"), lambda k, dout: k.zeros_like(dout), (0.1, 0.9)),
    ("ceil", "Next whole number above.", _rounding("ceil"), lambda k, dout: k.zeros_like(dout), (-1.9, -1.1)),
)
"""The same of functions of real numbers and integers."""


def _away_from_zero(k, x, dout):
    """The gradient of the size: it grows fastest in the direction of x itself."""
    if x.dtype.kind != "c":
        return dout * k.sign(x)
    size = k.abs(x)
    return x * (dout / k.select(size > 0, size, k.ones_like(size)))


for _row in FUNCTIONS:
    _define(*_row)
for _row in ROUNDING:
    _define(*_row, integers=True, takes=Trait.NONE)
_define("square", "Square of each element.", "square", lambda k, x, dout: dout * (2 * x), (-2, 2), integers=True)
_define(
    "erf",
    "Error function, ``2/√π ∫₀ˣ exp(-t²) dt``.",
    special.erf,
    lambda k, x, dout: dout * k.exp(-k.square(x)) * (2 / _ROOT_PI),
    (-3, 3),
    (4.1, 5),
    takes=Trait.NONE,
)
_define(
    "abs",
    "Size of each element; of a complex number, its real absolute value.",
    "abs",
    _away_from_zero,
    (0.2, 2),
    (-2, -0.2),
    integers=True,
    takes=Trait.COMPLEX,
).infer(real_part)

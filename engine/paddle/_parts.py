"""``paddle.frac``, ``paddle.erfinv``, ``paddle.sinc``, ``paddle.lgamma``, …: further functions of single elements."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import DTYPES, bool_, float32
from gradtool.engine.core.value import AnyTensor

from ._arguments import RefusedValue, tensor
from ._complex import imag
from ._creation import cast, full, full_like, ones_like, zeros_like
from ._dispatch import apply, unary
from ._logic import isinf, isnan, logical_and, logical_not
from ._math import abs, floor, log2, pow, scale, sign, sin, subtract
from ._reduction import sum
from ._search import where

digamma = unary("digamma")
erfinv = unary("erfinv")
gammaln = unary("gammaln")
i0 = unary("i0")
i0e = unary("i0e")
i1 = unary("i1")
i1e = unary("i1e")
lgamma = unary("lgamma")


def trunc(input: Any, name: str | None = None) -> AnyTensor:
    """Each element without what stands behind the decimal point."""
    return apply("trunc", tensor(input, "input", "paddle.trunc"), name=name)  # type: ignore[no-any-return]


def frac(x: Any, name: str | None = None) -> AnyTensor:
    """Return the digits behind the decimal point, with the sign of the element."""
    return subtract(x, apply("trunc", tensor(x, "x", "paddle.frac")))


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> AnyTensor:
    """``scale_b·tanh(scale_a·x)``."""
    attrs = {"scale_a": scale_a, "scale_b": scale_b}
    return apply("stanh", tensor(x, "x", "paddle.stanh"), attrs=attrs, name=name)  # type: ignore[no-any-return]


def logit(x: Any, eps: float | None = None, name: str | None = None) -> AnyTensor:
    """``log(x / (1 - x))``.

    Args:
        eps: x is first moved into [eps, 1 - eps]; without it the result is NaN outside of [0, 1].
    """
    return apply("logit", x, attrs={"eps": eps or 0.0}, name=name)  # type: ignore[no-any-return]


def polygamma(x: Any, n: int, name: str | None = None) -> AnyTensor:
    """The derivative of order *n* of digamma.

    Raises:
        ArgumentTypeError: *n* is no whole number (a TypeError).
        UsageError: it is negative (a ValueError).
    """
    if not isinstance(n, int):
        raise ArgumentTypeError(f"The input of n must be int type, but received: {type(n)} in paddle.polygamma.")
    if n < 0:
        raise UsageError(
            f"The input of n must be greater than or equal to 0. But received n = {n} in paddle.polygamma."
        )
    if n == 0:
        return digamma(x)
    return apply("polygamma", x, attrs={"n": n}, name=name)  # type: ignore[no-any-return]


def multigammaln(x: Any, p: int, name: str | None = None) -> AnyTensor:
    """The logarithm of the gamma function of *p* dimensions: ``Σ lgamma(x - j/2)`` for j below p, and a constant."""
    if p < 1:
        raise RefusedValue(f"The p must be greater than or equal to 1, But received p is {p} in paddle.multigammaln.")
    x = tensor(x, "x", "paddle.multigammaln", REAL)
    total = lgamma(x)
    for j in range(1, p):
        total = total + lgamma(x - 0.5 * j)
    return total + 0.25 * p * (p - 1) * math.log(math.pi)  # type: ignore[no-any-return]


REAL = ["float16", "bfloat16", "float32", "float64"]


def gammaincc(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """The upper incomplete gamma function ``Γ(x, y)/Γ(x)``; only *y* gets a gradient.

    Raises:
        UsageError: in dynamic mode, an element is negative (a ValueError).
    """
    return apply("gammaincc", *_not_negative(x, y, "gammaincc"), name=name)  # type: ignore[no-any-return]


def gammainc(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """The lower incomplete gamma function, 1 less :func:`gammaincc`."""
    x, y = _not_negative(x, y, "gammainc")
    return scale(gammaincc(x, y, name), -1.0, 1.0)


def _not_negative(x: Any, y: Any, name: str) -> list[AnyTensor]:
    pair = [tensor(v, what, f"paddle.{name}") for v, what in ((x, "x"), (y, "y"))]
    for v, what in zip(pair, "xy", strict=True):
        if hasattr(v, "array") and (v.array < 0).any():
            raise UsageError(f"paddle.{name}: the input argument {what} must be greater than or equal to 0.")
    return pair


# -- angles -----------------------------------------------------------------------------------------------------------


def rad2deg(x: Any, name: str | None = None) -> AnyTensor:
    """Angles in degrees."""
    attrs = {"scale": 180 / math.pi}
    return apply("scale", _as_float(x, "paddle.rad2deg"), attrs=attrs, key="rad2deg", name=name)  # type: ignore[no-any-return]


def deg2rad(x: Any, name: str | None = None) -> AnyTensor:
    """Angles in radians."""
    attrs = {"scale": math.pi / 180}
    return apply("scale", _as_float(x, "paddle.deg2rad"), attrs=attrs, key="deg2rad", name=name)  # type: ignore[no-any-return]


def _as_float(x: Any, where: str) -> AnyTensor:
    x = tensor(x, "x", where)
    return cast(x, float32) if x.dtype.name in ("int32", "int64") else x


# -- composites -------------------------------------------------------------------------------------------------------


def sinc(x: Any, name: str | None = None) -> AnyTensor:
    """``sin(πx)/(πx)``, which is 1 at 0."""
    x = tensor(x, "x", "paddle.sinc", [*REAL, "complex64", "complex128"])
    zero = x == zeros_like(x)
    turned = where(zero, ones_like(x), x) * math.pi
    # At 0 the first terms of its series, so that its derivatives are right there, too.
    square = x * x * (math.pi * math.pi)
    series = 1.0 - square / 6.0 + square * square / 120.0
    return where(zero, series, sin(turned) / turned)  # type: ignore[no-any-return]


def sgn(x: Any, name: str | None = None) -> AnyTensor:
    """The sign of real numbers; complex ones are divided by their size, and 0 stays 0."""
    x = tensor(x, "x", "paddle.sgn", [*REAL, "complex64", "complex128"])
    if not x.dtype.is_complex:
        return sign(x, name=name)
    size = abs(x)
    return x / where(size == zeros_like(size), ones_like(size), size)  # type: ignore[no-any-return]


def signbit(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether the sign of each element is minus, which zeros have too."""
    x = tensor(x, "x", "paddle.signbit", [d.name for d in DTYPES if d is not bool_ and not d.is_complex])
    sized = apply("copysign", ones_like(x), x)
    return sized < zeros_like(sized)  # type: ignore[no-any-return]


def isneginf(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether each element is -∞."""
    return logical_and(isinf(x), signbit(x))


def isposinf(x: Any, name: str | None = None) -> AnyTensor:
    """Return for each element whether it is +∞."""
    return logical_and(isinf(x), logical_not(signbit(x)))


def isreal(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether each element has no imaginary part."""
    x = tensor(x, "x", "paddle.isreal")
    if not x.dtype.is_complex:
        return full_like(x, True, "bool")
    part = imag(x)
    return part == zeros_like(part)  # type: ignore[no-any-return]


def is_empty(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether the tensor has no elements."""
    made = apply("is_empty", tensor(x, "x", "paddle.is_empty"), name=name)
    made.stop_gradient = True
    return made  # type: ignore[no-any-return]


def nan_to_num(
    x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None
) -> AnyTensor:
    """*x* with numbers in the place of NaN, +∞ (the largest by default) and -∞ (the smallest)."""
    x = tensor(x, "x", "paddle.nan_to_num", REAL)
    largest = LARGEST[x.dtype.name]
    high, low = largest if posinf is None else posinf, -largest if neginf is None else neginf
    out = where(isnan(x), full_like(x, nan), x)
    out = where(out == full_like(x, math.inf), full_like(x, high), out)
    return where(out == full_like(x, -math.inf), full_like(x, low), out)  # type: ignore[no-any-return]


LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}
"""The largest number of each type."""


def frexp(x: Any, name: str | None = None) -> tuple[AnyTensor, AnyTensor]:
    """A number between a half and 1, and a whole one: the element is the first times 2 to the power of the second."""
    x = tensor(x, "x", "paddle.frexp", ["float32", "float64"])
    zero = x == zeros_like(x)
    exponent = where(zero, zeros_like(x), floor(log2(abs(where(zero, ones_like(x), x)))) + 1)
    # 0 has every exponent, so that no slope is that of the mantissa there
    mantissa = where(zero, zeros_like(x), x) / pow(full([], 2.0, x.dtype), exponent)
    return mantissa, exponent


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """Return the number of elements over *axis* that are not zero."""
    x = tensor(x, "x", "paddle.count_nonzero")
    return sum(cast(cast(x, "bool"), "int64"), axis, keepdim=keepdim, name=name)

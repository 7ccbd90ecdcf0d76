"""The logarithm of the gamma function, its derivatives, and the incomplete gamma function, which NumPy does not have.

Small arguments are moved to larger ones by the recurrence, where asymptotic series are good to the last digits: NIST
Digital Library of Mathematical Functions, 5.11.1 (Stirling), 5.11.2 and 25.11.43 (Euler-Maclaurin). Negative ones are
reflected (5.5.3, 5.5.4, 5.15.6). The incomplete function is a power series (8.7.1) below its bend, Lentz's continued
fraction (8.9.2) above it. Everything is computed in double precision.
"""

from __future__ import annotations

import math

BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
)
"""The numbers B₂, B₄, …, B₂₄."""

SHIFT = 10
"""From here on Stirling's series is exact in double precision."""

TERMS = 8
ROUNDS = 2000
"""More than the incomplete gamma function takes for arguments that anybody has."""

SMALLEST = 1e-300


def lgamma(xp, x):
    """``log |Γ(x)|``; infinite at 0, -1, -2, …"""
    x, kind = x.astype("float64"), x.dtype
    left = x < 0.5
    y = xp.where(left, 1 - x, x)
    shifted = y < SHIFT
    product = xp.ones(y.shape)
    for n in range(SHIFT):
        product = product * xp.where(shifted, y + n, 1.0)
    z = xp.where(shifted, y + SHIFT, y)
    right = (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + _stirling(z) - xp.log(product)
    right = xp.where(xp.isinf(y), xp.inf, right)
    turned = xp.log(math.pi / xp.abs(_sine(xp, x))) - right
    return xp.where(xp.isinf(x), xp.inf, xp.where(left, turned, right)).astype(kind)


def _stirling(z):
    square = 1 / (z * z)
    total = 0.0
    for j in range(TERMS, 0, -1):
        total = total * square + BERNOULLI[j - 1] / (2 * j * (2 * j - 1))
    return total / z


def _sine(xp, x):
    """``sin(πx)`` up to its sign, exactly 0 where x is whole."""
    return xp.sin(math.pi * (x - xp.round(x)))


def digamma(xp, x):
    """The derivative of ``log Γ``; at 0 it is -∞, at negative whole numbers there is none."""
    x, kind = x.astype("float64"), x.dtype
    left = x < 0.5
    y = xp.where(left, 1 - x, x)
    shifted = y < SHIFT
    steps = xp.zeros(y.shape)
    small = xp.where(shifted, y, 1.0)
    for n in range(SHIFT):
        steps = steps + 1 / (small + n)
    z = xp.where(shifted, y + SHIFT, y)
    square = 1 / (z * z)
    series = 0.0
    for j in range(TERMS, 0, -1):
        series = series * square + BERNOULLI[j - 1] / (2 * j)
    right = xp.log(z) - 0.5 / z - series * square - xp.where(shifted, steps, 0.0)
    part = x - xp.round(x)
    turned = right - math.pi / xp.tan(math.pi * part)
    out = xp.where(left, turned, right)
    out = xp.where((part == 0) & left, xp.nan, out)
    return xp.where(x == 0, -xp.copysign(xp.inf, x), out).astype(kind)


def polygamma(xp, x, n):
    """The *n*-th derivative of digamma, n >= 1."""
    x, kind = x.astype("float64"), x.dtype
    left = x <= 0
    sign = 1.0 if n % 2 else -1.0
    right = sign * math.factorial(n) * _zeta(xp, n + 1, xp.where(left, 1 - x, x))
    part = x - xp.round(x)
    safe = xp.where(left & (part != 0), part, 0.25)
    # ψₙ(x) = (-1)ⁿ ψₙ(1 - x) - π dⁿ/dxⁿ cot(πx)
    turned = -sign * right - math.pi * _cotangent(n, 1 / xp.tan(math.pi * safe))
    out = xp.where(left, xp.where(part == 0, sign * xp.inf, turned), right)
    return xp.where(xp.isnan(x), xp.nan, out).astype(kind)


def _zeta(xp, s, x):
    """Hurwitz' zeta function for x > 0, by Euler and Maclaurin."""
    count = SHIFT + s
    total = xp.zeros(x.shape)
    for n in range(count):
        total = total + (x + n) ** -s
    z = x + count
    square = 1 / (z * z)
    factor, rest = float(s), 0.0
    coefficients = []
    for j, number in enumerate(BERNOULLI, 1):
        coefficients.append(number * factor / math.factorial(2 * j))
        factor *= (s + 2 * j - 1) * (s + 2 * j)
    for c in reversed(coefficients):
        rest = rest * square + c
    return total + z**-s * (z / (s - 1) + 0.5 + rest / z)


def _cotangent(n, cot):
    """The *n*-th derivative of ``cot(πx)`` as a polynomial of the cotangent, lowest power first while it is derived."""
    powers = [0, 1]
    for _ in range(n):
        slope = [i * c for i, c in enumerate(powers)][1:]
        powers = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    total = 0.0
    for c in reversed(powers):
        total = total * cot + c
    return total * math.pi**n


def gammaincc(k, a, x):
    """The share of ``∫ tᵃ⁻¹e⁻ᵗ dt`` that lies above x; 1 where a is 0 (as in Paddle)."""
    xp = k.xp
    kind = xp.result_type(a, x)
    a, x = xp.broadcast_arrays(a.astype("float64"), x.astype("float64"))
    zero, refused = (a == 0) & (x >= 0), ~((a > 0) & (x >= 0))
    a, x = xp.where(refused, 1.0, a), xp.where(refused, 1.0, x)
    ends = xp.isinf(a) | xp.isinf(x)
    inner_a, inner_x = xp.where(ends, 1.0, a), xp.where(ends, 1.0, x)
    scale = xp.exp(inner_a * xp.log(xp.maximum(inner_x, SMALLEST)) - inner_x - lgamma(xp, inner_a))
    below = inner_x < inner_a + 1
    low = 1 - scale * _power_series(k, inner_a, xp.where(below, inner_x, 0.0))
    high = scale * _fraction(k, xp.where(below, 1.0, inner_a), xp.where(below, 3.0, inner_x))
    out = xp.where(below, low, high)
    out = xp.where(ends, xp.where(xp.isinf(x), 0.0, 1.0), out)
    out = xp.where(ends & xp.isinf(a) & xp.isinf(x), xp.nan, out)
    return xp.where(zero, 1.0, xp.where(refused, xp.nan, out)).astype(kind)


def _power_series(k, a, x):
    """``Σ xⁿ / (a (a + 1) … (a + n))``."""

    def step(n, state):
        term, total = state
        term = term * (x / (a + n))
        total = total + term
        return (term, total), (term <= 1e-17 * total).all()

    return k.until(1, ROUNDS, (1 / a, 1 / a), step)[1]


def _fraction(k, a, x):
    """The continued fraction of ``Γ(a, x) / (xᵃ e⁻ˣ)``, after Lentz."""
    xp = k.xp

    def step(n, state):
        b, c, d, total = state
        above = n * (a - n)
        b = b + 2
        d = above * d + b
        d = 1 / xp.where(xp.abs(d) < SMALLEST, SMALLEST, d)
        c = b + above / c
        c = xp.where(xp.abs(c) < SMALLEST, SMALLEST, c)
        total = total * (c * d)
        return (b, c, d, total), (xp.abs(c * d - 1) <= 1e-16).all()

    b = x + 1 - a
    return k.until(1, ROUNDS, (b, xp.full(x.shape, 1 / SMALLEST), 1 / b, 1 / b), step)[3]

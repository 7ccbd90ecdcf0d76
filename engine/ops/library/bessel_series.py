"""Modified Bessel functions of the first kind, of order 0 and 1, which NumPy has not (or to fewer digits).

Up to :data:`BEND` the power series, whose terms are all positive, and the asymptotic expansion beyond: NIST Digital
Library of Mathematical Functions, 10.25.2 and 10.40.1. Both are good to the last digits of double precision there.
"""

from __future__ import annotations

import math

BEND = 22.0
NEAR = 60
"""Terms of the power series at the bend: the next is smaller than the sum by 1e-17."""
FAR = 30


def scaled(xp, x, order):
    """``I(x)·exp(-|x|)`` of order 0 or 1."""
    kind = x.dtype
    size = xp.abs(x.astype("float64"))
    near = xp.minimum(size, BEND)
    quarter = near * near * 0.25
    total = 0.0
    for n in range(NEAR, 0, -1):
        total = (total + 1.0) * quarter / (n * (n + order))
    low = (total + 1.0) * xp.exp(-near) * (near * 0.5 if order else 1.0)
    far = xp.maximum(size, BEND)
    term, high = xp.ones(far.shape), xp.ones(far.shape)
    for n in range(1, FAR):
        term = term * (-(4 * order * order - (2 * n - 1) ** 2) / (n * 8 * far))
        high = high + term
    out = xp.where(size <= BEND, low, high / xp.sqrt(2 * math.pi * far))
    return (out if order == 0 else xp.copysign(out, x)).astype(kind)


def plain(xp, x, order):
    """``I(x)`` of order 0 or 1."""
    wide = x.astype("float64")
    return (scaled(xp, wide, order) * xp.exp(xp.abs(wide))).astype(x.dtype)

"""The error function, which NumPy does not have.

Rational Chebyshev approximations in three ranges, from W. J. Cody, "Rational Chebyshev approximations for the error
function", Mathematics of Computation 23 (1969), 631-637: good to about 1e-16 in double precision.
"""

from __future__ import annotations

from functools import partial

from ..choosing import choose
from ..writing import apply_in_place

# erf(x) = x · P(x²)/Q(x²) for |x| <= 0.46875; highest power first, as in every list below.
NEAR = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)

# erfc(x) = exp(-x²) · P(x)/Q(x) for 0.46875 <= x <= 4.
MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)

# erfc(x) = exp(-x²)/x · (1/√π - z·P(z)/Q(z)), z = 1/x², for x >= 4.
FAR = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e0,
        1.87295284992346725e0,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)

SHORT = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
ROOT_HALF = 0.70710678118654752440
INVERSE_ROOT_PI = 0.56418958354775628695
NEAR_END, MIDDLE_END = 0.46875, 4.0

# artanh(erf(x)) = x · P(x²) for |x| <= 3.92, where single precision comes to 1: fitted for the least relative error of
# erf, by least squares with Lawson's weights.
SINGLE = (1.41852126e-7, -5.66847419e-6, 8.76373207e-5, -6.19784647e-4, -1.91830808e-4, 0.102769056, 1.12837927)
SINGLE_END = 4.1


def erf(xp, x):
    """The error function of each element."""
    if x.dtype == "float32":
        return _erf_single(xp, x)
    near, beyond, sign = _parts(xp, x)
    return choose(xp, xp.abs(x) <= NEAR_END, near, sign * (1 - beyond)).astype(x.dtype)


def _erf_single(xp, x):
    """In single precision ``tanh(x·P(x²))``, to 1.7e-7 and 4 units in the last place; from the end on it is 1."""
    near = xp.clip(x, -SINGLE_END, SINGLE_END)
    square = near * near
    total = square * SINGLE[0]
    for c in SINGLE[1:-1]:
        total += c
        total *= square
    total += SINGLE[-1]
    total *= near
    return apply_in_place(xp.tanh, total)


def erfc(xp, x):
    """``1 - erf(x)``, with its relative precision kept where that is tiny."""
    near, beyond, sign = _parts(xp, x)
    return choose(xp, xp.abs(x) <= NEAR_END, 1 - near, choose(xp, sign < 0, 2 - beyond, beyond)).astype(x.dtype)


def bell(xp, x):
    """``exp(-x²/2)``."""
    exponent = xp.multiply(x, x)
    exponent *= -0.5
    return apply_in_place(xp.exp, exponent)


def normal_cdf(xp, x, density=None):
    """Φ: how much of the standard normal distribution lies below each element.

    Args:
        density: what :func:`bell` gives, if it is known.
    """
    if x.dtype != "float32" or not x.ndim:
        return 0.5 * erfc(xp, x * -ROOT_HALF)
    # In single precision a shorter formula does: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26 for
    # erfc, whose absolute error is below 1.5e-7. In place, since the passes over the data are what it costs.
    t = xp.abs(x)
    t *= 0.3275911 * ROOT_HALF
    t += 1
    t = apply_in_place(partial(xp.divide, 1), t)  # the same as the reciprocal, in half the time
    tail = t * (0.5 * SHORT[0])
    for c in SHORT[1:]:
        tail += 0.5 * c
        tail *= t
    tail *= bell(xp, x) if density is None else density
    # 1 - tail from 0 on, tail below: the tail is at most a half, and a choice by `where` takes several times as long.
    tail -= xp.greater_equal(x, 0)
    return apply_in_place(xp.abs, tail)


def _parts(xp, x):
    """erf(x) as if near 0, erfc(\\|x\\|) as if not, and the sign of x: each wrong outside its range, but finite."""
    if x.dtype.itemsize < 4:
        x = x.astype("float32")
    size = xp.abs(x)
    small = xp.minimum(size, NEAR_END) * xp.sign(x)
    near = small * _ratio(NEAR, small * small)
    middle = xp.clip(size, NEAR_END, MIDDLE_END)
    far = xp.maximum(size, MIDDLE_END)
    z = 1 / (far * far)
    tail = (INVERSE_ROOT_PI - z * _ratio(FAR, z)) / far
    return near, _gauss(xp, size) * choose(xp, size <= MIDDLE_END, _ratio(MIDDLE, middle), tail), xp.sign(x)


def _gauss(xp, x):
    """``exp(-x²)``: x² is split into a short part, squared without error, and the rest."""
    short = xp.trunc(xp.minimum(x, 256.0) * 16) / 16
    return xp.exp(-short * short) * xp.exp(-(x - short) * (x + short))


def _ratio(polynomials, x):
    """Quotient of two polynomials by Horner's rule."""
    above, below = (_polynomial(p, x) for p in polynomials)
    return above / below


def _polynomial(coefficients, x):
    total = coefficients[0] * x + coefficients[1]
    for c in coefficients[2:]:
        total = total * x + c
    return total

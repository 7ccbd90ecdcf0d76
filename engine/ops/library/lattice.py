"""Sums over ways through a lattice, in logarithms, and their derivatives of every order.

A loss that is the logarithm of such a sum is analytic. Its gradient is computed at complex points too, and what it is
on a small circle around a real point tells the higher derivatives there by Cauchy's formula, to nearly the last digit.
"""

from __future__ import annotations

import itertools
import math

from ..refusals import may_hold

FAR = -1e30
"""The logarithm of a probability of nothing: finite, so that differences of two are."""

STEP = 1e-20
"""How far a first derivative goes into the complex plane. No difference is taken there, so smaller is better."""

CIRCLE = 24
"""How many points of a circle are computed for a higher derivative."""


def sum_of(xp, values):
    """The logarithm of the sum of what *values* are logarithms of, along the first axis."""
    top = values.real.max(0)
    return top + xp.log(xp.exp(values - top).sum(0))


def softmax(xp, x):
    """Logarithms of the probabilities along the last axis, and the probabilities."""
    apart = x - x.real.max(-1, keepdims=True)
    shares = apart - xp.log(xp.exp(apart).sum(-1, keepdims=True))
    return shares, xp.exp(shares)


def derivative(xp, function, point, directions, steps):
    """The derivative of *function* at *point* in all of these directions.

    Args:
        function: analytic, and real at real points.
        steps: how many elements of a way are added up: so much nearer are points where a sum of ways is zero.
    """
    order = len(directions)
    if order == 1:
        return function(point + directions[0] * complex(0.0, STEP)).imag / STEP
    # A product of different directions is a sum of powers of their sums and differences (polarisation).
    total = xp.zeros(point.shape, xp.float64)
    for signs in itertools.product((1.0, -1.0), repeat=order - 1):
        along = directions[0] + sum(s * d for s, d in zip(signs, directions[1:], strict=True))
        total += math.prod(signs) * _power(xp, function, point, along, order, steps)
    return total / 2 ** (order - 1)


def _power(xp, function, point, along, order, steps):
    """The coefficient of that *order* of *function* along a line."""
    length = abs(along).max(initial=0.0)
    usable = (length != 0) & xp.isfinite(length)
    if not may_hold(usable):
        return xp.zeros(point.shape, xp.float64) * length
    radius = 0.5 / (xp.where(usable, length, 1.0)[()] * max(steps, 1))
    total = xp.zeros(point.shape, xp.float64)
    for n in range(CIRCLE):
        turn = xp.exp(complex(0.0, 2 * math.pi * n / CIRCLE))
        total += (function(point + along * (radius * turn)) * turn**-order).real
    return xp.where(usable, total / CIRCLE / radius**order, 0.0 * length)

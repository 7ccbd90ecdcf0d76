"""Activations in single precision, in few passes over the data.

The definitions are written for any precision and any argument; these are for float32, where a shorter formula is
exact to the last places and the arrays can be reused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import override

Array = np.ndarray[Any, Any]

# Φ(-z) = φ(z) · t · (a₁ + a₂t + …), t = 1 / (1 + p·z): Abramowitz and Stegun, Handbook of Mathematical Functions,
# 7.1.26 for erfc, whose absolute error is below 1.5e-7. Here highest power first and with erfc's factors taken in.
SCALE = np.float32(0.3275911 * math.sqrt(0.5))
TAIL = tuple(np.float32(0.5 * c) for c in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
DENSITY = np.float32(1 / math.sqrt(2 * math.pi))
HALF = np.float32(0.5)
ONE = np.float32(1)


def register() -> None:
    """Offer the kernels."""
    override("sigmoid", "numpy")(lambda attrs, specs: sigmoid if _single(specs) else None)
    override("gelu", "numpy")(lambda attrs, specs: gelu if _exact(attrs, specs) else None)
    override("gelu_grad", "numpy")(lambda attrs, specs: gelu_gradient if _exact(attrs, specs) else None)


def _single(specs: Sequence[Any]) -> bool:
    return bool(specs) and specs[0] is not None and specs[0].dtype.name == "float32"


def _exact(attrs: Mapping[str, Any], specs: Sequence[Any]) -> bool:
    return _single(specs) and not attrs["approximate"]


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))``: where exp overflows the quotient is 0, which is what single precision has for it."""
    if not x.ndim:
        return sigmoid(x.reshape(1)).reshape(())
    out = np.negative(x)
    np.exp(out, out=out)
    np.add(out, ONE, out=out)
    return np.reciprocal(out, out=out)


def _distribution(x: Array) -> tuple[Array, Array]:
    """The standard normal distribution function of each element, and ``exp(-x²/2)``."""
    bell = np.multiply(x, x)
    np.multiply(bell, -HALF, out=bell)
    np.exp(bell, out=bell)
    t = np.abs(x)
    np.multiply(t, SCALE, out=t)
    np.add(t, ONE, out=t)
    np.reciprocal(t, out=t)
    tail = np.multiply(t, TAIL[0])
    for c in TAIL[1:]:
        np.add(tail, c, out=tail)
        np.multiply(tail, t, out=tail)
    np.multiply(tail, bell, out=tail)
    return np.where(x < 0, tail, np.subtract(ONE, tail, out=t)), bell


def gelu(x: Array) -> Array:
    """``x · Φ(x)``."""
    if not x.ndim:
        return gelu(x.reshape(1)).reshape(())
    out = _distribution(x)[0]
    return np.multiply(out, x, out=out)


def gelu_gradient(x: Array, dout: Array) -> Array:
    """``dout · (Φ(x) + x · φ(x))``."""
    if not x.ndim:
        return gelu_gradient(x.reshape(1), np.asarray(dout)).reshape(())
    out, density = _distribution(x)
    np.multiply(density, x, out=density)
    np.multiply(density, DENSITY, out=density)
    np.add(out, density, out=out)
    return np.multiply(out, dout, out=out)

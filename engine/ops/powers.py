"""Powers with one exponent for all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PRODUCTS: dict[float, Callable[[Any, Any], Any]] = {
    -1.0: lambda xp, x: xp.divide(1, x),
    1.0: lambda xp, x: xp.positive(x),
    2.0: lambda xp, x: xp.square(x),
    3.0: lambda xp, x: xp.square(x) * x,
    4.0: lambda xp, x: xp.square(xp.square(x)),
}
"""By the exponent: to two units in the last place, as what the C library gives."""


def raise_to_power(xp: Any, x: Any, factor: Any) -> Any:
    """``xp.power(x, factor)``; *factor* is a number or has been computed.

    NumPy's powers of negative numbers take fifty times as long as those of positive ones. With a whole exponent they
    are a product, or the power of the size with the sign of the number.
    """
    if type(factor) not in (int, float) or x.dtype.name not in ("float32", "float64") or not float(factor).is_integer():
        return xp.power(x, factor)
    if factor in PRODUCTS:
        return PRODUCTS[factor](xp, x)
    raised = xp.power(xp.abs(x), factor)
    return xp.copysign(raised, x) if factor % 2 else raised

"""Operators that are one NumPy ufunc: the run loop calls it without a Python function in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .general import definition

UNARY = ("cos", "exp", "log", "log1p", "reciprocal", "sin", "sqrt", "square", "tanh")

BINARY = {
    "elementwise_add": np.add,
    "elementwise_sub": np.subtract,
    "elementwise_mul": np.multiply,
    "elementwise_div": np.divide,
    "elementwise_max": np.maximum,
    "elementwise_min": np.minimum,
}


def register() -> None:
    """Offer the ufuncs."""
    for name in UNARY:
        override(name, "numpy")(_always(getattr(np, name)))
    for name, ufunc in BINARY.items():
        override(name, "numpy")(_where_trailing(name, ufunc))


def _always(ufunc: Kernel) -> Any:
    return lambda attrs, specs: ufunc


def _where_trailing(op_type: str, ufunc: Kernel) -> Any:
    def offer(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
        """Only where NumPy's broadcasting is what ``axis`` asks for."""
        axis = attrs["axis"]
        if axis == -1:
            return ufunc
        if not specs or axis != specs[0].ndim - specs[1].ndim:
            return None
        general = definition(op_type, attrs)

        def compute(x: Any, y: Any) -> Any:
            # What is fed may have fewer dimensions than declared.
            return ufunc(x, y) if x.ndim - y.ndim == axis else general(x, y)

        return compute

    return offer

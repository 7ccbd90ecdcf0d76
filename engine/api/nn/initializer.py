"""How parameters start (paddle.md 1.6): each initializer names the operator that fills the parameter."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.spec import TensorSpec


class Initializer:
    """Base of all initializers."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        """Type and attributes of the startup operator for a parameter of that spec."""
        raise TypeError(f"{type(self).__name__} does not say how to initialise")


def fans(spec: TensorSpec) -> tuple[int, int]:
    """Inputs and outputs of one unit: the two sizes of a matrix, scaled by the window of a convolution filter."""
    shape = spec.shape
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "fill_constant", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "value": float(self.value),
            "str_value": str(float(self.value)),
        }


class Uniform(Initializer):
    """Drawn evenly between *low* and *high*."""

    def __init__(self, low: float = -1.0, high: float = 1.0) -> None:
        self.low = low
        self.high = high

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "uniform_random", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "min": self.low,
            "max": self.high,
        }


class XavierUniform(Initializer):
    """Drawn evenly within ``±sqrt(6 / (fan_in + fan_out))`` (Glorot and Bengio 2010)."""

    def __init__(self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0) -> None:
        self.fan_in = fan_in
        self.fan_out = fan_out
        self.gain = gain

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        fan_in, fan_out = fans(spec)
        total = (self.fan_in or fan_in) + (self.fan_out or fan_out)
        limit = self.gain * math.sqrt(6 / total) if total else 0.0
        return Uniform(-limit, limit).operator(spec)

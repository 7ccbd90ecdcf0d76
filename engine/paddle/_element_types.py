"""``paddle.float``, ``paddle.finfo``, ``paddle.Size``, ``paddle.pi``, …: names of types, their limits, constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core import spec
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import DType as dtype

e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None

half, short, long, double = spec.float16, spec.int16, spec.int64, spec.float64
cfloat, cdouble = spec.complex64, spec.complex128
globals().update({"bool": spec.bool_, "float": spec.float32, "int": spec.int32})


class finfo:
    """The limits of a floating-point or complex type: ``min``, ``max``, ``eps``, ``resolution``, ``tiny``, ``bits``.

    Raises:
        UsageError: a type of whole numbers (a ValueError).
    """

    def __init__(self, dtype: Any) -> None:
        kind = spec.dtype(dtype)
        if not kind.is_differentiable:
            raise UsageError(f"paddle.finfo takes floating-point and complex types, but received {kind.name}.")
        if kind.name == "bfloat16":
            limits = (-3.3895313892515355e38, 3.3895313892515355e38, 2.0**-7, 0.01, 2.0**-126, 16)
        else:
            its = np.finfo(kind.numpy)
            limits = (
                its.min.item(),
                its.max.item(),
                its.eps.item(),
                its.resolution.item(),
                its.tiny.item(),
                its.bits,
            )
        self.min, self.max, self.eps, self.resolution, self.tiny, self.bits = limits
        self.smallest_normal = self.tiny
        self.dtype = kind.name

    def __repr__(self) -> str:
        numbers = ", ".join(f"{n}={getattr(self, n):g}" for n in LIMITS)
        return f"paddle.finfo({numbers}, bits={self.bits}, dtype={self.dtype})"


LIMITS = ("min", "max", "eps", "resolution", "smallest_normal", "tiny")


class iinfo:
    """The limits of a type of whole numbers: ``min``, ``max``, ``bits``.

    Raises:
        UsageError: another type (a ValueError).
    """

    def __init__(self, dtype: Any) -> None:
        kind = spec.dtype(dtype)
        if not kind.is_integer:
            raise UsageError(f"paddle.iinfo takes types of whole numbers, but received {kind.name}.")
        its = np.iinfo(kind.numpy)
        self.min, self.max, self.bits, self.dtype = its.min, its.max, its.bits, kind.name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


class Size(list):  # type: ignore[type-arg]
    """A list of dimensions."""

    def numel(self) -> Any:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"paddle.Size({list(self)})"


__all__ = ["dtype"]

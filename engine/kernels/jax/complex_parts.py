"""Complex numbers from their parts: NumPy writes these into them, XLA has an operation."""

from __future__ import annotations

from typing import Any

from jax import lax, numpy

from ..backend import Kernel, override


@override("complex", "jax")
def complex_(attrs: Any, specs: Any) -> Kernel:
    return lambda x, y: lax.complex(*numpy.broadcast_arrays(x, y))


@override("as_complex", "jax")
def as_complex(attrs: Any, specs: Any) -> Kernel:
    return lambda x: lax.complex(x[..., 0], x[..., 1])

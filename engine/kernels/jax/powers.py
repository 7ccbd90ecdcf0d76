"""Powers that stay powers: XLA takes the logarithm of one for a product, and a NaN of a negative number is lost."""

from __future__ import annotations

from typing import Any

from jax import lax, numpy

from ...ops import registry
from ..backend import Kernel, override


class _Jax:
    """Part of a backend that the definitions of these operators use."""

    xp = numpy


def _offer_power(op_type: str) -> Any:
    def offer(attrs: Any, specs: Any) -> Kernel:
        op = registry.get_by_type(op_type)
        named = {name: attrs[name] for name in op.kernel_attrs}

        def kernel(*operands: Any) -> Any:
            return lax.optimization_barrier(op.kernel(_Jax, *operands, **named))

        return kernel

    return offer


for _op_type in ("elementwise_pow", "pow"):
    override(_op_type, "jax")(_offer_power(_op_type))

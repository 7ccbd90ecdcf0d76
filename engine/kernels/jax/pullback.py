"""Gradient operators, of any order, of an operator whose kernel JAX can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from ...ops import registry
from ...ops.opdef import OpDef
from ..backend import Kernel, override
from ..choice import backend


def gradient_of(op: OpDef, forward: Callable[..., Sequence[Any]], wanted: Sequence[Sequence[bool]]) -> Kernel:
    """The kernel of the gradient operator of *op*: what its rule reads to the gradients of the inputs it names.

    Args:
        forward: from the operands of *op*, one per input slot, to its results, one per output slot.
        wanted: by input with a gradient, which of its tensors to compute it for.
    """
    rule = op.rule
    assert rule is not None

    def kernel(*read: Any) -> tuple[Any, ...]:
        operands: list[Any] = [None] * len(op.inputs)
        arriving: list[Any] = [None] * len(op.outputs)
        for r, value in zip(rule.reads, read, strict=True):
            if r.kind != "out":
                (operands if r.kind == "in" else arriving)[r.place] = value
        chosen = [_part(operands[i], mask) for i, mask in zip(rule.wrt, wanted, strict=True)]

        def results(parts: list[list[Any]]) -> list[Any]:
            filled = list(operands)
            for i, part, mask in zip(rule.wrt, parts, wanted, strict=True):
                filled[i] = _replace(operands[i], part, mask)
            return list(forward(*filled))

        outputs, pull = jax.vjp(results, chosen)
        (gradients,) = pull(jax.tree_util.tree_map(_cotangent, outputs, _alike(outputs, arriving)))
        spread = [_spread(g, mask, op.inputs[i].many) for i, g, mask in zip(rule.wrt, gradients, wanted, strict=True)]
        return spread[0] if len(spread) == 1 else tuple(spread)

    return kernel


Gradients = Callable[[Mapping[str, Any], Any], Kernel]
"""From the attributes of an operator, and which of its gradients are wanted (None for all), the kernel of those."""

Fits = Callable[[OpDef], Callable[[Sequence[Any]], bool]]
"""From a gradient operator to a function of what it reads: whether the kernel is meant for that."""


def register_gradients(op_type: str, gradients: Gradients, fits: Fits | None = None) -> None:
    """Offer *gradients* for the gradient operator of *op_type*, and the gradients of those for the one after it.

    Args:
        fits: where it does not hold, the operator after it is computed as its definition says.
    """

    @override(f"{op_type}_grad", "jax")
    def first(attrs: Mapping[str, Any], specs: Any) -> Kernel:
        return gradients(attrs, attrs["wanted"])

    @override(f"{op_type}_grad_grad", "jax")
    def second(attrs: Mapping[str, Any], specs: Any) -> Kernel | None:
        wanted, op = attrs["wanted"], registry.get_by_type(op_type).grad_op
        assert op is not None
        if not wanted:
            return None
        own = gradient_of(op, gradients(attrs, None), wanted)
        if fits is None:
            return own
        assert op.grad_op is not None
        general, is_own = backend("jax").general(op.grad_op, attrs, wanted), fits(op.grad_op)
        return lambda *read: (own if is_own(read) else general)(*read)


class _Absent:
    """The gradient of an output that has none."""


def _alike(outputs: Any, arriving: Any) -> Any:
    """*arriving* in the nesting of *outputs*."""
    if isinstance(outputs, (list, tuple)):
        parts = arriving if isinstance(arriving, (list, tuple)) else [arriving] * len(outputs)
        return type(outputs)(_alike(o, a) for o, a in zip(outputs, parts, strict=True))
    return _Absent() if arriving is None and outputs is not None else arriving


def _cotangent(output: Any, arriving: Any) -> Any:
    if not jnp.issubdtype(output.dtype, jnp.inexact):
        return np.zeros(output.shape, jax.dtypes.float0)
    return jnp.zeros(output.shape, output.dtype) if isinstance(arriving, _Absent) else arriving


def _part(operand: Any, mask: Sequence[bool]) -> list[Any]:
    """The tensors of *operand* that *mask* names."""
    entries = operand if isinstance(operand, (list, tuple)) else [operand]
    return [e for e, take in zip(entries, mask, strict=True) if take]


def _replace(operand: Any, part: Sequence[Any], mask: Sequence[bool]) -> Any:
    """*operand* with *part* in the places that *mask* names."""
    entries, rest = operand if isinstance(operand, (list, tuple)) else [operand], iter(part)
    new = [next(rest) if take else e for e, take in zip(entries, mask, strict=True)]
    return new if isinstance(operand, (list, tuple)) else new[0]


def _spread(gradients: Sequence[Any], mask: Sequence[bool], many: bool) -> Any:
    """One gradient for each place of *mask*, None for those that it leaves out."""
    rest = iter(gradients)
    each = [next(rest) if take else None for take in mask]
    return each if many else each[0]

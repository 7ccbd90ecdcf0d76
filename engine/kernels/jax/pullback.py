"""Gradient operators, of any order, of an operator whose kernel JAX can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from ...ops.opdef import OpDef
from ..backend import Kernel


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
                filled[i] = _replaced(operands[i], part, mask)
            return list(forward(*filled))

        outputs, pull = jax.vjp(results, chosen)
        (gradients,) = pull(jax.tree_util.tree_map(_cotangent, outputs, _alike(outputs, arriving)))
        spread = [_spread(g, mask, op.inputs[i].many) for i, g, mask in zip(rule.wrt, gradients, wanted, strict=True)]
        return spread[0] if len(spread) == 1 else tuple(spread)

    return kernel


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


def _replaced(operand: Any, part: Sequence[Any], mask: Sequence[bool]) -> Any:
    """*operand* with *part* in the places that *mask* names."""
    entries, rest = operand if isinstance(operand, (list, tuple)) else [operand], iter(part)
    new = [next(rest) if take else e for e, take in zip(entries, mask, strict=True)]
    return new if isinstance(operand, (list, tuple)) else new[0]


def _spread(gradients: Sequence[Any], mask: Sequence[bool], many: bool) -> Any:
    """One gradient for each place of *mask*, None for those that it leaves out."""
    rest = iter(gradients)
    each = [next(rest) if take else None for take in mask]
    return each if many else each[0]

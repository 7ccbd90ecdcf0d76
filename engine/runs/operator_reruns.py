"""Functions that run operators of dynamic mode again: the forward ones, their gradients, the user's own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.rows import RowArray
from ..eager.mode import no_grad
from ..eager.pylayer import LayerNode
from ..eager.tape import GradNode, restore
from ..eager.tensor import Tensor
from .bound_kernels import Binding
from .calls import CallRecord


def bind_call(call: CallRecord, padded: bool = False) -> Binding:
    """Return the binding of a forward operator; see :class:`Binding` for *padded*."""
    sizes = tuple(len(o) if isinstance(o, list) else None for o in call.outs)
    return Binding(call.op, call.attrs, sizes, padded=padded, backend=call.backend, again=call.again)


def bind_gradient(node: GradNode, mask: Sequence[bool], sizes: Sequence[int | None]) -> Binding:
    """Return the binding of a gradient operator; *mask* says which gradients are wanted."""
    wanted, at = [], 0
    for size in sizes:
        count = 1 if size is None else size
        wanted.append(tuple(mask[at : at + count]))
        at += count
    return Binding(node.op, node.attrs, tuple(sizes), tuple(wanted), backend=node.backend)


def bind_framework(node: GradNode, mask: Sequence[bool], arriving: int) -> Callable[..., Sequence[Any]]:
    """Return the function by which another framework computes the gradients of its operator.

    Its operands are the gradients that arrive, so many, then all that forward read.
    """
    rule = node.op.rule
    assert rule is not None
    places = [place for place, is_wanted in zip(rule.wrt, mask, strict=True) if is_wanted]
    outs_of = getattr(node, "outs_of", range(arriving))

    def run(*operands: Any) -> list[Any]:
        at = {o: g for o, g in zip(outs_of, operands[:arriving], strict=True) if o is not None}
        given = [at.get(i) for i in range(1 + max(at, default=-1))]
        gradients = iter(rule.again(operands[arriving:], node.attrs, given, places))  # type: ignore[attr-defined]  # that of another framework
        return [next(gradients) if is_wanted else None for is_wanted in mask]

    return run


def bind_rule(node: GradNode, mask: Sequence[bool]) -> Callable[..., Sequence[Any]]:
    """The user's own gradient rule.

    Its operands are the gradients that arrive, then what forward saved.
    """
    rule = node.op.rule
    assert rule is not None
    count = len(node.shapes)

    def run(*operands: Any) -> list[Any]:
        arriving, saved = operands[:count], operands[count:]
        restore([node])
        args = [
            g if g is not None or rule.takes_none else np.zeros(*shape)
            for g, shape in zip(arriving, node.shapes, strict=True)
        ]
        before = node.ctx._saved if isinstance(node, LayerNode) else None
        try:
            if isinstance(node, LayerNode):
                node.ctx._saved = tuple([Tensor(v) if isinstance(v, (np.ndarray, RowArray)) else v for v in saved])
            with no_grad():
                return [g for group in rule(node.backend.ops, args, [[m] for m in mask], node.attrs) for g in group]
        finally:
            if isinstance(node, LayerNode):
                node.ctx._saved = before

    return run

"""Kernels that run operators of dynamic mode again: the forward ones, their gradients, the user's own rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.pylayer import LayerNode
from gradtool.engine.eager.tape import GradNode, restore
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.kernels.backend import backend
from gradtool.engine.ops import rare
from gradtool.engine.ops.opdef import OpDef
from gradtool.engine.rows import RowArray
from gradtool.engine.spec import in_use

from .records import Call


def draws_nothing(op: OpDef, attrs: Mapping[str, Any]) -> bool:
    """Whether an operator that can draw random numbers draws none."""
    return op.type == "rnn" and not attrs.get("dropout_prob")


def of_call(call: Call) -> Callable[..., Sequence[Any]]:
    kernel = backend("numpy").bind(call.op, call.attrs)
    if in_use:
        kernel = rare.watched(call.op, call.attrs, kernel)
    sizes = [len(o) if isinstance(o, list) else None for o in call.outs]
    return _flattening(kernel, sizes)


def padded(kernel: Callable[..., Sequence[Any]], count: int) -> Callable[..., Sequence[Any]]:
    """*kernel*, giving as many results as were expected, also of an operator that leaves some out."""
    return lambda *operands: [*kernel(*operands), *[None] * count][:count]


def of_gradient(
    node: GradNode, grad_op: OpDef, mask: Sequence[bool], sizes: Sequence[int | None]
) -> Callable[..., Sequence[Any]]:
    wanted, at = [], 0
    for size in sizes:
        wanted.append(list(mask[at : at + (size or 1)]) if size != 0 else [])
        at += 1 if size is None else size
    engine = backend("numpy")
    kernel = engine.bind(grad_op, node.attrs, wanted)
    if in_use:
        kernel = rare.watched_gradients(node.op, node.attrs, kernel, engine.general(grad_op, node.attrs, wanted))
    return _flattening(kernel, list(sizes))


def _flattening(kernel: Callable[..., Any], sizes: list[int | None]) -> Callable[..., Sequence[Any]]:
    """*kernel* with all its results in one flat sequence."""
    if len(sizes) == 1:
        return kernel if sizes[0] is not None else lambda *operands: (kernel(*operands),)
    if all(s is None for s in sizes):
        return kernel

    def run(*operands: Any) -> list[Any]:
        found: list[Any] = []
        for size, value in zip(sizes, kernel(*operands), strict=True):
            if size is None:
                found.append(value)
            else:
                found += value if value is not None else [None] * size
        return found

    return run


def of_rule(node: GradNode, mask: Sequence[bool]) -> Callable[..., Sequence[Any]]:
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
                return [g for group in rule(backend("numpy").ops, args, [[m] for m in mask], node.attrs) for g in group]
        finally:
            if isinstance(node, LayerNode):
                node.ctx._saved = before

    return run

"""Backward blocks inside other blocks."""

from __future__ import annotations

from ..ir.program import Block
from ..ir.variable import Variable
from ..ops.readings import flatten, output_places
from .differentiator import Differentiator
from .values import Value

Gradients = list[Variable | None]


def inner_differentiator(grads: Differentiator, block: Block) -> Differentiator:
    """Return the differentiator of a block inside that of *grads*."""
    new = grads.call.blocks
    program = block.program
    target = Block(program, len(program.blocks) + len(new), grads.target.idx)
    target.forward_block_idx = block.idx
    new.append(target)
    child = Differentiator(block, (), grads.call, target=target, inside=True)
    for v in child.values.last:
        if v.block is not block:
            child.namer.plain[v] = child.values.initial(v)
    return child


def forget(grads: Differentiator, child: Differentiator) -> None:
    """Forget a backward block that nobody needs, and those inside it."""
    blocks = grads.call.blocks
    del blocks[blocks.index(child.target) :]


def reachable(child: Differentiator, values: set[Value]) -> set[Value]:
    """The values that gradients reach from *values*, as far as the slots of operators tell."""
    reached = set(filter(child.needs_gradient, values))
    for op in reversed(child.source):
        rule = op.op.rule
        if rule is None:
            continue
        outs = flatten(op.outputs, output_places(op.op))
        if not any(v is not None and child.values.written(op, v) in reached for v in outs):
            continue
        read = [child.values.read(op, v) for v in flatten(op.inputs, rule.wrt) if v is not None]
        reached.update(filter(child.needs_gradient, read))
    return reached

"""Builders of backward blocks inside other blocks."""

from __future__ import annotations

from ..ir.program import Block
from ..ir.variable import Variable
from ..ops.readings import flatten, out_places
from .builder import Builder
from .values import Value

Gradients = list[Variable | None]


def inner_builder(builder: Builder, block: Block) -> Builder:
    """A builder for the backward part of a block inside that of *builder*."""
    root = builder.root
    program = block.program
    target = Block(program, len(program.blocks) + len(root.new_blocks), builder.target.idx)
    target.forward_block_idx = block.idx
    root.new_blocks.append(target)
    child = Builder(block, (), builder.call, target=target, root=root)
    for v in child.values.last:
        if v.block is not block:
            child.plain[v] = child.values.initial(v)
    return child


def forget(builder: Builder, child: Builder) -> None:
    """Forget a backward block that nobody needs, and those inside it."""
    blocks = builder.root.new_blocks
    del blocks[blocks.index(child.target) :]


def reachable(child: Builder, values: set[Value]) -> set[Value]:
    """The values that gradients reach from *values*, as far as the slots of operators tell."""
    found = {value for value in values if child.wanted(value)}
    for op in reversed(child.source):
        rule = op.op.rule
        if rule is None:
            continue
        outs = flatten(op.outputs, out_places(op.op))
        if any(v is not None and child.values.written(op, v) in found for v in outs):
            for v in flatten(op.inputs, rule.wrt):
                if v is not None and child.wanted(child.values.read(op, v)):
                    found.add(child.values.read(op, v))
    return found

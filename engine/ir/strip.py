"""Taking the backward part out of a program again."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.collector import paused_gc
from . import roles
from .blocks import leave
from .operator import Operator, each
from .program import Block, Program
from .variable import Variable


def strip_backward(program: Program, keep: Iterable[Variable] = ()) -> int:
    """Remove the backward and optimizer operators of block 0, their blocks, and the variables that only they used.

    Unlike ``clone(for_test=True)`` it leaves dropout and batch_norm as they are, and the variables in their order.

    Operators that compute something from gradients (the norm of a gradient, to look at it) go with them.

    Args:
        keep: variables whose value must stay computable. A loss that contains gradients (a gradient penalty) keeps
            the gradient operators that it depends on.

    Returns:
        How many operators were removed.
    """
    block = program.global_block()
    with paused_gc():
        needed = _ancestors(block.ops, keep)
        tainted: set[Variable] = set()
        kept: list[Operator] = []
        removed: list[Operator] = []
        for op in block.ops:
            written = list(each(op.outputs))
            depends = roles.is_backward(op.role) or any(v in tainted for v in each(op.inputs))
            if depends:
                tainted.update(written)
            if op in needed or (not depends and roles.is_forward(op.role)):
                kept.append(op)
            else:
                removed.append(op)
        if not removed:
            return 0
        used = {v for op in kept for v in (*each(op.inputs), *each(op.outputs))}
        orphans = {v for op in removed for v in (*each(op.inputs), *each(op.outputs)) if v.block is block} - used
        for v in orphans:
            if not (v.is_data or v.is_parameter):
                block.vars.pop(v.name, None)
            v.op = None
        for v in used:
            v.op = None
        for op in kept:
            if roles.is_forward(op.role):
                op.role = roles.FORWARD
            op.role_var = ()
            for v in each(op.outputs):
                v.op = op
        program._appending_grad_times = int(any(roles.is_backward(op.role) for op in kept))
        block._replace_ops(kept)
        leave(program, removed)
        if not program._appending_grad_times:
            _drop_saves(program.blocks[1:])
    return len(removed)


def _drop_saves(blocks: Iterable[Block]) -> None:
    """Remove what the blocks of forward operators keep for backward operators, of which none is left."""
    for block in blocks:
        saves = [op for op in block.ops if op.saves]
        if not saves:
            continue
        for v in {v for op in saves for v in op.output_variables()}:
            block.vars.pop(v.name, None)
        block._replace_ops([op for op in block.ops if not op.saves])


def _ancestors(ops: list[Operator], variables: Iterable[Variable]) -> set[Operator]:
    """The forward and backward operators that *variables* are computed by, directly or through others."""
    needed = set(variables)
    found = set()
    for op in reversed(ops):
        if (roles.is_forward(op.role) or roles.is_backward(op.role)) and any(v in needed for v in each(op.outputs)):
            found.add(op)
            needed.update(each(op.inputs))
    return found

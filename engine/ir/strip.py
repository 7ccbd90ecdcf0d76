"""Taking the backward part out of a program again."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import names
from ..core.collector import paused_gc
from . import roles
from .blocks import leave
from .operator import Operator, each
from .program import Program
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
            if op in needed or (not depends and _forward(op, written)):
                kept.append(op)
            else:
                removed.append(op)
        if not removed:
            return 0
        used = {v for op in kept for v in (*each(op.inputs), *each(op.outputs))}
        orphans = {v for op in removed for v in (*each(op.inputs), *each(op.outputs))} - used
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
    return len(removed)


def _ancestors(ops: list[Operator], variables: Iterable[Variable]) -> set[Operator]:
    """The forward and backward operators that *variables* are computed by, directly or through others."""
    needed = set(variables)
    found = set()
    for op in reversed(ops):
        if (roles.is_forward(op.role) or roles.is_backward(op.role)) and any(v in needed for v in each(op.outputs)):
            found.add(op)
            needed.update(each(op.inputs))
    return found


def _forward(op: Operator, written: list[Variable]) -> bool:
    """Whether the user's own lines made the operator; values saved for backward operators are not among them."""
    if not roles.is_forward(op.role):
        return False
    return not (op.type == "assign" and all(names.is_old_version(v.name) for v in written))

"""Taking the backward part out of a program again."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ..core.collector import pause_gc
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
    if all(roles.is_forward(op.role) for op in block.ops):
        return 0
    with pause_gc():
        rest, removed = _divide(block.ops, _ancestors(block.ops, keep))
        if not removed:
            return 0
        _forget(block, rest, removed)
        for op in rest:
            if roles.is_forward(op.role):
                op.role = roles.FORWARD
            op.role_var = ()
            for v in each(op.outputs):
                v.op = op
        program._appending_grad_times = int(any(roles.is_backward(op.role) for op in rest))
        block._replace_ops(rest)
        leave(program, removed)
        if not program._appending_grad_times:
            _drop_saves(program.blocks[1:])
    return len(removed)


def forward_part(ops: list[Operator], keep: Iterable[Variable]) -> list[Operator]:
    """The operators that :func:`strip_backward` leaves: those that a loss which contains gradients needs stay, too."""
    return _divide(ops, _ancestors(ops, keep))[0]


def _divide(ops: Iterable[Operator], needed: Container[Operator]) -> tuple[list[Operator], list[Operator]]:
    """The operators that stay, *needed* ones among them, and those that go."""
    tainted: set[Variable] = set()
    """What depends on gradients."""
    rest: list[Operator] = []
    removed: list[Operator] = []
    for op in ops:
        depends = roles.is_backward(op.role) or not tainted.isdisjoint(each(op.inputs))
        if depends:
            tainted.update(each(op.outputs))
        stays = op in needed or (not depends and roles.is_forward(op.role))
        (rest if stays else removed).append(op)
    return rest, removed


def _forget(block: Block, rest: Iterable[Operator], removed: Iterable[Operator]) -> None:
    """Let go of the variables that only removed operators used, and of who writes the others."""
    used = _read_variables(rest)
    orphans = {v for v in _read_variables(removed) if v.block is block} - used
    for v in orphans:
        if not (v.is_data or v.is_parameter):
            block.vars.pop(v.name, None)
    for v in orphans | used:
        v.op = None


def _read_variables(ops: Iterable[Operator]) -> set[Variable]:
    used: set[Variable] = set()
    for op in ops:
        used.update(each(op.inputs))
        used.update(each(op.outputs))
    return used


def _drop_saves(blocks: Iterable[Block]) -> None:
    """Remove what the blocks of forward operators keep for backward operators, of which none is left."""
    for block in blocks:
        saves = [op for op in block.ops if op.saves]
        if not saves:
            continue
        for op in saves:
            for v in op.output_variables():
                block.vars.pop(v.name, None)
        block._replace_ops([op for op in block.ops if not op.saves])


def _ancestors(ops: list[Operator], variables: Iterable[Variable]) -> set[Operator]:
    """The forward and backward operators that *variables* are computed by, directly or through others."""
    needed = set(variables)
    ancestors = set()
    for op in reversed(ops):
        computes = roles.is_forward(op.role) or roles.is_backward(op.role)
        if computes and not needed.isdisjoint(each(op.outputs)):
            ancestors.add(op)
            needed.update(each(op.inputs))
    return ancestors

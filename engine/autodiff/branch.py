"""``append_backward`` while a branch is being built: a training step that only one branch takes.

The gradients go into a block of their own, which runs right after the branch does, on what the branch has left. They
lead through the branch and through what the blocks around it have computed so far.
"""

from __future__ import annotations

from dataclasses import field

from ..core import source
from ..core.errors import LossError, UnsupportedError
from ..core.records import dataclass
from ..ir.operator import Operator
from ..ir.program import Block
from ..ir.variable import Variable


@dataclass(slots=True)
class BackwardPlace:
    """Place where the backward part of a loss goes.

    Attributes:
        block: the block of the loss's backward part, or the branch that is being built.
        ops: what is differentiated, if that is not the block alone.
        target: the block for the gradients, if that is another one.
        new: blocks that the program does not have yet.
    """

    block: Block
    ops: list[Operator] | None = None
    target: Block | None = None
    new: list[Block] = field(default_factory=list)


def place(loss: Variable, what: str) -> BackwardPlace:
    """Return the place where the backward part of *loss* goes.

    Raises:
        LossError: the loss belongs to a branch or loop body that is complete (a ValueError).
        UnsupportedError: a loop body is being built (a ValueError).
    """
    program = loss.block.program
    current = program.current_block()
    around = _block_chain(current)
    if loss.block not in around:
        raise LossError(
            f"{what}: '{loss.name}' belongs to block {loss.block.idx}, which is complete.",
            variable=loss.name,
            made=source.describe(loss.made_at),
            hint="return it from the branch or the loop body, and use what static.nn.cond or while_loop returns",
        )
    if current.idx == 0:
        return BackwardPlace(current)
    if program.open_loops:
        raise UnsupportedError(
            f"{what}: a backward part inside the body of a loop is not part of this version of gradtool.",
            hint="call it after the loop, on a loss that the loop computes",
        )
    ops = [op for block in reversed(around) for op in block.ops]
    if current.backward_block_idx >= 0:
        return BackwardPlace(current, ops, program.blocks[current.backward_block_idx])
    target = Block(program, len(program.blocks), current.parent_idx)
    target.forward_block_idx = current.idx
    return BackwardPlace(current, ops, target, [target])


def _block_chain(block: Block) -> list[Block]:
    """*block* and the blocks around it, from the inside out."""
    around = [block]
    while block.parent_idx >= 0:
        block = block.program.blocks[block.parent_idx]
        around.append(block)
    return around

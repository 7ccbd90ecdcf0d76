"""The gradients of parameters that a program computes already."""

from __future__ import annotations

from ..core import names
from ..ir import roles
from ..ir.operator import Operator
from ..ir.program import Block
from ..ir.variable import Variable


def gradients_of_parameters(loss: Variable) -> dict[Variable, Variable] | None:
    """The gradients of *loss* by parameter; None for a program that does not differentiate *loss*.

    A program may hold other backward parts: of other losses, or those that the loss itself is computed from (the
    gradient of a score, in a gradient penalty). The plain name of a gradient belongs to the first of them.
    """
    block = loss.block.program.global_block()
    seed = block.vars.get(names.grad(loss.name))
    if seed is None or seed.op is None or not roles.is_backward(seed.op.role):
        return None
    noted, written = _read_role_vars(block, seed.op)
    plain = ((p, block.vars.get(p.grad_name)) for p in block.program.all_parameters())
    # Those that no list asked for are computed on the way to others, and noted nowhere.
    return {p: g for p, g in plain if g is not None and (g in written or not noted)} | noted


def _read_role_vars(block: Block, seed: Operator) -> tuple[dict[Variable, Variable], set[Variable]]:
    """Read the gradients behind *seed* that ``append_backward`` wrote into ``op_role_var``, and those that it took
    over.

    Returns:
        Gradient by parameter, and all that is written by the operators behind *seed*.
    """
    own: dict[Variable, Variable] = {}
    before: dict[Variable, Variable] = {}
    written: set[Variable] = set()
    begun = ended = False
    for op in block.ops:
        begun |= op is seed
        ended |= begun and op is not seed and op.role == roles.BACKWARD | roles.LOSS
        if ended:
            break
        if not roles.is_backward(op.role):
            continue
        if begun:
            written.update(op.output_variables())
        for parameter, gradient in zip(op.role_var[::2], op.role_var[1::2], strict=True):
            if parameter in block.vars and gradient in block.vars:
                (own if begun else before)[block.vars[parameter]] = block.vars[gradient]
    return {**before, **own}, written

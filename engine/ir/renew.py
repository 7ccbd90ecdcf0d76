"""Variables that a loop overwrites, and the value that they had before.

A loop writes its results into its loop variables: in the program the name stands for the value before the loop up to
the loop, and for the result after it. In Python the user holds two things, what was given to the loop and what the
loop returned, and may use both. So the loop returns a new :class:`Variable` that takes the place of the old one in the
program, and the old one, wherever it is used from now on, stands for the value before: the first such use saves it in
front of the loop.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

from .. import names
from ..ops import registry
from .operator import Operands, Operator, each
from .program import Block, Program
from .variable import Variable


def makers(variables: Iterable[Variable]) -> dict[Variable, Operator]:
    """The operators that made *variables*, of those that only one operator writes: nothing before it reads them."""
    return {v: v.op for v in variables if v.op is not None and v not in v.block.program.overwritten}


def renew(
    loop: Operator, variables: Iterable[Variable], made_by: Mapping[Variable, Operator]
) -> dict[Variable, Variable]:
    """Put a new variable in the place of each that *loop* overwrites; returns the new ones by the old ones.

    Args:
        made_by: what :func:`makers` said before the loop was appended.
    """
    block = loop.block
    table: dict[Variable, Variable] = {}
    for v in variables:
        new = table[v] = copy.copy(v)
        block.vars[v.name] = new
    if not table:
        return table
    program = block.program
    waiting = set(table)
    for op in reversed(block.ops):
        _replace(op, table)
        waiting.difference_update([v for v in waiting if made_by.get(v) is op])
        if not waiting:
            break
    for old, new in table.items():
        program.renewed[old] = (new, loop)
        program.overwritten.add(new)
        new.op = loop
    program.version += 1
    return table


def _replace(op: Operator, table: dict[Variable, Variable]) -> None:
    if not any(v in table for v in (*each(op.inputs), *each(op.outputs))):
        return
    op.inputs = _moved(op.inputs, table)
    op.outputs = _moved(op.outputs, table)
    for block in op.sub_blocks:
        for inner in block.ops:
            _replace(inner, table)


def _moved(operands: Operands, table: dict[Variable, Variable]) -> Operands:
    return tuple(
        tuple(v if v is None else table.get(v, v) for v in value)
        if isinstance(value, tuple)
        else value
        if value is None
        else table.get(value, value)
        for value in operands
    )


def in_program(v: Variable) -> tuple[Variable, Operator | None]:
    """The variable of the program that *v* stands for, and the loop before which it does (None: at the end)."""
    renewed = v.block.program.renewed
    if v not in renewed:
        return v, None
    found, loop = renewed[v]
    while found in renewed:
        found = renewed[found][0]
    return found, loop


def is_result(v: Variable) -> bool:
    """Whether a loop returned *v*."""
    return any(new is v for new, _ in v.block.program.renewed.values())


def current(v: Variable) -> Variable:
    """*v*, or the variable in which the value that it stands for was saved."""
    found, loop = in_program(v)
    if loop is None:
        return v
    block = loop.block
    name = names.before_loop(found.name, sum(1 for n in v.block.program.renewed if n.name == found.name and n is not v))
    there = block.vars.get(name)
    if there is not None:
        return there
    saved = Variable(block, name, v.spec, stop_gradient=v.stop_gradient)
    block.add_var(saved)
    assign = registry.by_type("assign")
    op = Operator(
        block, assign, (found,), (saved,), assign.attributes({}), loc=loop.loc, role=loop.role, scope=loop.scope
    )
    saved.op = op
    block.ops.insert(next(i for i, o in enumerate(block.ops) if o is loop), op)
    block.program.version += 1
    return saved


def current_operands(program: Program, operands: Operands) -> Operands:
    """*operands* with saved values in the place of variables that a loop has overwritten since."""
    if not any(v in program.renewed for v in each(operands)):
        return operands
    table = {v: current(v) for v in each(operands)}
    return _moved(operands, table)


def spread_gradients(body: Block, open_: set[Variable]) -> None:
    """Let gradients flow through what the loop *body* computes from the variables *open_*.

    An operator's results stop gradients if all that it reads does. Loop variables are known to need gradients only
    when the body is complete: what was taken for a constant until then is not.
    """
    fresh = set(open_)
    size = -1
    while len(fresh) != size:
        size = len(fresh)
        _spread(body, fresh)


def _spread(block: Block, fresh: set[Variable]) -> None:
    for op in block.ops:
        for inner in op.sub_blocks:
            _spread(inner, fresh)
        if op.op.holds_blocks or not op.op.differentiable:
            continue
        read = list(each(op.inputs))
        if any(v in fresh for v in read) and all(v.stop_gradient or v in fresh for v in read):
            for v in each(op.outputs):
                if v.stop_gradient and v.dtype.is_differentiable and not v.is_parameter:
                    v.stop_gradient = False
                    fresh.add(v)

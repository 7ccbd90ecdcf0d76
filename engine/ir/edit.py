"""Changing what a block holds already: inserting, removing and renaming.

Each function finishes with every variable's ``op`` right again and the program's version grown. They search the block,
so they are for single changes; passes build a new list of operators instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import NameClash, VariableNotFound, did_you_mean
from . import arrays
from .build import check_op
from .operator import Operands, Operator, map_operands
from .program import Block
from .variable import Variable


def insert_op(
    block: Block,
    index: int,
    type: str,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Operator:
    """An operator before the one at *index*, checked as ``Block.append_op`` does."""
    op = check_op(block, type, inputs or {}, outputs or {}, attrs or {})
    block.ops.insert(index, op)
    block.program.overwritten.update(op.output_variables())
    for v in op.output_variables():
        find_writer(v)
    block.program.version += 1
    return op


def remove_op(block: Block, index: int) -> None:
    """Remove the operator at *index*."""
    op = block.ops.pop(index)
    for v in op.output_variables():
        find_writer(v)
    block.program.version += 1


def remove_var(block: Block, name: str) -> None:
    """Remove a variable that no operator uses.

    Raises:
        VariableNotFound: the block has none of that name (also a KeyError).
        NameClash: an operator reads or writes it.
    """
    variable = block.var(name)
    user = next((o for b in block.program.blocks for o in b.ops if _uses(o, variable)), None)
    if user is not None:
        raise NameClash(f"variable '{name}' cannot be removed: it is used.", op=user.summary(), variable=name)
    del block.vars[name]
    block.program.version += 1


def _uses(op: Operator, variable: Variable) -> bool:
    return any(v is variable for v in (*op.input_variables(), *op.output_variables()))


def rename_var(block: Block, name: str, new_name: str) -> Variable:
    """Call a variable *new_name*; operators and ``op_role_var`` follow.

    Raises:
        VariableNotFound: the block has none of that name (also a ValueError).
        NameClash: another variable is called *new_name* already (also a ValueError).
    """
    variable = block.vars.get(name)
    if variable is None:
        raise VariableNotFound(f"var {name} is not in current block", hint=did_you_mean(name, block.vars))
    if new_name != name and new_name in block.vars:
        raise NameClash(f"'{name}' cannot be called '{new_name}': another variable has that name.", variable=new_name)
    variable.name = new_name
    block.vars = {new_name if n == name else n: v for n, v in block.vars.items()}
    for b in block.program.blocks:
        for op in b.ops:
            op.role_var = tuple(new_name if n == name else n for n in op.role_var)
    block.program.version += 1
    return variable


def replace_variable(op: Operator, operands: Operands, old_name: str, new_name: str) -> Operands:
    """*operands* with the variable called *new_name* in place of those called *old_name*."""
    new = op.block._var_recursive(new_name)

    op.block.program.version += 1
    return map_operands(operands, lambda v: new if v.name == old_name else v)


def rewrite(op: Operator, old_name: str, new_name: str) -> None:
    """Let *op* write *new_name* where it wrote *old_name*."""
    before = list(op.output_variables())
    op.outputs = replace_variable(op, op.outputs, old_name, new_name)
    arrays.move_along(op)
    for v in (*before, *op.output_variables()):
        find_writer(v)


def find_writer(variable: Variable) -> None:
    """Set ``variable.op`` to the last operator of its block that writes it."""
    variable.op = None
    for op in reversed(variable.block.ops):
        if any(v is variable for v in op.output_variables()):
            variable.op = op
            return

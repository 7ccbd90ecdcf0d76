"""Copies of programs."""

from __future__ import annotations

import copy
from operator import itemgetter
from typing import Any, Final

from ..core.collector import pause_gc
from ..core.identity import identity
from . import roles
from .checking import check_program
from .operator import Marks, Operands, Operator, intern_attrs, map_operands
from .program import Block, Program
from .variable import Parameter, Variable

_NAME: Final = itemgetter(0)


def clone(program: Program, for_test: bool = False) -> Program:
    """A copy of *program* that shares nothing that can be edited with it.

    As in Paddle the variables of the copy come in alphabetical order. With *for_test* it holds the forward operators,
    dropout and batch_norm in test form, and, if that leaves operators out, only the variables that the others use.
    """
    with pause_gc():
        new = Program()
        new.names = program.names.copy()
        new.scope_names = dict(program.scope_names)
        new._seed = program._seed
        new.live = dict(program.live)
        new.startups = dict(program.startups)
        new.blocks = []
        if not for_test:
            new._appending_grad_times = program._appending_grad_times
        homes = _blocks(program, new, for_test)
        ops = {block: [o for o in block.ops if not for_test or roles.is_forward(o.role)] for block in homes}
        twins: dict[Variable, Variable] = {}
        for block, twin in homes.items():
            _copy_variables(block, ops[block], twin, twins)
        copies: dict[Operator, Operator] = {}
        for block, twin in homes.items():
            moved: dict[int, Marks] = {}
            for op in ops[block]:
                marks = moved.get(identity(op.marks))
                if marks is None:
                    marks = moved[identity(op.marks)] = op.marks.move(twin)
                copies[op] = _copy_op(op, marks, twins, copies, for_test)
            twin._extend([copies[op] for op in ops[block]])
            for op in ops[block]:
                if op.op.holds_blocks:
                    _move_blocks(copies[op], homes)
        return check_program(new, "clone")


def _blocks(program: Program, new: Program, for_test: bool) -> dict[Block, Block]:
    """Empty blocks of *new*, by the block that they are copies of; with *for_test* those of forward operators only."""
    homes: dict[Block, Block] = {}
    for block in _forward_blocks(program) if for_test else program.blocks:
        homes[block] = Block(new, len(homes), -1)
    numbers = {block.idx: twin.idx for block, twin in homes.items()}
    for block, twin in homes.items():
        twin.parent_idx = numbers.get(block.parent_idx, -1)
        twin.forward_block_idx = numbers.get(block.forward_block_idx, -1)
        twin.backward_block_idx = numbers.get(block.backward_block_idx, -1)
    new.blocks = list(homes.values())
    return homes


def _forward_blocks(program: Program) -> list[Block]:
    """The blocks that forward operators run, block 0 among them."""
    needed = {program.blocks[0]}
    for block in program.blocks:  # a block comes after the one around it
        if block in needed:
            for op in block.ops:
                if roles.is_forward(op.role):
                    needed.update(op.sub_blocks[:1])  # a second one is for the backward part
    return [block for block in program.blocks if block in needed]


def _move_blocks(op: Operator, homes: dict[Block, Block]) -> None:
    """Let a copied operator run the copies of its blocks."""
    op.attrs = {name: _move(value, homes) for name, value in op.attrs.items()}
    for inner in op.sub_blocks:
        inner.owner = inner.owner or op


def _move(value: Any, homes: dict[Block, Block]) -> Any:
    """An attribute's value with the copies of blocks in their place."""
    if isinstance(value, tuple):
        return tuple(_move(v, homes) for v in value if not isinstance(v, Block) or v in homes)
    return homes[value] if isinstance(value, Block) else value


def _copy_variables(block: Block, ops: list[Operator], twin: Block, twins: dict[Variable, Variable]) -> None:
    """Copy the variables of *block* to *twin*, in alphabetical order; where operators are left out, those in use."""
    used = _read_variables(ops) if len(ops) < len(block.ops) else None
    copies = []
    for v in block.vars.values():  # in order of creation, which is the order in memory
        if used is None or v in used or v.is_data or v.is_parameter:
            twins[v] = copied = _copy_variable(v, twin)
            copies.append((v.name, copied))
    copies.sort(key=_NAME)
    twin.vars = dict(copies)


def _read_variables(ops: list[Operator]) -> set[Variable]:
    used: set[Variable] = set()
    for op in ops:
        used.update(op.input_variables())
        used.update(op.output_variables())
    return used


def _copy_variable(v: Variable, block: Block) -> Variable:
    if isinstance(v, Parameter):
        parameter = copy.copy(v)
        parameter.block = block
        parameter.op = None
        parameter.optimize_attr = dict(v.optimize_attr)
        return parameter
    return v.twin(block)


def _copy_op(
    op: Operator,
    marks: Marks,
    twins: dict[Variable, Variable],
    copies: dict[Operator, Operator],
    for_test: bool,
) -> Operator:
    new = op.twin(_move_operands(op.inputs, twins), _move_operands(op.outputs, twins), marks)
    if for_test and op.attrs.get("is_test") is False:
        new.attrs = intern_attrs(op.op, {**op.attrs, "is_test": True})
        new.outputs = tuple(None if s.optional else v for s, v in zip(op.op.outputs, new.outputs, strict=True))
    if op.origin is not None:
        new.origin = copies.get(op.origin)
    repeats = op.marks.repeats
    if repeats is not None:
        new.repeats = copies.get(repeats)
    return new


def _move_operands(operands: Operands, twins: dict[Variable, Variable]) -> Operands:
    """The copies of the variables in *operands*; most operators have no lists and no empty slots."""
    if len(operands) == 1 and isinstance(operands[0], Variable):
        return (twins[operands[0]],)
    try:
        return tuple([twins[v] for v in operands])  # type: ignore[index]
    except KeyError:
        return map_operands(operands, twins.__getitem__)

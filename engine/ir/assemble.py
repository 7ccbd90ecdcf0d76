"""Operators from names and values: what the readers of programs (``parse.py``, ``from_json.py``) share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ..core import names, source
from ..core.errors import OperatorError, ProgramError, VariableNotFound, did_you_mean
from ..core.source import NOWHERE, Location
from ..ops import registry
from ..ops.opdef import BLOCK, OpDef, Slot
from . import arrays
from .operator import Operands, Operator
from .program import Block, Program
from .variable import Variable

DEEPEST = 64
"""How many blocks are read that stand one inside the other."""
HIGHEST_ORDER = 6
"""Up to which order gradient operators are read: deriving one costs several times what the order below does."""


def definition(type_: str) -> OpDef:
    """The definition of the operators of that type; raises :class:`OperatorError` when there is none."""
    if type_.endswith("_grad" * (HIGHEST_ORDER + 1)):
        raise OperatorError(f"gradient operators are read up to order {HIGHEST_ORDER}, and this is a higher one.")
    return registry.get_by_type(type_)


def assemble(
    block: Block,
    op: OpDef,
    inputs: Mapping[str, list[str]],
    outputs: Mapping[str, list[str]],
    attrs: Mapping[str, Any],
    *,
    role: int = 0,
    role_var: tuple[str, ...] = (),
    scope: str = "/",
    loc: Location = NOWHERE,
) -> Operator:
    """The operator that lists these variables in its slots; it is not appended yet.

    Args:
        inputs, outputs: the slots that are listed -> names of variables, ``@EMPTY@`` for an empty place.
        attrs: the operator's own attributes; those that are left out have their defaults.

    Raises:
        OperatorError: slots or attributes that do not fit the definition.
        VariableNotFound: a variable that is not declared.
    """
    for name in attrs:
        check_attribute(op, name)
    missing = next((n for n, v in op.defaults.items() if v is BLOCK and n not in attrs), None)
    if missing is not None:
        raise OperatorError(f"attribute {missing} of {op.type} is missing.")
    operands = _operands(block, op, op.inputs, inputs, "input")
    results = _operands(block, op, op.outputs, outputs, "output")
    assembled = Operator(
        block,
        op,
        arrays.continue_array(block, op, operands, results),
        results,
        op.attributes(attrs),
        loc=loc,
        role=role,
        scope=scope,
    )
    assembled.role_var = role_var
    return assembled


def check_attribute(op: OpDef, name: str, others: Container[str] = ()) -> None:
    """Raise :class:`OperatorError` unless *op* has an attribute called *name*, or *others* contains it."""
    if name not in op.defaults and name not in others:
        raise OperatorError(f"{op.type} has no attribute {name}.", hint=did_you_mean(name, op.defaults))


def _operands(block: Block, op: OpDef, slots: Sequence[Slot], listed: Mapping[str, list[str]], what: str) -> Operands:
    """The operands that the slots *listed* hold, by name."""
    slot_names = {s.name for s in slots}
    for name in listed:
        if name not in slot_names:
            raise OperatorError(f"{op.type} has no {what} slot {name}.", hint=did_you_mean(name, slot_names))
    operands = [_operand(block, op, slot, listed.get(slot.name), what) for slot in slots]
    if what == "input":
        # Optional slots at the end that are not listed are left out, as they were when the program was written.
        while operands and slots[len(operands) - 1].name not in listed and not operands[-1]:
            operands.pop()
    return tuple(operands)


def _operand(block: Block, op: OpDef, slot: Slot, arguments: list[str] | None, what: str) -> Any:
    """Return the content of a slot; *arguments* is None where it is not listed."""
    values = [_find(block, n) for n in arguments or ()]
    if slot.many:
        absent = arguments is None and what == "output" and not slot.unlisted
        return None if absent else tuple(values)
    if len(values) > 1:
        raise OperatorError(f"{what} {slot.name} of {op.type} takes one variable, but {len(values)} are given.")
    if not values and not slot.optional and op.forward is None:
        raise OperatorError(f"{what} {slot.name} of {op.type} is missing.")
    return values[0] if values else None


def _find(block: Block, name: str) -> Variable | None:
    if name == names.EMPTY:
        return None
    v = block._find_var_recursive(name)
    if v is None:
        raise VariableNotFound(f"variable {name!r} is not declared.", hint=did_you_mean(name, block.vars))
    return v


# -- blocks -----------------------------------------------------------------------------------------------------------


def new_block(program: Program, parent: int, forward: int, backward: int) -> Block:
    """Add a block; raises :class:`ProgramError` if it cannot stand there."""
    idx = len(program.blocks)
    if not -1 <= parent < idx or (parent == -1 and idx):
        raise ProgramError(f"block {idx} cannot have block {parent} as its parent.")
    if forward != -1 and not 0 <= forward < idx:
        raise ProgramError(f"block {idx} cannot belong to the gradient of block {forward}, which comes later.")
    block = Block(program, idx, parent)
    block.forward_block_idx = forward
    block.backward_block_idx = backward
    program.blocks.append(block)
    return block


def check_blocks(program: Program) -> None:
    """Raise :class:`ProgramError` unless the blocks that are named exist, and none is run inside itself."""
    inside: dict[int, set[int]] = {}
    for b in program.blocks:
        if not -1 <= b.backward_block_idx < len(program.blocks):
            raise ProgramError(f"block {b.idx} names block {b.backward_block_idx}, which does not exist.")
        inside[b.idx] = {inner.idx for op in b.ops for inner in op.sub_blocks}
    depth = dict.fromkeys(inside, 1)
    for idx in _outer_first(inside):
        for inner in inside[idx]:
            depth[inner] = max(depth[inner], depth[idx] + 1)
            if depth[inner] > DEEPEST:
                raise ProgramError(f"block {inner} stands inside more than {DEEPEST} others.")


def _outer_first(inside: Mapping[int, set[int]]) -> list[int]:
    """The numbers of the blocks, those around others before these."""
    around = Counter(chain.from_iterable(inside.values()))
    order = [idx for idx in inside if not around[idx]]
    for idx in order:  # grows while it is walked
        for inner in inside[idx]:
            around[inner] -= 1
            if not around[inner]:
                order.append(inner)
    if len(order) < len(inside):
        first = next(idx for idx in inside if around[idx])
        raise ProgramError(f"block {first} is run inside itself.")
    return order


def block_at(program: Program, idx: int) -> Block:
    """Block *idx*; raises :class:`ProgramError` when there is none."""
    if not 0 <= idx < len(program.blocks):
        raise ProgramError(f"block {idx} is named, but there are {len(program.blocks)} blocks.")
    return program.blocks[idx]


def location_from_frames(frames: Iterable[tuple[str, int, str]]) -> Location:
    """The location whose frames a file names, innermost first: ``(file, line, function)``."""
    return tuple((source.stand_in_code(file, function), line) for file, line, function in frames)

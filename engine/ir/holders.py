"""Operators that hold a finished block: which variables they list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import source, state
from ..ops import registry
from . import blocks, roles
from .operator import Operator
from .program import Block
from .variable import Variable


def close_conditional(parent: Block, block: Block, condition: Variable) -> Operator:
    """Append the operator that runs *block* if *condition* holds."""
    written = blocks.writes(block)
    read = [v for v in blocks.reads(block) if v.kind != blocks.STEP_SCOPES]
    read += [v for v in written if v not in set(read) and _has_value(v)]
    scope = parent.create_var(type=blocks.STEP_SCOPES)
    op = append(
        parent,
        "conditional_block",
        {"Cond": (condition,), "Input": tuple(read), "Out": tuple(written), "Scope": scope},
        {"sub_block": block, "is_scalar_condition": True},
    )
    if block.backward_block_idx >= 0:
        _run_backward_part(op, parent.program.blocks[block.backward_block_idx])
    return op


def _run_backward_part(op: Operator, backward: Block) -> None:
    """Run what ``append_backward`` and an optimizer have built while the branch was built, if the branch runs."""
    inside = op.attrs["sub_block"]
    read = [v for v in blocks.reads(backward) if v.block is not inside]
    operands = {
        "Cond": blocks.slot(op, "Cond"),
        "Input": tuple(read),
        "Out": blocks.slot(op, "Out"),
        "Scope": blocks.one(op, "Scope"),
        "Input@GRAD": (None,) * len(read),
        "Written": tuple(blocks.writes(backward)),
    }
    attrs = {"sub_block": backward, "is_scalar_condition": True}
    append(op.block, "conditional_block_grad", operands, attrs, roles.BACKWARD)


def _has_value(v: Variable) -> bool:
    """Return whether a variable that a block writes holds something before."""
    return v.op is not None or v.persistable or v.is_data


def append(
    block: Block, op_type: str, operands: Mapping[str, Any], attrs: Mapping[str, Any], role: int = 0
) -> Operator:
    """Append an operator that runs a block.

    Args:
        operands: variables (or tuples of them) by slot, of inputs and outputs.
    """
    op = registry.get_by_type(op_type)
    inputs = tuple(operands.get(s.name, () if s.many else None) for s in op.inputs)
    outputs = tuple(operands.get(s.name, () if s.many else None) for s in op.outputs)
    filled = op.attributes(attrs)
    operator = Operator(block, op, inputs, outputs, filled, loc=source.here(), role=role, scope=state.name_scope())
    return block._append(operator)


def close_loop(parent: Block, block: Block, condition: Variable, is_test: bool) -> Operator:
    """Append the operator that runs *block*, which writes *condition*, as long as it holds."""
    written = blocks.writes(block)
    read = [v for v in blocks.reads(block) if v.kind != blocks.STEP_SCOPES]
    read = [v for v in dict.fromkeys((*read, *written)) if v is not condition]
    scopes = parent.create_var(type=blocks.STEP_SCOPES)
    return append(
        parent,
        "while",
        {"X": tuple(read), "Condition": condition, "Out": tuple(written), "StepScopes": scopes},
        {"sub_block": block, "is_test": is_test},
    )

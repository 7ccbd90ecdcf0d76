"""Arrays of tensors in programs: which operators take and make them, and what a write goes on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import names, source
from ..core.errors import ArgumentTypeError
from ..core.spec import TensorSpec
from ..ops import compat
from ..ops.opdef import OpDef
from .operator import Operands, Operator, each
from .program import Block, Program
from .variable import ARRAY, DENSE, Variable

_PASSING = frozenset(
    {"array_parted", "array_popped", "array_without", "assign", "fill_any_like", "select_input", "select_output", "sum"}
)
"""Operators that make an array of arrays, and a tensor of tensors."""

READING = frozenset(
    {"lod_array_length", "read_from_array", "tensor_array_to_tensor", "tensor_array_to_tensor_grad", "write_to_array"}
)
"""Operators that take an array, or make one of a tensor."""


class ArrayOperandError(ArgumentTypeError):
    """An array of tensors where a tensor is expected, or the other way round."""


def kind_of_results(op: OpDef, inputs: Operands) -> str:
    """The kind of the variables that *op* makes of *inputs*."""
    if op.type == "write_to_array":
        return ARRAY
    return ARRAY if op.type in _PASSING and any(v.kind == ARRAY for v in each(inputs)) else DENSE


def expect_taken(op: OpDef, inputs: Operands) -> None:
    """Raise :class:`ArrayOperandError` for an array that *op* does not take, or a tensor in the place of one."""
    if op.type not in READING:
        array = next((v for v in each(inputs) if v.kind == ARRAY), None)
        if array is not None and op.type not in _PASSING and not op.holds_blocks and op.forward is None:
            raise ArrayOperandError(
                f"{op.type}: '{array.name}' is an array of tensors, and a tensor is expected.",
                variable=array.name,
                made=source.describe(array.made_at),
                hint="read one of its tensors with paddle.tensor.array_read, or join them with paddle.stack or "
                "paddle.concat",
            )
        return
    place = "Before" if op.type == "write_to_array" else "X"
    operand = inputs[op.input_index[place]] if op.input_index[place] < len(inputs) else None
    if isinstance(operand, Variable) and operand.kind != ARRAY:
        raise ArrayOperandError(
            f"{op.type}: '{operand.name}' is a tensor, and an array of tensors is expected.",
            variable=operand.name,
            made=source.describe(operand.made_at),
            hint="make one with paddle.tensor.create_array or paddle.tensor.array_write",
        )


def expect_made(op: OpDef, inputs: Operands, outputs: Operands) -> None:
    """Raise :class:`ArrayOperandError` for a variable that cannot hold what *op* makes of *inputs*."""
    if op.holds_blocks or op.forward is not None:
        return
    kind = kind_of_results(op, inputs)
    for v in each(outputs):
        if ARRAY in (kind, v.kind) and v.kind != kind:
            raise ArrayOperandError(
                f"{op.type}: '{v.name}' is {v.kind}, and what is written to it is {kind}.",
                variable=v.name,
                made=source.describe(v.made_at),
                hint=f"make it with block.create_var(type={kind!r})",
            )


def continue_array(block: Block, op: OpDef, inputs: Operands, outputs: Sequence[Any]) -> Operands:
    """*inputs* with what the variable in *outputs* holds already, for an operator that goes on with it.

    A variable of *block* itself that no operator has written holds nothing yet.
    """
    slots = compat.CONTINUES.get(op.type)
    if slots is None:
        return inputs
    at, out = op.input_index[slots[0]], outputs[op.output_index[slots[1]]]
    if not isinstance(out, Variable) or (out.block is block and out.op is None):
        return inputs
    padded = [*inputs, *[None] * (len(op.inputs) - len(inputs))]
    padded[at] = out
    return tuple(padded)


def move_along(op: Operator) -> None:
    """Let *op* go on with the variable that it writes now."""
    if op.type in compat.CONTINUES:
        at = op.op.input_index[compat.CONTINUES[op.type][0]]
        if at < len(op.inputs) and op.inputs[at] is not None:
            op.inputs = continue_array(op.block, op.op, op.inputs[:at], op.outputs)


def complete_specs(program: Program) -> None:
    """Say of the arrays of a program that was read from a text, which does not, what is known of their tensors."""
    arrays = [v for v in program.list_vars() if v.kind == ARRAY]
    if not arrays:
        return
    specs: dict[Variable, TensorSpec] = {}
    ops = [op for block in program.blocks for op in block.ops]
    for op in ops:
        if op.type == "write_to_array":
            x, index, out = op.inputs[0], op.inputs[1], op.outputs[0]
            if isinstance(x, Variable) and isinstance(index, Variable) and isinstance(out, Variable):
                (specs[out],) = op.op.infer_specs([x.spec, index.spec, specs.get(out)], op.attrs)
    for op in ops:
        read = next((v for v in each(op.inputs) if v in specs), None)
        if read is not None and not op.op.holds_blocks:
            specs.update({v: specs[read] for v in each(op.outputs) if v.kind == ARRAY and v not in specs})
    for v in arrays:
        if v not in specs:
            of = v.block._find_var_recursive(names.forward(v.name).partition("@VERSION@")[0])
            specs[v] = v.spec if of is None else specs.get(of, v.spec)
        v.spec = specs[v]

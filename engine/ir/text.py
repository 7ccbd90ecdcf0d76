"""The text of a program, printed as Paddle prints it (paddle.md 1.4), and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ProgramError
from .operator import Operator
from .program import Block, Program
from .variable import DENSE, Parameter, Variable


def program_text(program: Program) -> str:
    """Every block, one after the other."""
    return "".join(map(block_text, program.blocks))


def block_text(block: Block) -> str:
    """A block's variables in order of creation, then its operators."""
    lines = [
        f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  forward_idx:{block.forward_block_idx}  "
        f"backward_idx:{block.backward_block_idx}"
    ]
    lines += [f"    {variable_text(v)}" for v in block.vars.values()]
    lines.append("")
    lines += [f"    {operator_text(o)}" for o in block.ops]
    return "\n".join([*lines, "}", ""])


def variable_text(v: Variable) -> str:
    """``persist trainable param w : DENSE_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)``."""
    prefix = "persist " if v.persistable else ""
    if isinstance(v, Parameter):
        prefix += "trainable param " if v.trainable else "param "
    else:
        prefix += "var "
    if v.kind != DENSE:
        return f"{prefix}{v.name} : {v.kind})"
    return f"{prefix}{v.name} : {v.kind}.shape{_tuple(v.shape)}.dtype({v.dtype.name}).stop_gradient({v.stop_gradient})"


def _tuple(shape: tuple[int, ...]) -> str:
    return str(tuple(int(d) for d in shape))


def operator_text(op: Operator) -> str:
    """``{Out=['y']} = scale(inputs={X=['x']}, bias = 0.0, …)``; slots and attributes sorted."""
    outputs = {s: op.output(s) for s in op.output_names}
    inputs = {s: op.input(s) for s in op.input_names}
    shown = [n for n in op.attr_names if n != "op_callstack"]
    attributes = "".join(f", {n} = {_attr(op.attr(n))}" for n in shown)
    left = f"{{{_slots(outputs)}}} = " if outputs else ""
    return f"{left}{op.type}(inputs={{{_slots(inputs)}}}{attributes})"


def _slots(slots: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{name}={arguments}" for name, arguments in slots.items())


def _attr(value: Any) -> str:
    return str(value)


def parse_program(text: str) -> Program:
    """The program that prints as *text*."""
    raise ProgramError("reading a program from text is not written yet")

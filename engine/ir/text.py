"""The text of a program, printed as Paddle prints it, and read back (``parse.py``).

Paddle prints names and string attributes bare. So does this module, as long as that can be read back in one way only;
a string with blanks, quotes, brackets or unprintable characters is printed as a Python literal instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .operator import Operator
from .program import Block, Program
from .variable import DENSE, SELECTED_ROWS, Parameter, Variable

TENSORS = (DENSE, SELECTED_ROWS)
"""Kinds of variables that have a shape and a data type."""

BARE_NAME = re.compile(r"""[^\s'"\\]+""")
BARE_TEXT = re.compile(r"""(?:[^\s,()'"\\]|,(?! ))*""")
BARE_WORD = re.compile(r"\w+")


def program_text(program: Program) -> str:
    """Every block, one after the other."""
    return "".join(map(block_text, program.blocks))


def block_text(block: Block) -> str:
    """A block's variables in order of creation, then its operators."""
    lines = [block_line(block)]
    lines += [f"    {variable_text(v)}" for v in block.vars.values()]
    lines.append("")
    lines += [f"    {operator_text(o)}" for o in block.ops]
    return "\n".join([*lines, "}", ""])


def block_line(block: Block) -> str:
    """``{ // block_idx:0  parent_idx:-1  …``: the line that opens a block."""
    return (
        f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  forward_idx:{block.forward_block_idx}  "
        f"backward_idx:{block.backward_block_idx}"
    )


def variable_text(v: Variable) -> str:
    """``persist trainable param w : DENSE_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)``."""
    prefix = "persist " if v.persistable else ""
    if isinstance(v, Parameter):
        prefix += "trainable param " if v.trainable else "param "
    else:
        prefix += "var "
    name, kind = _bare(v.name, BARE_NAME), _bare(v.kind, BARE_WORD)
    if v.kind not in TENSORS:
        return f"{prefix}{name} : {kind})"
    return f"{prefix}{name} : {kind}.shape{_tuple(v.shape)}.dtype({v.dtype.name}).stop_gradient({v.stop_gradient})"


def _tuple(shape: tuple[int, ...]) -> str:
    return str(tuple(int(d) for d in shape))


def _bare(text: str, pattern: re.Pattern[str]) -> str:
    """*text* itself if *pattern* takes all of it and it can be printed, else a Python literal."""
    return text if pattern.fullmatch(text) and text.isprintable() else repr(text)


def operator_text(op: Operator) -> str:
    """``{Out=['y']} = scale(inputs={X=['x']}, bias = 0.0, …)``; slots and attributes sorted."""
    outputs = {s: op.output(s) for s in op.output_names}
    inputs = {s: op.input(s) for s in op.input_names}
    shown = [n for n in op.attr_names if n != "op_callstack"]
    attributes = "".join(f", {n} = {_attribute(op, n)}" for n in shown)
    left = f"{{{_slots(outputs)}}} = " if outputs else ""
    return f"{left}{op.type}(inputs={{{_slots(inputs)}}}{attributes})"


def _slots(slots: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{name}={arguments}" for name, arguments in slots.items())


def _attribute(op: Operator, name: str) -> str:
    value = op.attr(name)
    if isinstance(value, str) and is_text(op.op.defaults.get(name, "")):
        return _bare(value, BARE_TEXT)
    return _literal(value)


def is_text(default: object) -> bool:
    """Return whether an attribute with that default holds a string, which is printed without quotes."""
    return isinstance(default, str)


def _literal(value: Any) -> str:
    """*value* as Paddle prints attributes: Python's way, NumPy's numbers like Python's own, blocks by their index."""
    if isinstance(value, Block):
        return f"block[{value.idx}]"
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(entry, Block) for entry in value):
            return f"blocks[[{', '.join(str(entry.idx) for entry in value)}]]"
        return f"[{', '.join(map(_literal, value))}]"
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    text = repr(value)
    return f"({text})" if isinstance(value, complex) and text[0] != "(" else text

"""A program as Paddle itself reads it: the description that ``from_desc.py`` reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core import source
from ...core.collector import pause_gc
from ...core.errors import ProgramError, UnsupportedError
from ...files import messages
from ...ops.stand_in import StandIn
from ..operator import COMMON, Operator
from ..program import Block, Program
from ..variable import ARRAY, DENSE, SELECTED_ROWS, Variable
from .attributes import KINDS
from .from_desc import KINDS as VARIABLES
from .parts import FreshNames, NotInPaddle
from .registry_facts import OURS, TYPES, UNKNOWN, is_second_order, second_order_type, slot
from .second_order import decompose

VERSION: Final = 3001001
"""Of the Paddle whose programs ours are like: 3.1.1."""
_NUMBERS: Final = {kind: number for number, kind in VARIABLES.items()}
_INT32: Final = range(-(2**31), 2**31)
_HOLDERS: Final = (("feed", 9, "FEED_MINIBATCH"), ("fetch", 10, "FETCH_LIST"))


def to_desc(program: Program, feeds: Sequence[str] = (), fetches: Sequence[str] = ()) -> bytes:
    """The program as Paddle's protobuf message ``ProgramDesc``.

    Args:
        feeds, fetches: names of variables of block 0 that operators ``feed`` and ``fetch`` are written for, as a
            program for inference has them.

    Raises:
        UnsupportedError: it holds an operator that Paddle has not; the package protobuf is not installed.
        ProgramError: an attribute holds something that no file can hold.
    """
    try:
        return _message(program, feeds, fetches)
    except UnicodeEncodeError as error:
        raise ProgramError(f"the name {error.object!r} is no text that a file can hold.") from None


def _message(program: Program, feeds: Sequence[str], fetches: Sequence[str]) -> bytes:
    with pause_gc():
        message = messages.message("Program")
        called = FreshNames(program)
        for block in program.blocks:
            _write_block(message.blocks.add(), block, called)
        if feeds or fetches:
            _exchange(message.blocks[0], feeds, fetches)
        message.version.version = VERSION
        return message.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


def _write_block(entry: Any, block: Block, called: FreshNames) -> None:
    entry.idx = block.idx
    entry.parent_idx = block.parent_idx
    if block.forward_block_idx >= 0:
        entry.forward_block_idx = block.forward_block_idx
    for v in block.vars.values():
        _write_variable(entry.vars.add(), v)
    for op in block.ops:
        parts, variables = _parts(op, called)
        for v in variables:
            _write_variable(entry.vars.add(), v)
        for part in parts:
            _write_operator(entry.ops.add(), part)


def _parts(op: Operator, called: FreshNames) -> tuple[list[Operator], list[Variable]]:
    """The operators that *op* is written as, itself in most cases, and the variables that are between them."""
    if isinstance(op.op, StandIn) or not is_second_order(op.op) or second_order_type(op) is not None:
        return [op], []
    try:
        return decompose(op, called)
    except NotInPaddle as error:
        raise UnsupportedError(
            f"{op.type}: Paddle has no operator for this gradient of a gradient, and none for a part of it: {error}.",
            op=op.summary(),
            made=source.describe(op.loc),
            hint="gradtool's own files hold it: static.save, Program.to_json",
        ) from None


def _write_variable(entry: Any, v: Variable) -> None:
    entry.name = v.name.encode()
    number = _NUMBERS.get(v.kind, _NUMBERS["RAW"])
    entry.type.type = number
    if v.kind in (DENSE, SELECTED_ROWS, ARRAY):
        held = entry.type.selected_rows if v.kind == SELECTED_ROWS else None
        if held is None:
            listed = entry.type.array if v.kind == ARRAY else entry.type.dense
            listed.lod_level = 0
            held = listed.tensor
        held.data_type = v.dtype.code
        held.dims.extend(v.shape)
    entry.persistable = bool(v.persistable)
    entry.need_check_feed = bool(v.is_data)
    entry.is_parameter = bool(v.is_parameter)
    entry.stop_gradient = bool(v.stop_gradient)


def _write_operator(entry: Any, op: Operator) -> None:
    if op.type in OURS:
        raise UnsupportedError(
            f"{op.summary()}: Paddle has no operator {op.type}.",
            hint="gradtool's own files hold it: static.save, Program.to_json",
        )
    own = not is_second_order(op.op) or isinstance(op.op, StandIn)
    entry.type = (op.type if own else str(second_order_type(op))).encode()
    for listed, slots, names in (
        (entry.inputs, op.input_names, op.input),
        (entry.outputs, op.output_names, op.output),
    ):
        for name in slots:
            called = slot(op.op, name, names == op.input)
            if called is None:
                continue
            held = listed.add(parameter=called.encode())
            held.arguments.extend(n.encode() for n in names(name))
    common: dict[str, tuple[str, Any]] = {
        "op_callstack": ("STRINGS", [f"  {line}" for line in source.stack(op.loc)]),
        "op_device": ("STRING", ""),
        "op_namescope": ("STRING", op.scope),
        "op_role": ("INT", op.role),
        "op_role_var": ("STRINGS", op.role_var),
        "with_quant_attr": ("BOOLEAN", False),
    }
    for name in sorted({*op.attrs, *COMMON}):
        if name in common:
            _write_attribute(entry.attrs.add(), op, name, *common[name])
        else:
            _write_own(entry, op, name, op.attrs[name])


def _write_own(entry: Any, op: Operator, name: str, value: Any) -> None:
    if (op.type.removesuffix("_grad"), name) in UNKNOWN:
        return
    kind = TYPES.get((_forward_type(op), name)) or _kind_of(value, op.op.defaults.get(name))
    if kind is None:  # nothing is said: Paddle's own default holds
        return
    _write_attribute(entry.attrs.add(), op, name, kind, value)


def _forward_type(op: Operator) -> str:
    """The type of the forward operator: gradient operators have its attributes."""
    definition = op.op
    while definition.forward is not None and not isinstance(definition, StandIn):
        definition = definition.forward
    return definition.type


def _kind_of(value: Any, default: Any) -> str | None:
    """Paddle's type of an attribute by its value, and by its default where that is an empty list."""
    if value is None:
        return None
    if isinstance(value, Block):
        return "BLOCK"
    if isinstance(value, (list, tuple)):
        first = next(iter(value), next(iter(default), None) if isinstance(default, (list, tuple)) else None)
        single = _kind_of(first, None) or "INT"
        wide = single == "INT" and any(n not in _INT32 for n in value)
        return {"FLOAT": "FLOATS", "INT": "LONGS" if wide else "INTS"}.get(single, f"{single}S")
    if isinstance(value, (bool, np.bool_)):
        return "BOOLEAN"
    if isinstance(value, (int, np.integer)):
        return "INT" if value in _INT32 else "LONG"
    if isinstance(value, (float, np.floating)):
        return "FLOAT"
    return "STRING" if isinstance(value, str) else "SCALAR" if isinstance(value, complex) else None


def _write_attribute(entry: Any, op: Operator, name: str, kind: str, value: Any) -> None:
    entry.name = name.encode()
    entry.type = KINDS[kind].number
    write = _WRITE.get(kind)
    try:
        if write is not None:
            write(entry, value)
        elif KINDS[kind].many:
            held = value if isinstance(value, (list, tuple)) else (value,)
            getattr(entry, KINDS[kind].field).extend(held)
        else:
            setattr(entry, KINDS[kind].field, value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError) as error:
        raise ProgramError(
            f"{op.type}: attribute {name} = {value!r} is none that a file of Paddle's can hold: {error}",
            op=op.summary(),
        ) from None


def _write_texts(entry: Any, value: Iterable[str]) -> None:
    entry.strings.extend(text.encode("utf-8", "replace") for text in value)


def _write_text(entry: Any, value: str) -> None:
    entry.s = value.encode("utf-8", "replace")


def _write_block_number(entry: Any, value: Block) -> None:
    entry.block_idx = value.idx


def _write_block_numbers(entry: Any, value: Iterable[Block]) -> None:
    entry.blocks_idx.extend(block.idx for block in value)


def _write_number(entry: Any, value: Any) -> None:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        entry.type, entry.b = 1, value
    elif isinstance(value, int):
        entry.type, entry.i = 2, value
    elif isinstance(value, complex):
        entry.type, entry.c.r, entry.c.i = 4, value.real, value.imag
    else:
        entry.type, entry.r = 3, float(value)


def _write_numbers(entry: Any, value: Iterable[Any]) -> None:
    for number in value:
        _write_number(entry.scalars.add(), number)


_WRITE: Final[Mapping[str, Any]] = {
    "STRING": _write_text,
    "STRINGS": _write_texts,
    "BLOCK": _write_block_number,
    "BLOCKS": _write_block_numbers,
    "SCALAR": lambda entry, value: _write_number(entry.scalar, value),
    "SCALARS": _write_numbers,
}
"""Types of attributes that are not written as they are."""


def _exchange(block: Any, feeds: Sequence[str], fetches: Sequence[str]) -> None:
    """Say what is fed and fetched: by operators, as programs for inference do."""
    ops = list(block.ops)
    del block.ops[:]
    for name, number, _ in _HOLDERS:
        holder = block.vars.add(name=name.encode(), persistable=True)
        holder.type.type = number
    for column, name in enumerate(feeds):
        _write_exchange(block.ops.add(type=b"feed"), "feed", column, b"feed", name.encode())
    block.ops.extend(ops)
    for column, name in enumerate(fetches):
        _write_exchange(block.ops.add(type=b"fetch"), "fetch", column, name.encode(), b"fetch")


def _write_exchange(entry: Any, what: str, column: int, read: bytes, written: bytes) -> None:
    entry.inputs.add(parameter=b"X").arguments.append(read)
    entry.outputs.add(parameter=b"Out").arguments.append(written)
    entry.attrs.add(name=b"col", type=KINDS["INT"].number, i=column)
    entry.attrs.add(name=b"op_role", type=KINDS["INT"].number, i=0)

"""Making operators: checks, shape inference, and the propagation of ``stop_gradient``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import FrameType
from typing import Any, NoReturn

from ..core import names, source, state
from ..core.attribute_keys import REMEMBERED
from ..core.errors import ArgumentTypeError, GradtoolError, OperatorError, ProgramError, describe, did_you_mean
from ..core.spec import TensorSpec
from ..ops import compat, registry
from ..ops.opdef import OpDef, Slot
from . import arrays, renew
from .operator import COMMON, Operands, Operator, SharedAttrs, each, fill_attrs, map_operands
from .program import Block, Program
from .variable import ARRAY, DENSE, USUAL, Variable

_SPEC = attrgetter("spec")


class MissingInput(OperatorError, AssertionError):
    """A required input slot is absent (Paddle raises AssertionError)."""


def infer(op: OpDef, inputs: Operands, attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The output specs that the definition gives for these input variables; worked out once for equal operators."""
    read = (inputs[0].spec,) if len(inputs) == 1 and isinstance(inputs[0], Variable) else map_operands(inputs, _SPEC)
    results = attrs.results if isinstance(attrs, SharedAttrs) else {}
    specs = results.get((op, read))
    if specs is not None:
        return specs
    absent = [() if s.many else None for s in op.inputs[len(inputs) :]]
    specs = op.infer_specs([*read, *absent], attrs)
    if len(results) >= REMEMBERED:
        results.clear()
    results[op, read] = specs
    return specs


def emit(
    block: Block,
    op: OpDef,
    inputs: Operands,
    attrs: Mapping[str, Any],
    output_names: Sequence[Any],
    *,
    role: int = 0,
) -> Operator:
    """Append *op* with new output variables of the inferred specs.

    Args:
        output_names: one entry per output slot: a name, an existing variable to write to, a list of either for a
            list slot, or None for an output that is not made.
    """
    filled = fill_attrs(op, attrs)
    loc = source.here()
    program = block.program
    kind, stop = _read(program, op, inputs)
    if program.renewed:
        inputs = renew.current_operands(program, inputs)
        stop = all(v.stop_gradient for v in each(inputs))
    if kind == ARRAY or op.type in arrays.READING:
        inputs = arrays.continue_array(block, op, inputs, output_names)
        arrays.expect_taken(op, inputs)
        kind = arrays.kind_of_results(op, inputs)
    try:
        specs = infer(op, inputs, filled)
    except GradtoolError as error:
        raise describe(error, op=_call_text(op, inputs), made=source.describe(loc)) from None
    trace = state.tracing.get()
    stop = stop or (trace is not None and trace.cuts())
    outputs: Operands
    if op.has_one_output and type(output_names[0]) is str:  # nearly all are so
        name = output_names[0]
        v = block.vars[name] = Variable(block, name, specs[0], stop, kind=kind)
        outputs = (v,)
    else:
        outputs = tuple([
            _outputs(block, slot, wanted, spec, stop, kind)
            for slot, wanted, spec in zip(op.outputs, output_names, specs, strict=True)
        ])  # fmt: skip
    if len(inputs) == 1:
        inputs = _as_written(inputs)
    operator = Operator(block, op, inputs, outputs, filled, loc=loc, role=role, scope=state.name_scope())
    _note_drop(operator, sys._getframe(1))
    return block._append(operator)


def _note_drop(operator: Operator, frame: FrameType) -> None:
    """Take note of the user's line that drops what an operator of the forward part gives."""
    dropped = source.NOWHERE if operator.role else source.locate_drop(frame)
    if dropped:
        operator.marks = operator.marks._replace(dropped=dropped)


def _as_written(inputs: Operands) -> Operands:
    """*inputs* of one slot: the very tuple of what wrote them, where that is the same, for programs are long."""
    v = inputs[0]
    maker = v.op if isinstance(v, Variable) else None
    return maker.outputs if maker is not None and len(maker.outputs) == 1 and maker.outputs[0] is v else inputs


def _read(program: Program, op: OpDef, inputs: Operands) -> tuple[str, bool]:
    """The kind of what an operator reads, an array if one of them is, and whether all of it stops gradients."""
    kind, stop = DENSE, True
    for value in inputs:
        for v in value if isinstance(value, tuple) else (value,):  # for every operator: hence no generator
            if v is None:
                continue
            if v.block.program is not program:
                _refuse_foreign(v, op)
            if v.standing is not USUAL and v.kind == ARRAY:
                kind = ARRAY
            if not v.stop_gradient:
                stop = False
    return kind, stop


def _outputs(block: Block, slot: Slot, wanted: Any, spec: Any, stop: bool, kind: str) -> Any:
    """Return the content of a slot that is written; *wanted* as in :func:`emit`."""
    if wanted is None:
        return None
    if slot.many:
        return tuple([_output(block, n, s, stop, kind) for n, s in zip(wanted, spec, strict=True)])
    return _output(block, wanted, spec, stop, kind)


def _output(block: Block, name: Any, spec: TensorSpec, stop: bool, kind: str) -> Variable:
    """Return the variable that an output is written to: the variable *name* itself, or a new one of that name."""
    if isinstance(name, Variable):
        if (name.op is None and not (name.persistable or name.is_data)) or name.kind == ARRAY:
            name.spec = spec  # made without a shape, to be written here for the first time
        return name
    return block.add_var(Variable(block, name, spec, stop_gradient=stop, kind=kind))


def _call_text(op: OpDef, inputs: Operands) -> str:
    parts = []
    for slot, value in zip(op.inputs, inputs, strict=False):
        if isinstance(value, tuple):
            parts.append(f"{slot.name}=[{', '.join(v.name for v in value if v is not None)}]")
        elif value is not None:
            parts.append(f"{slot.name}={value.name}")
    return f"{op.type}({', '.join(parts)})"


def _refuse_foreign(variable: Variable, op: OpDef) -> NoReturn:
    raise ForeignVariable(
        f"{op.type}: variable '{variable.name}' belongs to another program than the operator.",
        variable=variable.name,
        made=source.describe(variable.made_at),
        hint="build the operator under the program_guard of the variable's program",
    )


class ForeignVariable(ProgramError, ValueError):
    """A variable of one program used in another."""

    code = "GT-E112"


def check_op(
    block: Block,
    type_: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
) -> Operator:
    """An operator from what a caller of ``Block.append_op`` gave, checked but not yet appended."""
    if not isinstance(type_, str):
        raise ArgumentTypeError(f"the type of an operator must be str, but received {type(type_).__name__}.")
    op = registry.get_by_type(type_)
    ins = _operands(block, op, op.inputs, inputs, "Input")
    outs = _operands(block, op, op.outputs, outputs, "output")
    ins = arrays.continue_array(block, op, ins, outs)
    arrays.expect_taken(op, ins)
    arrays.expect_made(op, ins, outs)
    _expect_known(op, attrs)
    loc = source.here()
    missing = [n for n in compat.REQUIRED.get(op.type, ()) if attrs.get(n) is None]
    if missing:
        raise OperatorError(
            f'operator "{op.type}" needs {" and ".join(missing)}, which the attributes do not hold.',
            made=source.describe(loc),
            hint="there is no default for it, as in Paddle: state it in attrs",
        )
    filled = fill_attrs(op, attrs)
    operator = Operator(
        block,
        op,
        ins,
        outs,
        filled,
        loc=loc,
        role=int(attrs.get("op_role", 0)),
        scope=attrs.get("op_namescope", state.name_scope()),
    )
    operator.role_var = tuple(attrs.get("op_role_var", ()))
    if op.forward is None and op.infers:
        _infer_outputs(operator)
    return operator


def _expect_known(op: OpDef, attrs: Mapping[str, Any]) -> None:
    """Raise :class:`OperatorError` for an attribute that Paddle's operator of that type has not."""
    for name in attrs:
        if name in op.defaults or name in COMMON or name in compat.HINTS:
            continue
        there = ", ".join(sorted(op.defaults)) or "none"
        near = did_you_mean(name, op.defaults)
        raise OperatorError(
            f"'{name}' is not an attribute of operator \"{op.type}\".",
            hint=f"{near} its attributes are: {there}" if near else f"its attributes are: {there}",
        )


def _infer_outputs(op: Operator) -> None:
    """Give what *op* writes the specs that follow from what it reads; nothing flows back from constants."""
    try:
        specs = infer(op.op, op.inputs, op.attrs)
    except GradtoolError as error:
        raise describe(error, op=op.summary(), made=source.describe(op.loc)) from None
    for value, spec in zip(op.outputs, specs, strict=False):
        pairs = zip(value, spec, strict=False) if isinstance(value, tuple) else [(value, spec)]
        for v, s in pairs:
            if v is not None:
                v.spec = s
    if not all(v.stop_gradient for v in each(op.inputs)):
        return
    for v in each(op.outputs):
        if not v.is_parameter:
            v.stop_gradient = True


def _operands(block: Block, op: OpDef, slots: Sequence[Slot], listed: Mapping[str, Any], what: str) -> Operands:
    """Return what a caller has listed for the slots of *op*."""
    slot_names = [s.name for s in slots]
    for name, values in listed.items():
        if name not in slot_names and _as_list(values):
            if name in compat.KEPT.get(op.type, ()):
                continue
            near = did_you_mean(name, slot_names)
            there = f"its slots are: {', '.join(sorted(slot_names)) or 'none'}"
            hint = f"{near} {there}" if near else there
            raise OperatorError(f'{what} {name} is not a slot of operator "{op.type}".', hint=hint)
    return tuple(_operand(block, op, slots, slot, _as_list(listed.get(slot.name)), what) for slot in slots)


def _operand(block: Block, op: OpDef, slots: Sequence[Slot], slot: Slot, entries: list[Any], what: str) -> Any:
    """Return the content of one slot."""
    values = [_variable(block, entry, op) for entry in entries]
    if slot.many:
        return tuple(values)
    if len(values) > 1:
        raise OperatorError(f"{what} {slot.name} expects only one input, but {len(values)} are given.")
    if values:
        return values[0]
    if slot.optional or op.forward is not None:
        return None
    if what == "Input":
        raise MissingInput(f"Input {slot.name} not found in operator {op.type}.")
    required = ", ".join(s.name for s in slots if not s.optional)
    raise OperatorError(f'Incorrect setting for output(s) of operator "{op.type}", should set: [{required}].')


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _variable(block: Block, value: Any, op: OpDef) -> Variable | None:
    if isinstance(value, Variable):
        return renew.current(value) if value.block.program.renewed else value
    if isinstance(value, str):
        return None if value == names.EMPTY else block._var_recursive(value)
    raise ArgumentTypeError(
        f"{op.type}: an input or output must be a Variable or its name, but received {type(value).__name__}."
    )

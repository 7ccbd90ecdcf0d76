"""From a public function to an operator: in static mode appended to a program, in dynamic mode computed at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, ModeError
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.recipe import recipes
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import build, default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Slot

from ._remembered import called_directly, computed


def apply(
    op_type: str,
    *operands: Any,
    attrs: Mapping[str, Any] | None = None,
    key: str | None = None,
    name: str | None = None,
    direct: bool = False,
    outputs: Mapping[str, Any] | None = None,
    counts: Sequence[int] = (),
) -> Any:
    """Append an operator to the current program and return its output variable (a tuple when there are several).

    In dynamic mode the operator is computed and recorded instead, and tensors come back in the same form.

    Args:
        operands: one per input slot; None for an empty one, a sequence for a list slot. Optional slots at the end may
            be left out; without any operand at all they are not listed in the program either.
        key: what its layer is counted under (``relu`` -> ``relu_0``); the operator's type by default.
        name: the layer's name, if the user gave one.
        direct: the output gets the layer's name itself (``tmp_0``) instead of ``<layer>.tmp_0``.
        outputs: by slot: a variable or tensor to write to, or True (or a name) for an optional output that is wanted.
        counts: how many outputs each list slot has.

    Raises:
        ArgumentTypeError: an operand is no variable or tensor (a TypeError).
        ModeError: a variable in dynamic mode, or a tensor in static mode.
    """
    op = registry.get_by_type(op_type)
    if not in_static_mode():
        return _computed(op, operands, attrs, outputs)
    program = default.default_main_program()
    names = program.names
    fitted = operands if _fits(op, operands) else _fitted(op, operands)
    block, attributes = program.current_block(), attrs or {}
    if name is None and outputs is None and not direct and op.has_one_output:
        return build.emit(block, op, fitted, attributes, (names.output(key or op_type),)).outputs[0]
    layer = name if name is not None else names(key or op_type)
    asked = outputs or {}
    lengths = iter(counts)
    wanted: list[Any] = []
    for slot in op.outputs:
        target = asked.get(slot.name, None if slot.optional else True)
        if target is not True:
            wanted.append(target)
        elif slot.many:
            wanted.append([names(f"{layer}.tmp") for _ in range(next(lengths))])
        else:
            wanted.append(layer if direct else names(f"{layer}.tmp"))
    operator = build.emit(block, op, fitted, attributes, wanted)
    results = [list(v) if isinstance(v, tuple) else v for v in operator.outputs if v is not None]
    return results[0] if len(results) == 1 else tuple(results)


def stop_in_programs(places: AnyTensor) -> AnyTensor:
    """Let no gradient flow through *places* that an operator gives beside its values, if they are of a program; itself.

    In dynamic mode they say ``stop_gradient=False`` where their operator is recorded, as in Paddle.
    """
    if isinstance(places, Variable):
        places.stop_gradient = True
    return places


def _fits(op: OpDef, operands: Sequence[Any]) -> bool:
    """Return whether *operands* are what the operator holds as they are: a variable for each slot, and none of them a
    list.
    """
    if op.has_lists or len(operands) != len(op.inputs):
        return False
    for v in operands:  # noqa: SIM110  (for every operator: hence no generator)
        if not isinstance(v, Variable):
            return False
    return True


def _fitted(op: OpDef, operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return the operands as the operator holds them: an entry per slot; raises the error for anything but
    variables.
    """
    padded = [*operands, *[None] * (len(op.inputs) - len(operands))] if operands else []
    return tuple([
        value if isinstance(value, Variable) and not slot.many else _operand(op.type, slot, value)
        for slot, value in zip(op.inputs, padded, strict=False)
    ])  # fmt: skip


def _operand(op_type: str, slot: Slot, value: Any) -> Any:
    """Return what a slot of an operator in a program holds; raises the error for anything but variables."""
    if slot.many:
        entries = () if value is None else tuple(value)
        for v in entries:
            if not isinstance(v, Variable):
                return tuple(v if isinstance(v, Variable) else captured(op_type, slot, v) for v in entries)
        return entries
    if not isinstance(value, Variable) and (value is not None or not slot.optional):
        return captured(op_type, slot, value)
    return value


def captured(op_type: str, slot: Slot, value: Any) -> Any:
    """The variable that a tensor is in the program that is being traced; raises the error for anything else."""
    trace = state.tracing.get()
    if trace is None or not isinstance(value, Tensor):
        refuse(op_type, slot.name, value)
    return trace.captured(value)


_ABSENT: Any = object()
"""Stands for an argument that was not given."""


def unary(name: str, op_type: str | None = None) -> Callable[..., AnyTensor]:
    """The function ``paddle.<name>(x)`` of an operator with one operand; its results are counted under *name*."""
    op = registry.get_by_type(op_type or name)
    key = name

    def function(x: Any, name: str | None = None) -> AnyTensor:
        if isinstance(x, Tensor) and not in_static_mode():
            recipe = recipes[op]
            return recipe.record(recipe.default, x)  # type: ignore[no-any-return]
        return apply(op.type, x, key=key, name=name)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.doc
    called_directly[function] = partial(_unary_with_names, op)
    return function


def _unary_with_names(op: OpDef, general: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that :func:`unary` gives, with the names that *general* takes."""

    def function(x: Any = _ABSENT, *args: Any, **named: Any) -> Any:
        if isinstance(x, Tensor) and not (args or named or in_static_mode()):
            recipe = recipes[op]
            return recipe.record(recipe.default, x)
        return general(**named) if x is _ABSENT else general(x, *args, **named)

    return function


def _binary_with_names(op: OpDef, general: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that :func:`binary` gives, with the names that *general* takes."""

    def function(x: Any = _ABSENT, y: Any = _ABSENT, *args: Any, **named: Any) -> Any:
        if isinstance(x, Tensor) and isinstance(y, Tensor) and not (args or named or in_static_mode()):
            recipe = recipes[op]
            return recipe.record(recipe.default, x, y)
        if y is _ABSENT:
            return general(**named) if x is _ABSENT else general(x, **named)
        return general(y=y, **named) if x is _ABSENT else general(x, y, *args, **named)

    return function


def made_when_used(
    space: dict[str, Any], makers: Mapping[str, Callable[[], Callable[..., AnyTensor]]]
) -> Callable[[str], Callable[..., AnyTensor]]:
    """``__getattr__`` of the module with the names *space*: makes a function when it is first asked for.

    A function of one operator knows its definition, and definitions are loaded a file at a time.

    Args:
        makers: by name, what makes the function.
    """

    def get(name: str) -> Callable[..., AnyTensor]:
        if name not in makers:
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        function = space[name] = makers[name]()
        return function

    return get


def binary(name: str, op_type: str, general: Callable[[Any, Any, str | None], AnyTensor]) -> Callable[..., AnyTensor]:
    """The function ``paddle.<name>(x, y)`` of an operator with two operands.

    Args:
        general: answers in static mode, and for anything but two tensors.
    """
    op = registry.get_by_type(op_type)

    def function(x: Any, y: Any, name: str | None = None) -> AnyTensor:
        if isinstance(x, Tensor) and isinstance(y, Tensor) and not in_static_mode():
            recipe = recipes[op]
            return recipe.record(recipe.default, x, y)  # type: ignore[no-any-return]
        return general(x, y, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.doc
    called_directly[function] = partial(_binary_with_names, op)
    return function


def append(home: Any, op_type: str, operands: Sequence[Any], attrs: Mapping[str, Any], *keys: str) -> Any:
    """Append an operator to the program of the variable *home*, whatever the default program is.

    If *home* is a tensor the operator is computed instead.

    Args:
        keys: what the name of each output is counted under.

    Returns:
        The first output.
    """
    op = registry.get_by_type(op_type)
    if isinstance(home, Variable):
        if any(isinstance(v, Tensor) for v in operands):
            pairs = zip(op.inputs, operands, strict=False)
            operands = [captured(op_type, slot, v) if isinstance(v, Tensor) else v for slot, v in pairs]
        program = home.block.program
        names = [program.names(k) for k in keys]
        return build.emit(program.current_block(), op, tuple(operands), attrs, names).outputs[0]
    return compute(op, operands, attrs)


def compute(op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The first output of *op*, computed at once from tensors and recorded."""
    check_tensors(op, operands)
    if state.in_static_mode():
        home = captured(op.type, op.inputs[0], operands[0])
        return append(home, op.type, (home, *operands[1:]), attrs, "tmp")
    recipe = recipes[op]
    result = computed(recipe, recipe.bind(attrs) if attrs else recipe.default, operands)
    return result[0] if isinstance(result, tuple) else result


def check_tensors(op: OpDef, operands: Sequence[Any]) -> None:
    """Raise the error for an operand that is no tensor (a list of tensors, for a list slot)."""
    for slot, v in zip(op.inputs, operands, strict=False):
        if isinstance(v, Tensor):
            continue
        if slot.many and isinstance(v, (list, tuple)):
            for e in v:
                if not isinstance(e, Tensor):
                    refuse(op.type, slot.name, e)
        elif v is not None or not (slot.optional or slot.many):
            refuse(op.type, slot.name, v)


def _computed(
    op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any] | None, outputs: Mapping[str, Any] | None
) -> Any:
    """The outputs of *op* that a program would have: optional ones only where they are asked for."""
    for v in operands:
        if not isinstance(v, Tensor):
            check_tensors(op, operands)
            break
    recipe = recipes[op]
    if len(operands) < recipe.count:
        operands = (*operands, *recipe.padding[len(operands) :])
    result = computed(recipe, recipe.bind(attrs) if attrs else recipe.default, operands)
    if not outputs and not recipe.optional_outputs:
        return result
    return _asked(op, result if isinstance(result, tuple) else (result,), outputs or {})


def _asked(op: OpDef, values: Sequence[Any], outputs: Mapping[str, Any]) -> Any:
    """The values of the outputs that are asked for, in the tensors to write them to."""
    results: list[Any] = []
    for slot, value in zip(op.outputs, values, strict=False):
        target = outputs.get(slot.name)
        if slot.optional and target is None:
            continue
        results.append(value if not isinstance(target, Tensor) else write(target, value, op.type))
    return results[0] if len(results) == 1 else tuple(results)


def write(target: Tensor, value: Tensor, writer: str) -> Tensor:
    """Put *value* into the storage of *target*, which takes its place on the tape as well."""
    target.write(value.array, writer)
    if value.node is not None:
        target.node, target.index, target.stop_gradient = value.node, value.index, False
    return target


def counted(key: str) -> str:
    """The next name that the current program counts under *key*; programs and counters rest in dynamic mode."""
    return default.default_main_program().names(key) if state.in_static_mode() else ""


def layer_name(name: str | None, key: str) -> str:
    """The name of a layer that the user may have named."""
    return name if name is not None else counted(key)


def refuse(op_type: str, slot: str, value: Any) -> None:
    """Raise the error for an operand that is no variable of static mode, or no tensor of dynamic mode."""
    if isinstance(value, Variable):
        raise ModeError(
            f"{op_type}: input {slot} is the variable '{value.name}' of a static program, and dynamic mode is on.",
            hint="call paddle.enable_static() before building the program",
        )
    if isinstance(value, Tensor):
        raise ModeError(
            f"{op_type}: input {slot} is a tensor of dynamic mode, and static mode is on.",
            hint="feed its values to a paddle.static.data variable, or call paddle.disable_static()",
        )
    if state.in_static_mode():
        raise ArgumentTypeError(
            f"{op_type}: input {slot} must be a Variable, but received {type(value).__name__}.",
            hint="turn a NumPy array into a variable with paddle.assign, a number with paddle.full",
        )
    raise ArgumentTypeError(
        f"{op_type}: input {slot} must be a Tensor, but received {type(value).__name__}.",
        hint="turn numbers and arrays into a tensor with paddle.to_tensor",
    )

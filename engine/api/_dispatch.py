"""From a public function to an operator: names, operands, mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradtool.engine import state
from gradtool.engine.errors import ArgumentTypeError, UnsupportedError
from gradtool.engine.ir import build, default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry

from . import _variable_methods  # noqa: F401  (gives Variable its operators)


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

    Args:
        operands: one per input slot; None for an empty one, a sequence for a list slot. Optional slots at the end may
            be left out; without any operand at all they are not listed in the program either.
        key: what its layer is counted under (``relu`` -> ``relu_0``); the operator's type by default.
        name: the layer's name, if the user gave one.
        direct: the output gets the layer's name itself (``tmp_0``) instead of ``<layer>.tmp_0``.
        outputs: by slot: a variable to write to, or True for an optional output that is wanted.
        counts: how many outputs each list slot has.
    """
    op = registry.by_type(op_type)
    padded = [*operands, *[None] * (len(op.inputs) - len(operands))] if operands else []
    fitted = []
    for slot, value in zip(op.inputs, padded, strict=False):
        if slot.many:
            entries = () if value is None else tuple(value)
            for v in entries:
                _check(op_type, slot.name, v)
            fitted.append(entries)
        else:
            if value is not None or not slot.optional:
                _check(op_type, slot.name, value)
            fitted.append(value)
    names = default.default_main_program().names
    layer = name if name is not None else names(key or op_type)
    given = dict(outputs or {})
    lengths = iter(counts)
    made: list[Any] = []
    for slot in op.outputs:
        wanted = given.get(slot.name, None if slot.optional else True)
        if wanted is not True:
            made.append(wanted)
        elif slot.many:
            made.append([names(f"{layer}.tmp") for _ in range(next(lengths))])
        else:
            made.append(layer if direct else names(f"{layer}.tmp"))
    operator = build.emit(default.current_block(), op, tuple(fitted), attrs or {}, made)
    results = [list(v) if isinstance(v, tuple) else v for v in operator.outputs if v is not None]
    return results[0] if len(results) == 1 else tuple(results)


def _check(op_type: str, slot: str, value: Any) -> None:
    if isinstance(value, Variable):
        return
    if not state.in_static_mode():
        raise UnsupportedError(
            f"{op_type}: dynamic mode is not part of this version of gradtool.",
            hint="call paddle.enable_static() and build a static program",
        )
    raise ArgumentTypeError(
        f"{op_type}: input {slot} must be a Variable, but received {type(value).__name__}.",
        hint="turn a NumPy array into a variable with paddle.assign, a number with paddle.full",
    )

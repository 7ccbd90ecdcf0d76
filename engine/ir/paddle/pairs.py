"""Match gradient operators of a foreign program with the forward operators that they differentiate: files do not say
it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

from ...core import names
from ...ops import compat
from ...ops.rules import Read
from .. import roles
from ..operator import Operator
from ..program import Program

_FORWARD = {grad: forward for forward, grad in compat.GRAD_TYPES.items()}


@cache
def forward_type(type_: str) -> str | None:
    """The type of the operators that those of that type differentiate; None if it is no gradient operator's."""
    return _FORWARD.get(type_) or (type_.removesuffix("_grad") if type_.endswith("_grad") else None)


def pair(program: Program) -> None:
    """Have the operators of the backward part know their forward operators (``Operator.origin``, ``repeats``).

    A gradient operator differentiates the last operator of its type before it that reads and writes what it names; one
    that computes again what was let go of repeats the one that wrote it first.
    """
    before: dict[tuple[str, str], list[Operator]] = defaultdict(list)
    for block in program.blocks:
        for op in block.ops:
            if roles.is_backward(op.role) and op.origin is None:
                _relate(op, before)
                _fill_from_forward(op)
            for key in {(op.type, v.name) for v in (*op.input_variables(), *op.output_variables())}:
                before[key].append(op)


def _relate(op: Operator, before: dict[tuple[str, str], list[Operator]]) -> None:
    type_ = forward_type(op.type)
    if type_ is not None:
        listed = {slot: op.input(slot) for slot in op.input_names}
        results = [n for slot in op.output_names for n in op.output(slot)]
        op.origin = _last(before, type_, [*results, *(n for held in listed.values() for n in held)], listed)
        return
    copies = [v.name for v in op.output_variables() if names.is_recomputed(v.name)]
    op.repeats = _last(before, op.type, copies, {}) if copies else None


def _fill_from_forward(op: Operator) -> None:
    """Give a gradient operator what its rule reads and the file does not list, from its forward operator.

    Paddle's kernels keep something else for some (``warpctc``, ``einsum``), which ours compute anew.
    """
    of, rule = op.origin, op.op.forward.rule if op.op.forward is not None else None
    if of is None or rule is None or of.op is not op.op.forward or of.op.holds_blocks:
        return
    operands = [*op.inputs, *([None] * (len(op.op.inputs) - len(op.inputs)))]
    fitting = [_read_operand(of, read) for read in rule.reads]
    needed = zip(op.op.inputs, operands, fitting, strict=True)
    first = of.op.forward is None  # an operator of second order lists what its kernel reads, and ours reads more
    if first and all(slot.optional or slot.unlisted or held or not there for slot, held, there in needed):
        return
    op.inputs = tuple([held or there for held, there in zip(operands, fitting, strict=True)])


def _read_operand(forward: Operator, read: Read) -> Any:
    """Return the operand of *forward* that its rule reads; nothing for gradients."""
    held = forward.inputs if read.kind == "in" else forward.outputs if read.kind == "out" else ()
    return held[read.place] if read.place < len(held) else None


def _last(
    before: dict[tuple[str, str], list[Operator]], type_: str, named: list[str], listed: dict[str, list[str]]
) -> Operator | None:
    """The last operator of that type which has one of the names, and fits the slots *listed*."""
    told = [n for n in named[:_LOOKED_AT] if n != names.EMPTY]
    exact = told if forward_type(type_) is not None else []  # what is differentiated is a gradient operator
    for name in dict.fromkeys([*exact, *map(_plain, told)]):
        for candidate in reversed(before.get((type_, name), [])[-_LOOKED_AT:]):
            if candidate.repeats is None and _fits(candidate, listed):
                return candidate
    return None


_LOOKED_AT = 64
"""Operators that are compared: a parameter that is read a million times is no reason to take quadratic time."""


def _plain(name: str) -> str:
    """The forward variable that a gradient, or a value that is computed again, belongs to."""
    return names.original(names.forward(name))


def _fits(forward: Operator, listed: dict[str, list[str]]) -> bool:
    """Return whether the slots that a gradient operator shares with *forward* hold the same variables."""
    for slot, arguments in listed.items():
        if slot.endswith(names.GRAD) or slot not in {**forward.op.input_index, **forward.op.output_index}:
            continue
        own = forward.input(slot) if slot in forward.op.input_index else forward.output(slot)
        if not set(map(names.original, arguments)) <= set(own):
            return False
    return True

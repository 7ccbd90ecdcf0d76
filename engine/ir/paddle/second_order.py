"""Gradient operators of gradient operators, as operators that Paddle has.

Paddle has an operator of second order for some forty operators, of third order for eight. Those that it lacks are
written as what they compute: their rule is read over the variables of the program (``parts.py``), and each operator
that it calls is written. What only rules call stands in a table (``rule_operators.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import GradtoolError
from ...ops import registry
from ...ops.opdef import Trait
from ..operator import Operator
from ..variable import Variable
from .parts import FreshNames, NotInPaddle, OperatorPart, Parts, as_list, each_of
from .registry_facts import OURS, is_second_order
from .rule_operators import IN_PADDLE


def decompose(op: Operator, called: FreshNames) -> tuple[list[Operator], list[Variable]]:
    """Operators that compute what *op*, which differentiates a gradient operator, does; and their new variables.

    Raises:
        NotInPaddle: Paddle lacks one of them.
    """
    of = op.op.forward
    assert of is not None
    assert of.rule is not None
    if op.op.holds_blocks:
        raise NotInPaddle(op.type)
    parts = Parts(op, called, IN_PADDLE)
    listed = [*op.inputs, *([() if s.many else None for s in op.op.inputs[len(op.inputs) :]])]
    operands = [as_list(each_of(lambda v: OperatorPart(v, parts), v)) for v in listed]
    try:
        gradients = of.rule(parts, operands, [_result_requests(v) for v in op.outputs], op.attrs)
    except GradtoolError as error:  # of a shape that is not known, or a type
        raise NotInPaddle(f"{op.type} ({error.message.removesuffix('.')})") from None
    for out, group in zip(op.outputs, gradients, strict=True):
        for v, part in _pairs(out, group):
            _assign(parts, part, v)
    return _operators_behind(op, parts)


def _result_requests(output: Any) -> list[bool]:
    return [v is not None for v in output] if isinstance(output, tuple) else [output is not None]


def _pairs(output: Any, gradients: Iterable[Any]) -> Iterable[tuple[Variable, OperatorPart]]:
    """The variables that a slot writes, and what belongs there."""
    for v, gradient in zip(output if isinstance(output, tuple) else (output,), gradients, strict=False):
        if v is not None:
            yield v, gradient


def _assign(parts: Parts, part: OperatorPart, v: Variable) -> None:
    """Have the variable *v* of the program hold *part*."""
    assign, like = registry.get_by_type("assign"), parts.op
    read = parts.cast_to(part, v.dtype).variable
    settings: dict[str, Any] = {"loc": like.loc, "role": like.role, "scope": like.scope}
    copy = Operator(like.block, assign, (read,), (v,), assign.attributes({}), **settings)
    pairs = zip(like.role_var[::2], like.role_var[1::2], strict=True)
    copy.role_var = tuple([name for pair in pairs if pair[1] == v.name for name in pair])
    parts.ops.append(copy)


def _operators_behind(op: Operator, parts: Parts) -> tuple[list[Operator], list[Variable]]:
    """Return the operators that lead to the results of *op*: a rule is read with the operator that it differentiates,
    which may not.
    """
    read = {*op.output_variables()}
    kept: list[Operator] = []
    for part in reversed(parts.ops):
        if read.isdisjoint(part.output_variables()):
            continue
        if part.type in OURS or part.op.trait & Trait.INTERNAL or is_second_order(part.op) or part.op.holds_blocks:
            raise NotInPaddle(part.type)
        kept.append(part)
        read.update(part.input_variables())
    used = {v for part in kept for v in part.output_variables()}
    return kept[::-1], [v for v in parts.variables if v in used]

"""Rules that expand: programs show their operators in place of one gradient operator (``scale`` for ``scale``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core import names
from ..ir.operator import Operator, intern_attrs
from ..ir.variable import ARRAY, Variable
from ..ops import registry
from ..ops.opdef import OpDef
from ..ops.readings import regroup
from .values import Value, variable_of

if TYPE_CHECKING:
    from .differentiator import Differentiator, SweptOp


class AskedOp:
    """An operator that an expanding rule asks for, not made yet."""

    __slots__ = ("attrs", "op", "operands")

    def __init__(self, op: OpDef, operands: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs

    def __getitem__(self, place: int) -> AskedResult:
        return AskedResult(self, place)


class AskedResult:
    """One of several results that an :class:`AskedOp` has in its list slot."""

    __slots__ = ("call", "place")

    def __init__(self, call: AskedOp, place: int) -> None:
        self.call = call
        self.place = place


class RuleNamespace:
    """The namespace in which an expanding rule is read: every operator answers with an :class:`AskedOp`."""

    def __getattr__(self, name: str) -> Callable[..., AskedOp]:
        op = registry.get_by_name(name)

        def call(*operands: Any, **attrs: Any) -> AskedOp:
            fitted = tuple(tuple(v) if isinstance(v, list) else v for v in operands)
            return AskedOp(op, fitted, op.attributes(attrs))

        return call


def expand(grads: Differentiator, node: SweptOp, args: list[Any], mask: list[bool]) -> list[Variable | None]:
    """Append the operators that the rule of *node* asks for; returns the gradients of what it read."""
    op = node.op
    rule = op.op.rule
    assert rule is not None
    calls = rule(RuleNamespace(), args, regroup(mask, op.inputs, rule.wrt), op.attrs)
    results: list[Variable | None] = []
    flat = [c for group in calls for c in group]
    for call, value in zip(flat, node.wrt, strict=True):
        if call is None or value is None:
            results.append(None)
            continue
        if isinstance(call, AskedResult):
            continue
        if call.op.type == "array_without" and op.type == "write_to_array":
            from .arrays import writes_new_place

            if writes_new_place(grads, op):
                results.append(call.operands[0])
                continue
        if call.op.type == "scale" and variable_of(value).kind == ARRAY:  # what a sum asks for: the gradient as it is
            call = AskedOp(registry.get_by_type("assign"), call.operands[:1], {})
        _make_operands(grads, call, op)
        attrs = intern_attrs(call.op, call.attrs)
        earlier = grads.earlier.contribution(value, call.op, attrs, call.operands)
        if earlier is not None:
            results.append(next(earlier.output_variables()))
            continue
        variable = grads.new_gradient(value)
        outputs = (variable,) + (None,) * (len(call.op.outputs) - 1)
        grads.emitted.emit(call.op, call.operands, outputs, attrs, origin=op)
        results.append(variable)
    return _expand_parts(grads, op, flat, node.wrt) if any(isinstance(c, AskedResult) for c in flat) else results


def _expand_parts(
    grads: Differentiator, op: Operator, parts: list[Any], wrt: list[Value | None]
) -> list[Variable | None]:
    """One operator whose list of results holds all the gradients."""
    call = next(p.call for p in parts if p is not None)
    gradients = [
        None if part is None or value is None else grads.new_gradient(value)
        for part, value in zip(parts, wrt, strict=True)
    ]
    outputs: list[Variable | None] = [None] * len(parts)
    for part, gradient in zip(parts, gradients, strict=True):
        if part is not None:
            outputs[part.place] = gradient
    grads.emitted.emit(call.op, call.operands, (tuple(outputs),), call.attrs, origin=op)
    return gradients


def _make_operands(grads: Differentiator, call: AskedOp, op: Operator) -> None:
    """Emit the calls among the operands of *call*."""

    def make(operand: Any) -> Any:
        if isinstance(operand, tuple):
            return tuple(make(v) for v in operand)
        if not isinstance(operand, AskedOp):
            return operand
        like = next(v for v in operand.operands if isinstance(v, Variable))
        variable = Variable(grads.target, "", like.spec)
        grads.namer.settle(variable, names.grad(like.name))
        grads.emitted.emit(operand.op, operand.operands, (variable,), operand.attrs, origin=op)
        return variable

    call.operands = tuple(make(v) for v in call.operands)

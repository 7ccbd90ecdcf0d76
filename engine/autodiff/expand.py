"""Rules that expand: programs show their operators in place of one gradient operator (``scale`` for ``scale``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core import names
from ..ir.operator import Operator, intern_attrs
from ..ir.variable import Variable
from ..ops import registry
from ..ops.opdef import OpDef
from ..ops.readings import regroup
from .values import Value

if TYPE_CHECKING:
    from .builder import Builder, Node


class Call:
    """An operator that an expanding rule asks for, not made yet."""

    __slots__ = ("attrs", "op", "operands")

    def __init__(self, op: OpDef, operands: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs

    def __getitem__(self, place: int) -> Part:
        return Part(self, place)


class Part:
    """One of several results that a :class:`Call` has in its list slot."""

    __slots__ = ("call", "place")

    def __init__(self, call: Call, place: int) -> None:
        self.call = call
        self.place = place


class Calls:
    """The namespace in which an expanding rule is read: every operator answers with a :class:`Call`."""

    def __getattr__(self, name: str) -> Callable[..., Call]:
        op = registry.by_name(name)

        def call(*operands: Any, **attrs: Any) -> Call:
            fitted = tuple(tuple(v) if isinstance(v, list) else v for v in operands)
            return Call(op, fitted, op.attributes(attrs))

        return call


def expand(builder: Builder, node: Node, args: list[Any], mask: list[bool]) -> list[Variable | None]:
    """Append the operators that the rule of *node* asks for; returns the gradients of what it read."""
    op = node.op
    rule = op.op.rule
    assert rule is not None
    calls = rule(Calls(), args, regroup(mask, op.inputs, rule.wrt), op.attrs)
    results: list[Variable | None] = []
    flat = [c for group in calls for c in group]
    for call, value in zip(flat, node.wrt, strict=True):
        if call is None or value is None:
            results.append(None)
            continue
        if isinstance(call, Part):
            continue
        _make_operands(builder, call, op)
        attrs = intern_attrs(call.op, call.attrs)
        known = builder.known.contribution(value, call.op, attrs, call.operands)
        if known is not None:
            results.append(next(known.output_variables()))
            continue
        variable = builder.gradient_variable(value)
        outputs = (variable,) + (None,) * (len(call.op.outputs) - 1)
        builder.emit(call.op, call.operands, outputs, attrs, origin=op)
        results.append(variable)
    return _expand_parts(builder, op, flat, node.wrt) if any(isinstance(c, Part) for c in flat) else results


def _expand_parts(builder: Builder, op: Operator, parts: list[Any], wrt: list[Value | None]) -> list[Variable | None]:
    """One operator whose list of results holds all the gradients."""
    call = next(p.call for p in parts if p is not None)
    made = [
        None if p is None or value is None else builder.gradient_variable(value)
        for p, value in zip(parts, wrt, strict=True)
    ]
    placed: list[Variable | None] = [None] * (1 + max(p.place for p in parts if p is not None))
    for p, v in zip(parts, made, strict=True):
        if p is not None:
            placed[p.place] = v
    placed += [None] * (len(parts) - len(placed))
    builder.emit(call.op, call.operands, (tuple(placed),), call.attrs, origin=op)
    return made


def _make_operands(builder: Builder, call: Call, op: Operator) -> None:
    """Emit the calls among the operands of *call*."""

    def make(operand: Any) -> Any:
        if isinstance(operand, tuple):
            return tuple(make(v) for v in operand)
        if not isinstance(operand, Call):
            return operand
        like = next(v for v in operand.operands if isinstance(v, Variable))
        variable = Variable(builder.target, "", like.spec)
        builder.settle(variable, names.grad(like.name))
        builder.emit(operand.op, operand.operands, (variable,), operand.attrs, origin=op)
        return variable

    call.operands = tuple(make(v) for v in call.operands)

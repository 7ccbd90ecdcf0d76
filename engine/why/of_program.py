"""Reasons for the variables of a static program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ..autodiff.values import Value, Values, is_update, variable_of
from ..collector import paused_gc
from ..ir.operator import Operator, each
from ..ir.variable import Parameter, Variable
from ..ops.opdef import OpDef
from ..source import NOWHERE, Location
from .reasons import Cut, Flow, Reason, Reasons, Step
from .verdicts import Verdict


class ProgramFlow(Flow[Value, Operator]):
    """The operators of a block before the backward part is appended.

    Args:
        ops: in order of execution.
        no_grad: the names in the no-grad set.
        no_grad_at: the user's line that gave the set, if one did.
    """

    def __init__(self, ops: Sequence[Operator], no_grad: Collection[str], no_grad_at: Location = NOWHERE) -> None:
        self.no_grad_at = no_grad_at
        self.ops = ops
        self.values = Values(ops)
        self.no_grad = frozenset(no_grad)
        self._masks: dict[OpDef, tuple[list[bool], list[bool], bool]] = {}

    def back(self) -> Iterator[Step[Operator, Value]]:
        values, masks = self.values, self._masks
        rewritten = values.last
        for op in reversed(self.ops):
            definition = op.op
            mask = masks.get(definition)
            if mask is None:
                mask = masks[definition] = _mask(definition)
            passes, takes, lists = mask
            read: Sequence[Any] = op.inputs
            written: Sequence[Any] = op.outputs
            if lists:
                read, passes = _flat(read, passes)
                written, takes = _flat(written, takes)
            if len(written) > 1 and any(v is None for v in written):
                pairs = [(v, t) for v, t in zip(written, takes, strict=False) if v is not None]
                written, takes = [v for v, _ in pairs], [t for _, t in pairs]
            if rewritten:
                read = [None if v is None else values.read(op, v) for v in read]
                written = [values.written(op, v) for v in written]
            if op.role and is_update(op):
                written = ()
            yield op, read, written, passes, takes

    def links(self) -> Iterator[tuple[Operator, Sequence[Value | None], Sequence[Value]]]:
        if self.values.last:
            yield from super().links()
            return
        for op in reversed(self.ops):
            if op.role and is_update(op):
                continue
            plain = len(op.outputs) == 1 and not self._masks[op.op][2]
            yield (op, op.inputs, op.outputs) if plain else (op, [*each(op.inputs)], [*each(op.outputs)])  # type: ignore[misc]

    def stop(self, value: Value) -> Cut[Value, Operator] | None:
        v = value[0] if type(value) is tuple else value
        if v.stop_gradient:
            if self.no_grad and v.name in self.no_grad:
                return Cut(Verdict.NO_GRAD_SET, value, v.op, at=self.no_grad_at)
            op = v.op
            if op is not None and op.type == "share_data":
                return Cut(Verdict.DETACHED, value, op)
            if op is not None and not op.op.differentiable:
                return Cut(Verdict.NON_DIFFERENTIABLE, value, op)
            return Cut(Verdict.STOP_GRADIENT, value, op)
        if self.no_grad and v.name in self.no_grad:
            return Cut(Verdict.NO_GRAD_SET, value, v.op, at=self.no_grad_at)
        return None

    def passes_stops_on(self, call: Operator) -> bool:
        for value in call.inputs:
            if type(value) is tuple:
                if not all(v is None or v.stop_gradient for v in value):
                    return False
            elif value is not None and not value.stop_gradient:
                return False
        return True

    def name(self, value: Value) -> str:
        return variable_of(value).name

    def dtype(self, value: Value) -> str:
        return variable_of(value).dtype.name

    def made_at(self, value: Value) -> Location:
        return variable_of(value).made_at

    def call_type(self, call: Operator) -> str:
        return call.type

    def called_at(self, call: Operator) -> Location:
        return call.loc


def _mask(op: OpDef) -> tuple[list[bool], list[bool], bool]:
    """By slot: whether the rule gives inputs a gradient, whether it takes those of outputs; and whether lists occur."""
    rule = op.rule
    wrt = set(rule.wrt) if rule is not None else set()
    outs = {r.place for r in rule.reads if r.kind == "dout"} if rule is not None else set()
    lists = any(s.many for s in (*op.inputs, *op.outputs))
    return [i in wrt for i in range(len(op.inputs))], [j in outs for j in range(len(op.outputs))], lists


def _flat(operands: Sequence[Any], mask: Sequence[bool]) -> tuple[list[Any], list[bool]]:
    flat: list[Any] = []
    flags: list[bool] = []
    for value, flag in zip(operands, mask, strict=False):
        if isinstance(value, tuple):
            flat += value
            flags += [flag] * len(value)
        else:
            flat.append(value)
            flags.append(flag)
    return flat, flags


class ProgramReasons(Reasons[Value, Operator]):
    """Verdicts on the variables of a program; made by :func:`explain`."""

    flow: ProgramFlow

    def value(self, v: Variable) -> Value:
        """What *v* holds before the program runs if it holds something then, else what it holds at the end."""
        values = self.flow.values
        return values.initial(v) if v.persistable or v.is_data else values.current(v)

    def of_variable(self, v: Variable) -> Reason[Value, Operator]:
        """The verdict on *v*: on what it holds before the program runs, if it holds something then."""
        found = self.of(self.value(v))
        if found.cut is None:
            return found
        if v.name in self.flow.no_grad:
            cut: Cut[Value, Operator] = Cut(Verdict.NO_GRAD_SET, found.value, v.op, at=self.flow.no_grad_at)
            return Reason(Verdict.NO_GRAD_SET, found.value, self.flow, cut)
        if isinstance(v, Parameter) and not v.trainable and v.stop_gradient:
            return Reason(Verdict.FROZEN, found.value, self.flow)
        if not v.dtype.is_differentiable:
            return Reason(Verdict.INTEGER, found.value, self.flow, Cut(Verdict.INTEGER, found.value, v.op))
        return found


def explain(
    ops: Sequence[Operator],
    targets: Iterable[Variable],
    no_grad: Collection[str] = (),
    no_grad_at: Location = NOWHERE,
) -> ProgramReasons:
    """What a backward pass from *targets* over *ops* reaches, and why it does not reach the rest.

    It changes nothing, and its time grows in proportion to the operators.

    Args:
        ops: the operators of a block before the backward part is appended, in order of execution.
        targets: the loss, or what ``gradients`` starts from.
        no_grad: the names in the no-grad set, beside the variables with ``stop_gradient``.
        no_grad_at: the user's line that gave the set, if one did.
    """
    with paused_gc():
        flow = ProgramFlow(ops, no_grad, no_grad_at)
        return ProgramReasons(flow, [flow.values.current(v) for v in targets])

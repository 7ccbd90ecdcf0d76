"""Reasons for the variables of a static program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...autodiff.values import BlockValues, Stops, Value, find_value, is_update, variable_of
from ...core.collector import pause_gc
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...ir.blocks import Region, reads, region
from ...ir.operator import Operator, each
from ...ir.variable import Parameter, Variable
from ...ops.opdef import OpDef, Trait
from .arguments import MissingGradient, refuse_argument, refuse_result
from .reasons import CallFlow, Cut, FlowStep, Reason, Reasons
from .verdicts import Aspect, Verdict


@dataclass(frozen=True, slots=True)
class BlockReasons:
    """The reach of a backward pass in the block of an operator.

    Attributes:
        reasons: of the block, from the results that gradients come to; in a loop, also from those of earlier rounds.
    """

    region: Region
    reasons: ProgramReasons

    def start(self, v: Variable) -> Value:
        """Return what *v*, of a block around, holds when the block begins."""
        return self.reasons.flow.values.initial(v)

    def passes(self, v: Variable) -> bool:
        """Return whether gradients come to it: through the block, or past a block that need not run."""
        if self.start(v) in self.reasons.reached:
            return True
        current = self.reasons.flow.values.current
        return any(
            c.before is v and c.end is not None and current(c.end) in self.reasons.asked for c in self.region.carried
        )


def _look_inside(op: Operator, wanted: Collection[Variable], flow: ProgramFlow) -> BlockReasons:
    """Return what gradients of the variables *wanted*, which *op* writes, reach in its block."""
    block_region = region(op)
    targets = dict.fromkeys(c.end for c in block_region.carried if c.end is not None and c.result in wanted)
    while True:
        inner = ProgramFlow(block_region.block.ops, (), flow.no_grad_at)  # the set holds variables of block 0
        reasons = ProgramReasons(inner, [inner.values.current(v) for v in targets])
        inside = BlockReasons(block_region, reasons)
        more = [
            c.end
            for c in (block_region.carried if block_region.loops else ())
            if c.end is not None and c.end not in targets and c.start and inside.start(c.start) in reasons.reached
        ]
        if not more:
            return inside
        targets.update(dict.fromkeys(more))


class ProgramFlow(CallFlow[Value, Operator]):
    """The operators of a block before the backward part is appended.

    Attributes:
        inside: the blocks of operators that gradients come to.

    Args:
        ops: in order of execution.
        no_grad: the variables and names in the no-grad set.
        no_grad_at: the user's line that gave the set, if one did.
        values: which value every operator reads and writes, if somebody has numbered them already.
    """

    def __init__(
        self,
        ops: Sequence[Operator],
        no_grad: Collection[Variable | str],
        no_grad_at: Location = NOWHERE,
        values: BlockValues | None = None,
    ) -> None:
        self.no_grad_at = no_grad_at
        self.ops = ops
        self.values = values if values is not None else BlockValues(ops)
        self.no_grad = Stops(self.values, no_grad)
        self.inside: dict[Operator, BlockReasons] = {}
        self._masks: dict[OpDef, tuple[list[bool], list[bool], bool, list[bool]]] = {}

    def back(self, reached: Collection[Value | None] | None = None) -> Iterator[FlowStep[Operator, Value]]:
        values, masks = self.values, self._masks
        rewritten = values.last
        for op in reversed(self.ops):
            definition = op.op
            mask = masks.get(definition)
            if mask is None:
                mask = masks[definition] = _mask(definition)
            passes, takes, lists, shapes = mask
            read: Sequence[Any] = _drop_shapes(op.inputs, shapes)
            written: Sequence[Any] = op.outputs
            if lists:
                read, passes = _flat(read, passes)
                written, takes = _flat(written, takes)
                if definition.type in _RUN_A_BLOCK:
                    passes = self._find_passing(op, read, passes, written, reached)
            if len(written) > 1 and any(v is None for v in written):
                pairs = [(v, t) for v, t in zip(written, takes, strict=False) if v is not None]
                written, takes = [v for v, _ in pairs], [t for _, t in pairs]
            if rewritten:
                read = [None if v is None else values.read(op, v) for v in read]
                written = [values.written(op, v) for v in written]
            if op.role and is_update(op):
                written = ()
            yield op, read, written, passes, takes

    def _find_passing(
        self,
        op: Operator,
        read: Sequence[Variable | None],
        passes: Sequence[bool],
        written: Sequence[Variable | None],
        reached: Collection[Value | None] | None,
    ) -> list[bool]:
        """Return which reads of an operator with a block get a gradient through it."""
        inside = self.inside.get(op)
        if inside is None and reached is not None:
            wanted = {v for v in written if v is not None and self.values.written(op, v) in reached}
            if wanted:
                inside = self.inside[op] = _look_inside(op, wanted, self)
        if inside is None:
            return list(passes)
        return [p and v is not None and inside.passes(v) for v, p in zip(read, passes, strict=False)]

    def explain_refusal(self, call: Operator, value: Value) -> Cut[Value, Operator]:
        inside = self.inside.get(call)
        if inside is None:
            own = super().explain_refusal(call, value)
            whole = self._find_rounding(value)
            return whole or (own if self.refusal(own) is None else replace(own, verdict=Verdict.ARGUMENT))
        start = inside.start(variable_of(value))
        first = inside.reasons.cuts.get(start)
        if first is not None:
            return first
        last = inside.reasons.frontier(start)[0]
        return Cut(Verdict.NO_PATH, value, call, at_input=True, at=self.made_at(last))

    def refusal(self, cut: Cut[Value, Operator]) -> MissingGradient | None:
        call = cut.call
        if call is None or not cut.verdict.has(Aspect.BY_OPERATOR):
            return None
        wanted = variable_of(cut.value)
        if cut.at_input:
            return refuse_argument(call.op, [i for i, v in enumerate(call.inputs) if v is wanted])
        place = next((i for i, v in enumerate(call.outputs) if v is wanted), None)
        return None if place is None else refuse_result(call.op, place)

    def cut_within(self, call: Operator, onto: Value, value: Value) -> Cut[Value, Operator] | None:
        if call.op.type not in _RUN_A_BLOCK:
            return None
        inside = self.inside.get(call)
        if inside is None:
            inside = self.inside[call] = _look_inside(call, {variable_of(onto)}, self)
        reasons = inside.reasons
        # What its block ends with stops gradients by itself: else someone stopped the result, after the block.
        return (
            None
            if reasons.cuts.keys().isdisjoint(reasons.asked)
            else reasons.cuts.get(inside.start(variable_of(value)))
        )

    def _find_rounding(self, value: Value) -> Cut[Value, Operator] | None:
        """Return where numbers became the whole ones that *value* holds, if operators made these of others."""
        v = variable_of(value)
        while not v.dtype.is_differentiable and v.op is not None:
            operands = [o for o in each(v.op.inputs) if o is not None]
            whole = next((o for o in operands if not o.dtype.is_differentiable), None)
            if whole is None or whole is v:
                return Cut(Verdict.INTEGER, self.values.current(v), v.op) if operands and whole is None else None
            v = whole
        return None

    def links(self) -> Iterator[tuple[Operator, Sequence[Value | None], Sequence[Value]]]:
        if self.values.last:
            yield from super().links()
            return
        for op in reversed(self.ops):
            if op.role and is_update(op):
                continue
            _, _, lists, shapes = self._masks[op.op]
            read: Any = _drop_shapes(op.inputs, shapes)
            plain = len(op.outputs) == 1 and not lists
            yield (op, read, op.outputs) if plain else (op, [*each(read)], [*each(op.outputs)])  # type: ignore[misc]

    def stop(self, value: Value) -> Cut[Value, Operator] | None:
        v: Any = value[0] if type(value) is tuple else value
        if v.stop_gradient:
            if self.no_grad and value in self.no_grad:
                return Cut(Verdict.NO_GRAD_SET, value, v.op, at=self.no_grad_at)
            op = self.values.maker(value) if type(value) is tuple else v.op
            if op is not None and op.type == "share_data":
                return Cut(Verdict.DETACHED, value, op)
            if op is not None and not op.op.differentiable:
                return Cut(Verdict.NON_DIFFERENTIABLE, value, op)
            if op is not None and not v.stopped_at:
                cut = Cut(Verdict.NON_DIFFERENTIABLE, value, op)
                if self.refusal(cut) is not None:
                    return cut
            return Cut(Verdict.STOP_GRADIENT, value, op, at=v.stopped_at)
        if self.no_grad and value in self.no_grad:
            return Cut(Verdict.NO_GRAD_SET, value, v.op, at=self.no_grad_at)
        return None

    def passes_stops_on(self, call: Operator) -> bool:
        inputs: Sequence[Any] = call.inputs
        for value in inputs:
            if type(value) is tuple:
                if not all(v is None or v.stop_gradient for v in value):
                    return False
            elif value is not None and not value.stop_gradient:
                return False
        return True

    def drop_place(self, value: Value) -> Location:
        op = variable_of(value).op
        return NOWHERE if op is None else op.marks.dropped

    def name(self, value: Value) -> str:
        return variable_of(value).name

    def dtype(self, value: Value) -> str:
        return variable_of(value).dtype.name

    def made_at(self, value: Value) -> Location:
        return variable_of(value).made_at

    def call_type(self, call: Operator) -> str:
        return call.type

    def call_line(self, call: Operator) -> Location:
        return call.loc


def _mask(op: OpDef) -> tuple[list[bool], list[bool], bool, list[bool]]:
    """By slot: whether the rule gives inputs a gradient, whether it takes those of outputs; whether lists occur.

    And which inputs it reads for their shapes alone; an empty list where it reads none so.
    """
    rule = op.rule
    wrt = set(rule.wrt) if rule is not None else set()
    outs = {r.place for r in rule.reads if r.kind == "dout"} if rule is not None else set()
    lists = any(s.many for s in (*op.inputs, *op.outputs))
    of = None if op.forward is None else op.forward.rule
    shapes = [] if of is None else [r.like for r in of.reads]
    if op.trait & Trait.LIKE:
        shapes = [True] * len(op.inputs)
    taken = [j in outs for j in range(len(op.outputs))]
    return [i in wrt for i in range(len(op.inputs))], taken, lists, shapes if any(shapes) else []


def _drop_shapes(operands: Sequence[Any], shapes: Sequence[bool]) -> Sequence[Any]:
    """*operands* with None for those that are read for their shapes."""
    if not shapes:
        return operands
    return [None if like else v for v, like in zip(operands, shapes, strict=False)]


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


_RUN_A_BLOCK = frozenset({"conditional_block", "while"})


class ProgramReasons(Reasons[Value, Operator]):
    """Verdicts on the variables of a program; made by :func:`explain`."""

    flow: ProgramFlow
    _by_layers: dict[Variable, Operator] | None = None

    def _read_by_layers(self) -> dict[Variable, Operator]:
        """Return what blocks of layers read whose backward the user wrote; these give gradients to arguments alone."""
        if self._by_layers is None:
            layers = [op for op in self.flow.ops if op.type == "pylayer"]
            self._by_layers = {v: op for op in layers for v in reads(op.sub_blocks[0])}
        return self._by_layers

    def path(self, value: Value) -> list[tuple[Value, Operator | None]]:
        """As for any flow; through a block, the operators in it come before the one that holds it."""
        way: list[tuple[Value, Operator | None]] = []
        for v, call in super().path(value):
            inside = self.flow.inside.get(call) if call is not None else None
            inner = inside.reasons.path(inside.start(variable_of(v))) if inside is not None else []
            way += [(v, call)] if len(inner) < 2 else [(v, inner[0][1]), *inner[1:-1], (inner[-1][0], call)]
        return way

    def value(self, v: Variable) -> Value:
        """Return what *v* stands for where someone asks for its gradient."""
        return find_value(self.flow.values, v)

    def explain_variable(self, v: Variable) -> Reason[Value, Operator]:
        """The verdict on *v*: on what it holds before the program runs, if it holds something then."""
        cut: Cut[Value, Operator]
        reason = self.explain(self.value(v))
        if reason.verdict is Verdict.UNUSED:
            layer = self._read_by_layers().get(v)
            if layer is not None:
                cut = Cut(Verdict.NON_DIFFERENTIABLE, reason.value, layer, at_input=True)
                return Reason(Verdict.NON_DIFFERENTIABLE, reason.value, self.flow, cut)
        if reason.cut is None:
            return reason
        if reason.value in self.flow.no_grad:
            cut = Cut(Verdict.NO_GRAD_SET, reason.value, v.op, at=self.flow.no_grad_at)
            return Reason(Verdict.NO_GRAD_SET, reason.value, self.flow, cut)
        if isinstance(v, Parameter) and not v.trainable and v.stop_gradient:
            return Reason(Verdict.FROZEN, reason.value, self.flow)
        if not v.dtype.is_differentiable:
            return Reason(Verdict.INTEGER, reason.value, self.flow, Cut(Verdict.INTEGER, reason.value, v.op))
        return reason


def explain(
    ops: Sequence[Operator],
    targets: Iterable[Variable],
    no_grad: Collection[Variable | str] = (),
    no_grad_at: Location = NOWHERE,
    values: BlockValues | None = None,
) -> ProgramReasons:
    """Return what a backward pass from *targets* over *ops* reaches, and why it does not reach the rest.

    It changes nothing, and its time grows in proportion to the operators.

    Args:
        ops: the operators of a block before the backward part is appended, in order of execution.
        targets: the loss, or what ``gradients`` starts from.
        no_grad: the variables and names in the no-grad set, beside the variables with ``stop_gradient``.
        no_grad_at: the user's line that gave the set, if one did.
        values: which value every operator reads and writes, if somebody has numbered them already
            (``BackwardPart.values``).
    """
    with pause_gc():
        flow = ProgramFlow(ops, no_grad, no_grad_at, values)
        return ProgramReasons(flow, [flow.values.current(v) for v in targets])

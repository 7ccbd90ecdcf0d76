"""Building the backward part of a block: what the sweep meets, and which operators it answers with.

New operators and variables are collected and enter the program in one step at the end (``insertion.py``); a call that
fails before leaves it as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..core import names, source
from ..core.errors import NoGradientRule
from ..core.sweep import sweep
from ..ir import roles
from ..ir.blocks import STEP_SCOPES, is_around, writes
from ..ir.operator import Operands, Operator, each, intern_attrs
from ..ir.program import Block
from ..ir.variable import SELECTED_ROWS, Variable, gradient_variable
from ..ops import registry
from ..ops.opdef import OpDef
from ..ops.readings import flatten, regroup
from ..ops.stand_in import StandIn
from .backward_builder import EmissionState, Emitted, Saves
from .earlier_operators import EarlierOps, computes
from .expand import expand
from .forms import GradientForm
from .naming import Namer
from .recompute import Recomputation
from .values import BlockValues, Stops, Value, variable_of


class SweptOp:
    """An operator of the program as the sweep sees it."""

    __slots__ = ("form", "op", "outs", "wrt")

    def __init__(self, op: Operator, form: GradientForm, wrt: list[Value | None], outs: list[Value | None]) -> None:
        self.op = op
        self.form = form
        self.wrt = wrt
        self.outs = outs


class Differentiator:
    """The backward part of one block, under construction.

    Attributes:
        values: which values the operators that are differentiated read and write.
        parts: for each value, the gradients that have arrived; let go of once its maker has been differentiated, but
            for those that are asked for.
        namer, emitted, saves: names, new operators, and what stands among forward operators.
        earlier: operators of earlier calls that can be used again.
        recomputed: what is computed again where backward needs it; nothing unless the caller says so.
        call: what is shared with the backward parts of other blocks.

    Args:
        block: the block that is differentiated and appended to.
        stopped: variables, or names, through which no gradient flows, beside those with ``stop_gradient``.
        call: for block 0, what the backward parts of its inner blocks will share.
        ops: the operators to differentiate, if they are not those of *block*.
        target: the block that operators are appended to, if it is not *block*.
        inside: whether *block* belongs to an operator of another one that is being differentiated.
    """

    def __init__(
        self,
        block: Block,
        stopped: Iterable[Variable | str],
        call: EmissionState,
        *,
        ops: Sequence[Operator] | None = None,
        target: Block | None = None,
        inside: bool = False,
    ) -> None:
        self.block = block
        self.target = target or block
        self.call = call
        self.source = block.ops if ops is None else ops
        self.values = BlockValues(self.source, writes(block) if inside else ())
        self.parts: dict[Value, list[Variable]] = {}
        self.namer = Namer(self.target, self.values, call.number, block.idx, self.needs_gradient)
        self.emitted = Emitted(self.target)
        self.saves = Saves(block, self.values, inside, self.namer.take)
        self.recomputed = Recomputation(self.values)
        again = call.number > 1
        self.earlier = EarlierOps(block if again and target is None else None, self.values)
        self.new_places: dict[Variable, set[Operator]] = {}
        """For arrays of tensors: what surely writes them where nothing has been (``arrays.py``)."""
        self._forms: dict[OpDef, GradientForm] = {}
        self._inside = inside
        self._stopped = Stops(self.values, stopped)
        self._stops = bool(self._stopped)
        self._lets_go = not (inside or self.values.last)
        """Whether every value has one maker, after whose rule nobody but the caller asks for its gradient."""
        if again and not inside:
            self._take_inner_names()

    def _take_inner_names(self) -> None:
        """Blocks of higher order read one another's variables by name."""
        for inner in self.block.program.blocks:
            if inner.owner is not None and inner.owner.type == "block_grad":
                for name in inner.vars:
                    self.namer.take(name)

    def new_gradient(self, value: Value) -> Variable:
        """A new variable for a gradient of *value*; it has no name yet (:class:`Namer`)."""
        return gradient_variable(self.target, "", value if isinstance(value, Variable) else value[0])

    # -- seeds ----------------------------------------------------------------------------------------------------

    def seed_loss(self, loss: Variable) -> None:
        """Start from a loss of one element: a constant one."""
        op = registry.get_by_type("fill_constant")
        attrs = op.attributes({"shape": loss.shape, "value": 1.0, "dtype": loss.dtype.code})
        self._seed(loss, op, (), attrs, roles.BACKWARD | roles.LOSS, overwrite=False)

    def seed_ones(self, target: Variable) -> None:
        """Start from a target of any shape: ones."""
        op = registry.get_by_type("fill_any_like")
        attrs = op.attributes({"value": 1.0, "dtype": target.dtype.code})
        self._seed(target, op, (target,), attrs, roles.BACKWARD, overwrite=True)

    def seed_given(self, target: Variable, gradient: Variable) -> None:
        """Start from a gradient that the user made."""
        self.parts.setdefault(self.values.current(target), []).append(gradient)

    def _seed(
        self, target: Variable, op: OpDef, inputs: Operands, attrs: dict[str, Any], role: int, overwrite: bool
    ) -> None:
        self.call.note(target)
        name = names.grad(target.name)
        there = self.target.vars.get(name)
        value = self.values.current(target)
        if there is not None and there.op is not None:
            maker = there.op
            same = computes(maker.op, maker.attrs, maker.inputs) == computes(op, intern_attrs(op, attrs), inputs)
            if same and maker.role == role:
                self.parts.setdefault(value, []).append(there)
                return
        if there is not None and overwrite and _is_seed(there):
            variable = there  # as Paddle does: the old seed is written again, which makes it a new value
            self.earlier.forget_readers(there)
        else:
            variable = Variable(self.target, self.namer.fresh(name), target.spec)
        self.namer.lend(variable, value)
        self.emitted.emit(op, inputs, (variable,), attrs, role=role, loc=target.made_at)
        self.parts.setdefault(value, []).append(variable)

    # -- the sweep ------------------------------------------------------------------------------------------------

    def needs_gradient(self, value: Value) -> bool:
        """Return whether gradients flow to *value*."""
        v = value if isinstance(value, Variable) else value[0]
        if self._inside and is_around(v.block, self.block):
            return v.dtype.is_differentiable  # the operator that holds the block knows whether it is wanted
        return not v.stop_gradient and not (self._stops and value in self._stopped)

    def run(self, path: Callable[[Operator], bool] | None = None) -> None:
        """Sweep the block backwards from the seeds, over the operators for which *path* holds."""
        # Where no gradient passes nothing is differentiated, though the seed stays in the program.
        held = {value: self.parts.pop(value) for value in list(self.parts) if not self.needs_gradient(value)}
        sweep(self._nodes(path), self.parts, self.needs_gradient, self.accumulate, self._differentiate)
        self.parts.update(held)

    def name_all(self) -> None:
        """Settle the names of gradients that no operator has asked for."""
        for value, parts in list(self.parts.items()):
            if len(parts) > 1:
                self.parts[value] = [self.accumulate(value, parts)]
            elif not parts[0].name:
                self.namer.settle_gradient(parts[0], value)

    def gradient(self, value: Value) -> Variable | None:
        """The gradient of *value* once the sweep is done, or None where none arrives or none is wanted."""
        parts = self.parts.get(value)
        if not parts or not self.needs_gradient(value):
            return None
        if names.is_part(parts[0].name):
            # An earlier call added it to others; alone it is a different gradient and gets a name of its own.
            parts[:] = [self.copy(parts[0], value)]
        return parts[0]

    def copy(self, gradient: Variable, value: Value) -> Variable:
        """A copy of *gradient* under the name that the gradient of *value* gets here."""
        whole = self.new_gradient(value)
        self.namer.settle_gradient(whole, value)
        assign = registry.get_by_type("assign")
        self.emitted.emit(assign, (gradient,), (whole,), assign.attributes({}), like=value)
        return whole

    def accumulate(self, value: Value, parts: list[Variable]) -> Variable:
        """One gradient from the contributions of several operators: a ``sum``."""
        if variable_of(value).kind == STEP_SCOPES:
            return parts[0]  # the blocks behind it are known by other means
        op = registry.get_by_type("sum")
        inputs = (tuple(parts),)
        attrs = op.attributes({})
        earlier = self.earlier.find(op, intern_attrs(op, attrs), inputs)
        if earlier is not None:
            return next(earlier.output_variables())
        total = self.new_gradient(value)
        if all(v.kind == SELECTED_ROWS for v in parts):
            total.kind = SELECTED_ROWS
        self.namer.settle_sum(total, parts, value)
        self.emitted.emit(op, inputs, (total,), attrs, like=value)
        return total

    def _nodes(self, path: Callable[[Operator], bool] | None) -> Iterator[SweptOp]:
        """The operators to which gradients come, from the last to the first."""
        values, parts = self.values, self.parts
        for op in reversed(self.source):
            form = self._form(op.op)
            written: Iterable[Any] = op.outputs
            if values.last or form is None or not form.is_flat:
                written = [values.written(op, v) for v in each(op.outputs)]
            if parts.keys().isdisjoint(written):
                continue
            if path is not None and not path(op):
                continue
            if form is None:
                self._refuse(op)
                continue
            self.recomputed.reach(op, self)
            yield self._node(op, form)

    def _form(self, op: OpDef) -> GradientForm | None:
        """Return how gradient operators of *op* are put together; None for a definition without a rule."""
        form = self._forms.get(op)
        if form is None and op.rule is not None:
            form = self._forms[op] = GradientForm(op, op.rule)
        return form

    def _refuse(self, op: Operator) -> None:
        """Raise an error if gradients would have to go through *op*, which has no rule."""
        if op.op.differentiable and any(self.needs_gradient(self.values.read(op, v)) for v in each(op.inputs)):
            raise no_rule(op)

    def _node(self, op: Operator, form: GradientForm) -> SweptOp:
        values, inputs, outputs = self.values, op.inputs, op.outputs
        if form.is_flat and not values.last and len(inputs) == len(op.op.inputs):
            read: list[Any] = [inputs[i] for i in form.wrt]
            written: list[Any] = [outputs[i] for i in form.outs]
            return SweptOp(op, form, read, written)
        wrt = [None if v is None else values.read(op, v) for v in flatten(inputs, form.wrt)]
        outs = [None if v is None else values.written(op, v) for v in flatten(outputs, form.outs)]
        return SweptOp(op, form, wrt, outs)

    # -- gradient operators -----------------------------------------------------------------------------------------

    def _differentiate(self, node: SweptOp, arriving: list[Variable | None], mask: list[bool]) -> list[Variable | None]:
        """Append the gradient operator of *node* (or the operators that its rule expands to)."""
        op = node.op
        for value, gradient in zip(node.outs, arriving, strict=True):
            if value is None or gradient is None:
                continue
            if not gradient.name:
                self.namer.settle_gradient(gradient, value)
            if self._lets_go and value not in self.namer.keep:
                self.parts.pop(value, None)  # nothing adds to it, or asks for it, any more
        if self.call.context is not None:
            for value, w in zip(node.wrt, mask, strict=True):
                if w and value is not None:
                    self.call.note(variable_of(value))
        if op.op.holds_blocks and not isinstance(op.op, StandIn):  # nothing is known of how such a one runs its block
            from .blocks import differentiate_block

            return differentiate_block(self, node, arriving, mask)
        operands = self._operands(node, arriving)
        if node.form.rule.expands:
            return expand(self, node, operands, mask)
        grad_op = op.op.grad_op
        assert grad_op is not None
        return self._gradient_op(node, grad_op, tuple(operands), mask)

    def _operands(self, node: SweptOp, arriving: list[Variable | None]) -> list[Any]:
        """Return the operands that the rule reads, in its order."""
        op, form = node.op, node.form
        needs = form.rule.needs
        # One gradient after another: a group for each slot, or the gradient itself where no slot holds a list.
        gradients: Iterator[Any] = iter(arriving)
        outs: Iterator[Any] = iter(node.outs)
        if not form.is_flat:
            gradients = iter(regroup(arriving, op.outputs, form.outs))
            outs = iter(regroup(node.outs, op.outputs, form.outs))
        plain = not (self.values.last or self.recomputed.copies)
        operands: list[Any] = []
        for i, (kind, place, like, _) in enumerate(form.reads):
            operand: Any
            if needs and i in needs and not needs[i](op.attrs):
                operand = None
            elif kind == "dout":
                operand, value = next(gradients), next(outs)
                if not form.is_flat:
                    group = self._fill_missing(value, operand, absent=form.absent[i])
                    operand = tuple(group) if isinstance(op.outputs[place], tuple) else group[0]
                elif operand is None and value is not None and not form.absent[i]:
                    operand = self._zeros(value)
            elif kind == "in":
                operand = op.inputs[place] if place < len(op.inputs) else None
                if not plain:
                    operand = self._operand(operand, op, like, self.values.version_read)
            else:
                operand = op.outputs[place]
                if not plain:
                    operand = self._operand(operand, op, like, self.values.version_written)
            operands.append(operand)
        while operands and operands[-1] is None and form.reads[len(operands) - 1][3]:
            operands.pop()
        return operands

    def _fill_missing(
        self, values: Sequence[Value | None], arriving: list[Variable | None], *, absent: bool
    ) -> list[Variable | None]:
        """The gradients that arrive, with zeros for missing ones unless they may be absent."""
        if absent:
            return arriving
        return [
            self._zeros(value) if gradient is None and value is not None else gradient
            for value, gradient in zip(values, arriving, strict=True)
        ]

    def _gradient_op(self, node: SweptOp, grad_op: OpDef, inputs: Operands, mask: list[bool]) -> list[Variable | None]:
        """The results of the gradient operator: those of an earlier call, and for the others one of this call."""
        attrs = node.op.attrs
        if not self.earlier:
            wanted = [value if w else None for value, w in zip(node.wrt, mask, strict=True)]
            return self._emit_gradient_op(node, grad_op, inputs, wanted)
        results: list[Variable | None] = [None] * len(mask)
        earlier = self.earlier.find(grad_op, attrs, inputs)
        if earlier is not None:
            for i, v in enumerate(flatten(earlier.outputs, range(len(earlier.outputs)))):
                results[i] = v if mask[i] else None
        missing = [
            value if w and result is None else None for value, w, result in zip(node.wrt, mask, results, strict=True)
        ]
        if all(value is None for value in missing):
            return results
        new = self._emit_gradient_op(node, grad_op, inputs, missing)
        return [result if result is not None else v for result, v in zip(results, new, strict=True)]

    def _emit_gradient_op(
        self, node: SweptOp, grad_op: OpDef, inputs: Operands, wanted: Sequence[Value | None]
    ) -> list[Variable | None]:
        """Append the gradient operator; returns new variables for the gradients of *wanted*."""
        op, form = node.op, node.form
        new = [None if value is None else self.new_gradient(value) for value in wanted]
        if op.attrs.get("is_sparse"):
            for v in new:
                if v is not None:
                    v.kind = SELECTED_ROWS
        outputs: Operands = tuple(new)
        if not form.is_flat:
            groups = regroup(new, op.inputs, form.wrt)
            outputs = tuple(tuple(g) if s.many else g[0] for g, s in zip(groups, grad_op.outputs, strict=True))
        self.emitted.emit(grad_op, inputs, outputs, op.attrs, origin=op)
        return new

    def _zeros(self, value: Value) -> Variable:
        """Zeros for an output that no gradient reaches, where the rule needs one."""
        op = registry.get_by_type("fill_any_like")
        v = variable_of(value)
        attrs = op.attributes({"value": 0.0, "dtype": -1})
        earlier = self.earlier.find(op, intern_attrs(op, attrs), (v,))
        if earlier is not None:
            return next(earlier.output_variables())
        variable = self.new_gradient(value)
        self.namer.settle_gradient(variable, value)
        self.call.note(v)
        self.emitted.emit(op, (v,), (variable,), attrs, like=value)
        return variable

    def _operand(self, operand: Any, op: Operator, like: bool, value_of: Callable[..., Value]) -> Any:
        """A forward operand for a gradient operator: the variable, or where its value was saved or computed again."""
        again = self.recomputed.copies.get(op)
        if operand is None or (not again and (like or not self.values.last)):
            return operand

        def readable(v: Variable) -> Variable:
            value = value_of(op, v)
            if again and value in again:
                return again[value]
            return v if like else self.saves.readable(value)

        if isinstance(operand, tuple):
            return tuple(None if v is None else readable(v) for v in operand)
        return readable(operand)


def _is_seed(variable: Variable) -> bool:
    op = variable.op
    return (
        op is not None
        and op.type in ("fill_constant", "fill_any_like")
        and op.attrs["value"] == 1.0
        and roles.is_backward(op.role)
    )


def no_rule(op: Operator) -> NoGradientRule:
    """The error for an operator on the path that has no gradient."""
    return NoGradientRule(
        f"{op.type} has no gradient, and the loss depends on its inputs through it.",
        op=op.summary(),
        made=source.describe(op.loc),
        hint="set stop_gradient on its output, or put it into no_grad_set, to cut the gradient there on purpose",
    )

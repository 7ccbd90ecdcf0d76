"""Building the backward part of a block: what the sweep emits, and how it enters the program.

New operators and variables are collected here and enter the block in one step at the end (:meth:`Builder.commit`); a
call that fails before leaves the program as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core import names, source
from ..core.errors import NoGradientRule
from ..core.sweep import sweep
from ..ir import roles
from ..ir.blocks import STEP_SCOPES, is_around, writes
from ..ir.operator import Operands, Operator, each, intern_attrs
from ..ir.program import Block
from ..ir.variable import SELECTED_ROWS, Variable
from ..ops import registry
from ..ops.opdef import OpDef
from ..ops.readings import flatten, out_places, regroup
from .expand import expand
from .known import Known, computes
from .recompute import Recomputation
from .values import Stops, Value, Values, variable_of


class Node:
    """An operator of the program as the sweep sees it."""

    __slots__ = ("op", "outs", "wrt")

    def __init__(self, op: Operator, wrt: list[Value | None], outs: list[Value | None]) -> None:
        self.op = op
        self.wrt = wrt
        self.outs = outs


class Builder:
    """The backward part of one block, under construction.

    Args:
        block: the block that is differentiated and appended to.
        stopped: variables, or names, through which no gradient flows, beside those with ``stop_gradient``.
        call: how many backward calls the program has seen, this one included.
        noting: whether callbacks will want to know which gradient belongs to which variable.
        ops: the operators to differentiate, if they are not those of *block*.
        target: the block that operators are appended to, if it is not *block*.
        root: for a block inside another, the builder of the outermost one.
    """

    def __init__(
        self,
        block: Block,
        stopped: Iterable[Variable | str],
        call: int,
        noting: bool = False,
        *,
        ops: Sequence[Operator] | None = None,
        target: Block | None = None,
        root: Builder | None = None,
    ) -> None:
        self.block = block
        self.target = target or block
        self.root = root or self
        self.source = block.ops if ops is None else ops
        self.inner: dict[Operator, Builder] = {}
        """The builders of the blocks of new operators."""
        self.new_blocks: list[Block] = []
        self.injections: dict[Variable, list[Any]] = {}
        """By the variable with a block's frames: blocks that compute gradients of what is in them (``blocks.py``)."""
        self.new_frames: dict[Operator, Variable] = {}
        """Operators of the program that are to leave frames, which they did not need to do so far."""
        self.outer: Builder | None = None
        """The builder around this one, if what it names must not take the names used here."""
        self.visible: list[Callable[[str], object]] = []
        """Whether a name is taken where operators of this block look names up, beside the block itself."""
        self.keep: set[Value] = set()
        """Values whose gradients are asked for: their variables must not be used again for others."""
        self.call = call
        self.values = Values(self.source, writes(block) if root is not None else ())
        self.stopped = Stops(self.values, stopped)
        self.parts: dict[Value, list[Variable]] = {}
        self.ops: list[Operator] = []
        self.context: dict[str, Any] = {}
        """What callbacks get: gradient name -> forward name; kept only when there are callbacks."""
        self._noting = noting
        self.taken: set[str] = set()
        if root is None and call > 1:  # blocks of higher order read one another's variables by name
            for inner in block.program.blocks:
                if inner.owner is not None and inner.owner.type == "block_grad":
                    self.taken.update(inner.vars)
        self.plain: dict[Variable, Value] = {}
        """Which value the plain gradient name of a variable stands for, where that is not what its name stands for."""
        self.lent: dict[Variable, Variable] = {}
        """Gradients of what a loop has left, under the plain name; the loop's gradient is written over them."""
        self._summands: dict[str, int] = {}
        """How many summands of a gradient of that name there are."""
        self._saved: dict[tuple[Variable, int], Variable] = {}
        self.saves: dict[Operator | None, list[Operator]] = {}
        """Operators to insert before others, or at the end (None)."""
        self.recomputed = Recomputation(self.values)
        """What is computed again where backward needs it; nothing unless the caller says so."""
        self.known = Known(block if call > 1 and target is None else None, self.values)

    # -- names ----------------------------------------------------------------------------------------------------

    def base_name(self, value: Value) -> str:
        """The gradient name of a value: the plain one for what the variable's name stands for, others their version.

        As in Paddle, the gradient of what a loop has left has the plain name too, if nobody asks for it: the loop's
        gradient operator writes the gradient of what the loop found there into the same variable.
        """
        v = variable_of(value)
        if isinstance(value, Variable) or self._is_plain(value) or (value not in self.keep and self.borrows(value)):
            return names.grad(v.name)
        return names.grad(names.old_version(v.name, value[1]))

    def borrows(self, value: Value) -> bool:
        """Whether gradients of what a loop has left in *value* end in the variable with the plain name."""
        before = self.values.before(value)
        while before is not None:
            if self._is_plain(before):
                return self.wanted(before)
            before = None if before in self.keep else self.values.before(before)
        return False

    def _is_plain(self, value: Value) -> bool:
        """Whether the plain gradient name of the value's variable is that of *value*."""
        if isinstance(value, Variable):
            return True
        v = value[0]
        return value == (self.plain[v] if v in self.plain else self.values.named(v))

    def _free(self, name: str) -> str:
        """*name*, or what this call uses instead when a different value has it."""
        if not self.is_taken(name):
            return name
        prefixed = names.again(name, self.call)
        return prefixed if not self.is_taken(prefixed) else self.numbered(prefixed)

    def fresh(self, name: str) -> str:
        """*name*, numbered if a variable has it already; from now on taken."""
        found = name if not self.is_taken(name) else self.numbered(name)
        self.taken.add(found)
        return found

    def is_new(self, name: str) -> bool:
        """Whether this call gave a variable that name."""
        return name in self.taken

    def save(self, op: Operator, before: Operator | None) -> None:
        """Let the forward operator *op* enter the program in front of another, or at the end of its block."""
        self.saves.setdefault(before, []).append(op)

    def numbered(self, name: str) -> str:
        """*name* with the first number that makes it new."""
        number = 0
        while self.is_taken(f"{name}_{number}"):
            number += 1
        return f"{name}_{number}"

    def is_taken(self, name: str) -> bool:
        """Whether something has that name already, in the program or among what is being built."""
        if name in self.target.vars or name in self.taken:
            return True
        return bool(self.visible) and any(taken(name) for taken in self.visible)

    def gradient_variable(self, value: Value) -> Variable:
        """A new variable for a gradient of *value*; its name is settled by :meth:`settle`."""
        v = variable_of(value)
        return Variable(self.target, "", v.spec)

    def settle(self, variable: Variable, name: str) -> None:
        """Give *variable* that name, or the next free one."""
        variable.name = self._free(name)
        self.taken.add(variable.name)
        outer = self.outer
        while outer is not None:
            outer.taken.add(variable.name)
            outer = outer.outer

    def settle_gradient(self, variable: Variable, value: Value) -> None:
        """Name *variable*, the gradient of *value*."""
        v = variable_of(value)
        lent = self.lent.get(v) if self._is_plain(value) else None
        if lent is variable:
            return
        if lent is None:
            self.settle(variable, self.base_name(value))
            self.lend(variable, value)
            return
        variable.name = lent.name
        self.settle_summand(lent, variable.name)
        del self.lent[v]

    def lend(self, variable: Variable, value: Value) -> None:
        """Note that *variable*, the gradient of *value*, has a name that is another value's, should that be so."""
        v = variable_of(value)
        if not self._is_plain(value) and names.plain(variable.name) == names.grad(v.name):
            self.lent.setdefault(v, variable)

    def settle_summand(self, variable: Variable, total: str) -> None:
        """Name *variable* as the next summand of the gradient *total*."""
        number = self._summands.get(total, 0)
        self._summands[total] = number + 1
        self.settle(variable, names.part(total, self.block.idx, number))

    # -- seeds ----------------------------------------------------------------------------------------------------

    def seed_loss(self, loss: Variable) -> None:
        """Start from a loss of one element: a constant one."""
        op = registry.by_type("fill_constant")
        attrs = op.attributes({"shape": loss.shape, "value": 1.0, "dtype": loss.dtype.code})
        self._seed(loss, op, (), attrs, roles.BACKWARD | roles.LOSS, overwrite=False)

    def seed_ones(self, target: Variable) -> None:
        """Start from a target of any shape: ones."""
        op = registry.by_type("fill_any_like")
        attrs = op.attributes({"value": 1.0, "dtype": target.dtype.code})
        self._seed(target, op, (target,), attrs, roles.BACKWARD, overwrite=True)

    def seed_given(self, target: Variable, gradient: Variable) -> None:
        """Start from a gradient that the user made."""
        self.parts.setdefault(self.values.current(target), []).append(gradient)

    def _seed(
        self, target: Variable, op: OpDef, inputs: Operands, attrs: dict[str, Any], role: int, overwrite: bool
    ) -> None:
        name = names.grad(target.name)
        self._note(target)
        there = self.target.vars.get(name)
        value = self.values.current(target)
        attrs_shared = intern_attrs(op, attrs)
        if there is not None and there.op is not None:
            made = there.op
            same = computes(made.op, made.attrs, made.inputs) == computes(op, attrs_shared, inputs)
            if same and made.role == role:
                self.parts.setdefault(value, []).append(there)
                return
        if there is not None and overwrite and _is_seed(there):
            variable = there  # as Paddle does: the old seed is written again, which makes it a new value
            self.known.forget_readers(there)
        else:
            variable = Variable(self.target, self.fresh(name), target.spec)
        self.lend(variable, value)
        self.emit(op, inputs, (variable,), attrs, role=role, loc=target.made_at)
        self.parts.setdefault(value, []).append(variable)

    # -- the sweep ------------------------------------------------------------------------------------------------

    def wanted(self, value: Value) -> bool:
        v = variable_of(value)
        if self.root is not self and is_around(v.block, self.block):
            return v.dtype.is_differentiable  # the operator that holds the block knows whether it is wanted
        return not v.stop_gradient and not (self.stopped and value in self.stopped)

    def run(self, path: Callable[[Operator], bool] | None = None) -> None:
        """Sweep the block backwards from the seeds, over the operators for which *path* holds."""
        # Where no gradient passes nothing is differentiated, though the seed stays in the program.
        held = {value: self.parts.pop(value) for value in list(self.parts) if not self.wanted(value)}
        sweep(self._nodes(path), self.parts, self.wanted, self.accumulate, self._differentiate)
        self.parts.update(held)

    def name_all(self) -> None:
        """Settle the names of gradients that no operator has asked for."""
        for value, found in list(self.parts.items()):
            if len(found) > 1:
                self.parts[value] = [self.accumulate(value, found)]
            elif not found[0].name:
                self.settle_gradient(found[0], value)

    def gradient(self, value: Value) -> Variable | None:
        """The gradient of *value* once the sweep is done, or None where none arrives or none is wanted."""
        found = self.parts.get(value)
        if not found or not self.wanted(value):
            return None
        if names.is_part(found[0].name):
            # An earlier call added it to others; alone it is a different gradient and gets a name of its own.
            whole = self.gradient_variable(value)
            self.settle_gradient(whole, value)
            assign = registry.by_type("assign")
            self.emit(assign, (found[0],), (whole,), assign.attributes({}), like=value)
            found[:] = [whole]
        return found[0]

    def _nodes(self, path: Callable[[Operator], bool] | None) -> Iterator[Node]:
        values, parts = self.values, self.parts
        for op in reversed(self.source):
            if not any(values.written(op, v) in parts for v in each(op.outputs)):
                continue
            if path is not None and not path(op):
                continue
            rule = op.op.rule
            if rule is None:
                if op.op.differentiable and any(self.wanted(values.read(op, v)) for v in each(op.inputs)):
                    raise no_rule(op)
                continue
            self.recomputed.reach(op, self)
            wrt = [None if v is None else values.read(op, v) for v in flatten(op.inputs, rule.wrt)]
            outs = [None if v is None else values.written(op, v) for v in flatten(op.outputs, out_places(op.op))]
            yield Node(op, wrt, outs)

    def accumulate(self, value: Value, found: list[Variable]) -> Variable:
        """One gradient from the contributions of several operators: a ``sum``."""
        if variable_of(value).kind == STEP_SCOPES:
            return found[0]  # the blocks behind it are known by other means
        op = registry.by_type("sum")
        inputs = (tuple(found),)
        attrs = op.attributes({})
        known = self.known.find(op, intern_attrs(op, attrs), inputs)
        if known is not None:
            return next(known.output_variables())
        lent = self.lent.get(variable_of(value)) if self._is_plain(value) else None
        base = self.base_name(value) if lent is None else lent.name
        taken = base if lent is not None or not self.is_taken(base) else names.again(base, self.call)
        for v in found:
            if v is lent or not v.name:
                self.settle_summand(v, taken)
            else:
                self._summands[taken] = self._summands.get(taken, 0) + 1
        total = self.gradient_variable(value)
        if all(v.kind == SELECTED_ROWS for v in found):
            total.kind = SELECTED_ROWS
        if lent is not None and lent in set(found):
            total.name = taken
            del self.lent[variable_of(value)]
        else:
            self.settle_gradient(total, value)
        self.emit(op, inputs, (total,), attrs, like=value)
        return total

    def _note(self, v: Variable) -> None:
        if self.root._noting:
            self.root.context.setdefault(names.grad(v.name), v.name)

    def _arrived(self, value: Value, found: Variable | None) -> Variable | None:
        if found is not None and not found.name:
            self.settle_gradient(found, value)
        return found

    def _differentiate(self, node: Node, arriving: list[Variable | None], mask: list[bool]) -> list[Variable | None]:
        """Append the gradient operator of *node* (or the operators that its rule expands to)."""
        op = node.op
        rule = op.op.rule
        assert rule is not None
        for value, found in zip(node.outs, arriving, strict=True):
            if value is not None:
                self._arrived(value, found)
        for value, w in zip(node.wrt, mask, strict=True):
            if w and value is not None:
                self._note(variable_of(value))
        if op.op.holds_blocks:
            from .blocks import differentiate

            return differentiate(self, node, arriving, mask)
        grouped = iter(
            zip(
                regroup(node.outs, op.outputs, out_places(op.op)),
                regroup(arriving, op.outputs, out_places(op.op)),
                strict=True,
            )
        )
        args: list[Any] = []
        for i, read in enumerate(rule.reads):
            if i in rule.needs and not rule.needs[i](op.attrs):
                args.append(None)
            elif read.kind == "dout":
                group = self._filled(*next(grouped), absent=rule.takes_none or read.late)
                args.append(tuple(group) if isinstance(op.outputs[read.place], tuple) else group[0])
            elif read.kind == "in":
                operand = op.inputs[read.place] if read.place < len(op.inputs) else None
                args.append(self._operand(operand, op, read.like, self.values.version_read))
            else:
                args.append(self._operand(op.outputs[read.place], op, read.like, self.values.version_written))
        while args and args[-1] is None and rule.reads[len(args) - 1].late:
            args.pop()
        if rule.expands:
            return expand(self, node, args, mask)
        grad_op = op.op.grad_op
        assert grad_op is not None
        return self._gradient_op(node, grad_op, tuple(args), mask)

    def _filled(
        self, values: Sequence[Value | None], arriving: list[Variable | None], *, absent: bool
    ) -> list[Variable | None]:
        """The gradients that arrive, with zeros for missing ones unless they may be absent."""
        if absent:
            return arriving
        return [
            self._zeros(value) if found is None and value is not None else found
            for value, found in zip(values, arriving, strict=True)
        ]

    def _gradient_op(self, node: Node, grad_op: OpDef, inputs: Operands, mask: list[bool]) -> list[Variable | None]:
        op = node.op
        attrs = op.attrs
        known = self.known.find(grad_op, attrs, inputs)
        results: list[Variable | None] = [None] * len(mask)
        if known is not None:
            places = range(len(known.outputs))
            for i, v in enumerate(flatten(known.outputs, places)):
                if mask[i] and v is not None:
                    results[i] = v
        new = [w and results[i] is None for i, w in enumerate(mask)]
        if any(new):
            made = [
                self.gradient_variable(value) if w and value is not None else None
                for w, value in zip(new, node.wrt, strict=True)
            ]
            if attrs.get("is_sparse"):
                for m in made:
                    if m is not None:
                        m.kind = SELECTED_ROWS
            assert op.op.rule is not None
            groups = regroup(made, op.inputs, op.op.rule.wrt)
            outputs = tuple(tuple(g) if s.many else g[0] for g, s in zip(groups, grad_op.outputs, strict=True))
            self.emit(grad_op, inputs, outputs, attrs, origin=op)
            results = [m if m is not None else r for m, r in zip(made, results, strict=True)]
        return results

    def _zeros(self, value: Value) -> Variable:
        """Zeros for an output that no gradient reaches, where the rule needs one."""
        op = registry.by_type("fill_any_like")
        v = variable_of(value)
        attrs = op.attributes({"value": 0.0, "dtype": -1})
        known = self.known.find(op, intern_attrs(op, attrs), (v,))
        if known is not None:
            return next(known.output_variables())
        variable = self.gradient_variable(value)
        self.settle_gradient(variable, value)
        self._note(v)
        self.emit(op, (v,), (variable,), attrs, like=value)
        return variable

    def _operand(self, operand: Any, op: Operator, like: bool, value_of: Callable[..., Value]) -> Any:
        """A forward operand for a gradient operator: the variable, or where its value was saved or computed again."""
        again = self.recomputed.copies.get(op)
        if operand is None or (not again and (like or not self.values.last)):
            return operand

        def found(v: Variable) -> Variable:
            value = value_of(op, v)
            if again and value in again:
                return again[value]
            return v if like else self.kept(value)

        if isinstance(operand, tuple):
            return tuple(None if v is None else found(v) for v in operand)
        return found(operand)

    def kept(self, value: Value) -> Variable:
        """Where the version *value* of a variable can be read by backward operators: saved, if it is overwritten."""
        if isinstance(value, Variable):
            return value
        # Around a block's own variables, the plain name stands for the value at the beginning of a run.
        inside = self.root is not self and value[0].block is not self.block
        if value[1] == 0 if inside else self.values.is_current(value):
            return value[0]
        found = self._saved.get(value)
        if found is None:
            v, version = value
            name = names.old_version(v.name, version)
            writer = None if self.values.is_current(value) else self.values.next_writer(value)
            home = self.block if writer is None else writer.block
            there = home.vars.get(name)
            if there is not None:
                found = there
            else:
                found = Variable(home, name, v.spec, stop_gradient=v.stop_gradient)
                self.taken.add(name)
                assign = registry.by_type("assign")
                near = writer or home.ops[-1]
                save = Operator(
                    home,
                    assign,
                    (v,),
                    (found,),
                    assign.attributes({}),
                    loc=near.loc,
                    role=roles.BACKWARD,  # it goes where the backward part is left out
                    scope=near.scope,
                )
                self.save(save, writer)
            self._saved[value] = found
        return found

    def emit(
        self,
        op: OpDef,
        inputs: Operands,
        outputs: Operands,
        attrs: Mapping[str, Any],
        *,
        role: int = roles.BACKWARD,
        origin: Operator | None = None,
        like: Value | None = None,
        loc: source.Location | None = None,
    ) -> None:
        """Append an operator to what is being built.

        Args:
            origin: the forward operator that it belongs to.
            like: without an origin, the value whose operator's place and scope it gets.
            loc: the place, where neither says it.
        """
        if origin is not None:
            place, scope = origin.loc, origin.scope
        else:
            maker = variable_of(like).op if like is not None else None
            place = loc if loc is not None else maker.loc if maker is not None else source.NOWHERE
            scope = maker.scope if maker is not None else "/"
        self.ops.append(
            Operator(self.target, op, inputs, outputs, attrs, loc=place, role=role, scope=scope, origin=origin)
        )


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

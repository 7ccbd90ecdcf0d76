"""Gradients of blocks: the one place where gradient operators are not derived from a rule.

The gradient of an operator with a block is an operator with a block of its own, which holds the backward part of the
first one: it begins with the gradients of what that one writes, and ends with those of what it reads from outside. Both
are built by a :class:`~gradtool.engine.autodiff.differentiator.Differentiator`, one inside the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..core import names, source
from ..core.errors import UnsupportedError
from ..ir.blocks import reads, region, slot
from ..ir.operator import Operator, each, map_operands
from ..ir.variable import Variable, gradient_variable
from ..ops import registry
from .differentiator import Differentiator, SweptOp
from .duals import dual
from .nested_blocks import Gradients, forget, inner_differentiator, reachable
from .values import Value, variable_of


def differentiate_block(grads: Differentiator, node: SweptOp, arriving: Gradients, mask: list[bool]) -> Gradients:
    """Append the gradient operator of *node*, an operator with a block, and build that operator's block.

    Args:
        arriving: the gradients of what it writes, None where none arrives.
        mask: which gradients of what it reads are wanted.
    """
    op = node.op
    if op.type == "pylayer_grad":
        raise UnsupportedError(
            "gradients of second order through static_pylayer are not part of this version of gradtool.",
            op=op.summary(),
            made=source.describe(op.loc),
        )
    rule = _RULES.get(op.type)
    if rule is None or _needs_general_form(grads, node, arriving):
        return dual(grads, node, arriving, mask)
    return rule(grads, node, arriving, mask)


def _needs_general_form(grads: Differentiator, node: SweptOp, arriving: Gradients) -> bool:
    """Return whether Paddle's form of gradient operator does not do for this one."""
    scope = region(node.op).scope
    if scope is not None and scope in grads.call.injections:
        return True
    return _reads_gradients(node.op) or _keeps(node, arriving)


def _reads_gradients(op: Operator) -> bool:
    """Return whether the plain names of gradients in the block of *op* are names of what it reads."""
    read = {v.name for v in reads(op.sub_blocks[0])}
    return any(names.grad(name) in read for name in read)


def _keeps(node: SweptOp, arriving: Gradients) -> bool:
    """Return whether a branch overwrites a variable that keeps its value, and its gradient, where it is not taken."""
    if node.op.type != "conditional_block":
        return False
    before = set(slot(node.op, "Input"))
    return any(g is not None and v in before for v, g in zip(slot(node.op, "Out"), arriving, strict=False))


def _append(
    grads: Differentiator,
    child: Differentiator,
    op: Operator,
    inputs: dict[str, object],
    results: Gradients,
    **attrs: object,
) -> None:
    """Append the operator that runs the block that *child* has built."""
    grad_op = registry.get_by_type(f"{op.type}_grad")
    operands = tuple(inputs.get(s.name, () if s.many else None) for s in grad_op.inputs)
    outputs = (tuple(results), *((() if s.many else None) for s in grad_op.outputs[1:]))
    emitted = grads.emitted.emit(grad_op, operands, outputs, grad_op.attributes(attrs), origin=op)  # type: ignore[arg-type]
    grads.emitted.inner[emitted] = child


def _gradients_of_inputs(
    grads: Differentiator, child: Differentiator, node: SweptOp, mask: list[bool], skip: set[Variable]
) -> Gradients:
    """New variables around the block for the gradients that *child* found of what the block reads from outside."""
    results: Gradients = []
    for value, w in zip(node.wrt, mask, strict=True):
        if value is None or not w or variable_of(value) in skip:
            results.append(None)
            continue
        arrives = child.gradient(child.values.initial(variable_of(value))) is not None
        results.append(grads.new_gradient(value) if arrives else None)
    return results


def _conditional_block(grads: Differentiator, node: SweptOp, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    child = inner_differentiator(grads, op.attrs["sub_block"])
    outs = slot(op, "Out")
    seeds = dict(zip(outs, arriving, strict=False))
    for v, g in seeds.items():
        if v is not None and g is not None:
            child.parts[child.values.current(v)] = [g]
    child.run()
    child.name_all()
    results = _gradients_of_inputs(grads, child, node, mask, set())
    if not any(results):
        forget(grads, child)
        return results
    _append(
        grads,
        child,
        op,
        {
            "Cond": slot(op, "Cond"),
            "Input": slot(op, "Input"),
            "Out": outs,
            "Out@GRAD": tuple(arriving[: len(outs)]),
            "Scope": slot(op, "Scope")[0],
        },
        results,
        sub_block=child.target,
        is_scalar_condition=op.attrs["is_scalar_condition"],
    )
    return results


def _while(grads: Differentiator, node: SweptOp, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    child = inner_differentiator(grads, op.attrs["sub_block"])
    outs = slot(op, "Out")
    # What arrives from behind the loop, and what later runs hand to earlier ones.
    pairs = [(v, g) for v, g in zip(outs, arriving, strict=False) if v is not None]
    behind = {v: _rename_gradient(grads, grads.values.written(op, v), g) for v, g in pairs if g is not None}
    seeds = dict(behind)
    for v in _silent_carries(child, [v for v, _ in pairs], seeds):
        seeds[v] = gradient_variable(child.target, names.grad(v.name), v)
        child.target.vars[seeds[v].name] = seeds[v]
    # One run backwards, which ends with what it began with.
    for v, g in seeds.items():
        child.parts[child.values.current(v)] = [g]
    child.run()
    for v, g in seeds.items():
        _write_back(child, v, g)
    child.name_all()
    # What comes out of the loop.
    results = _gradients_of_inputs(grads, child, node, mask, set(seeds))
    for i, (value, w) in enumerate(zip(node.wrt, mask, strict=True)):
        if value is not None and w and variable_of(value) in seeds:
            results[i] = _overwritten_gradient(grads, op, variable_of(value), behind) or grads.new_gradient(value)
    if not any(results):
        forget(grads, child)
        return results
    _append(
        grads,
        child,
        op,
        {
            "X": slot(op, "X"),
            "Out": slot(op, "Out"),
            "Out@GRAD": tuple(behind.values()),
            "StepScopes": slot(op, "StepScopes")[0],
        },
        results,
        sub_block=child.target,
        is_test=op.attrs["is_test"],
        original_output_grad=tuple(g.name for g in behind.values()),
    )
    return results


def _overwritten_gradient(
    grads: Differentiator, op: Operator, v: Variable, behind: Mapping[Variable, Variable]
) -> Variable | None:
    """The gradient that arrives behind the loop *op*, if that of what the loop found in *v* is written over it."""
    g = behind.get(v)
    if g is None or g.op is not None or grads.values.written(op, v) in grads.namer.keep:
        return None
    return g


def _rename_gradient(grads: Differentiator, value: Value, g: Variable) -> Variable:
    """*g*, or a copy of it if its name does not say that it is the gradient of the variable of *value*."""
    v = variable_of(value)
    if g.op is None and names.forward(g.name) == v.name:
        return g
    if g.block is grads.target and names.forward(g.name) == v.name:
        return g
    copied = gradient_variable(grads.target, "", v)
    if grads.namer.borrows(value):
        grads.namer.settle(copied, names.grad(v.name))
        grads.namer.lend(copied, value)
    else:  # nothing is written over it, and the variable of that name has no gradient
        grads.namer.settle_summand(copied, names.grad(v.name))
    assign = registry.get_by_type("assign")
    grads.emitted.emit(assign, (g,), (copied,), assign.attributes({}), like=v)
    return copied


def _silent_carries(child: Differentiator, outs: list[Variable], seeds: Iterable[Variable]) -> list[Variable]:
    """The loop variables to whose gradient nothing arrives from behind the loop, but something from inside it."""
    carried = set(seeds)
    new: list[Variable] = []
    while True:
        reached = reachable(child, {child.values.current(v) for v in carried})
        rest = [v for v in outs if v not in carried and v.dtype.is_differentiable]
        more = [v for v in rest if child.values.initial(v) in reached]
        if not more:
            return new
        new += more
        carried.update(more)


def _write_back(child: Differentiator, v: Variable, g: Variable) -> None:
    """Let the block end with the gradient of what *v* held at its beginning in *g*, where the next run looks for it."""
    value = child.values.initial(v)
    parts = child.parts.get(value)
    if not parts:
        fill = registry.get_by_type("fill_any_like")
        child.emitted.emit(fill, (g,), (g,), fill.attributes({"value": 0.0, "dtype": -1}))
        child.parts[value] = [g]
        return
    if parts[0] is g:
        return
    total = child.accumulate(value, parts) if len(parts) > 1 else parts[0]
    if not total.name:
        total.name = g.name
    child.parts[value] = [g]
    ops = child.emitted.ops
    at = next(i for i, op in enumerate(ops) if total in set(each(op.outputs)))
    if any(_touches(op, g) for op in ops[at + 1 :]):
        total.name = child.namer.number(g.name)
        assign = registry.get_by_type("assign")
        child.emitted.emit(assign, (total,), (g,), assign.attributes({}))
        return
    child.namer.give_back(total.name)
    ops[at].outputs = map_operands(ops[at].outputs, lambda v: g if v is total else v)
    for op in ops[at + 1 :]:  # the gradient of an array is read by the writes that it passes
        op.inputs = map_operands(op.inputs, lambda v: g if v is total else v)


def _touches(op: Operator, v: Variable) -> bool:
    """Return whether *op* reads or writes *v*."""
    return any(o is v for o in (*each(op.inputs), *each(op.outputs)))


def _pylayer(grads: Differentiator, node: SweptOp, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    blocks = op.attrs["blocks"]
    if len(blocks) < 2:
        return [None] * len(mask)
    results: Gradients = []
    for v, value, w in zip(slot(op, "Input"), node.wrt, mask, strict=True):
        if v is None or value is None or not w:
            results.append(None)
            continue
        results.append(grads.new_gradient(value) if names.grad(v.name) in blocks[1].vars else None)
    if any(results):
        grad_op = registry.get_by_type("pylayer_grad")
        outs = slot(op, "Out")
        inputs = (slot(op, "Input"), tuple(arriving[: len(outs)]), slot(op, "Scope")[0])
        grads.emitted.emit(
            grad_op, inputs, (tuple(results), None), grad_op.attributes({"backward_block": blocks[1]}), origin=op
        )
    return results


_RULES: dict[str, Callable[[Differentiator, SweptOp, Gradients, list[bool]], Gradients]] = {
    "conditional_block": _conditional_block,
    "pylayer": _pylayer,
    "while": _while,
}

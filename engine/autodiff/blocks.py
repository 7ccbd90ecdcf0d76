"""Gradients of blocks: the one place where gradient operators are not derived from a rule.

The gradient of an operator with a block is an operator with a block of its own, which holds the backward part of the
first one: it begins with the gradients of what that one writes, and ends with those of what it reads from outside. Both
are built by a :class:`~gradtool.engine.autodiff.builder.Builder`, one inside the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..core import names, source
from ..core.errors import UnsupportedError
from ..ir.blocks import reads, region, slot
from ..ir.operator import Operator, each, mapped
from ..ir.variable import Variable
from ..ops import registry
from .builder import Builder, Node
from .duals import dual
from .nested import Gradients, forget, inner_builder, reachable
from .values import Value, variable_of


def differentiate(builder: Builder, node: Node, arriving: Gradients, mask: list[bool]) -> Gradients:
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
    scope = region(op).scope
    rule = _RULES.get(op.type)
    if (
        rule is None
        or (scope is not None and scope in builder.root.injections)
        or _reads_gradients(op)
        or _keeps(node, arriving)
    ):
        return dual(builder, node, arriving, mask)
    return rule(builder, node, arriving, mask)


def _reads_gradients(op: Operator) -> bool:
    """Whether the plain names of gradients in the block of *op* are names of what it reads."""
    read = {v.name for v in reads(op.sub_blocks[0])}
    return any(names.grad(name) in read for name in read)


def _keeps(node: Node, arriving: Gradients) -> bool:
    """Whether a branch overwrites a variable that keeps its value, and its gradient, where it is not taken."""
    if node.op.type != "conditional_block":
        return False
    before = set(slot(node.op, "Input"))
    return any(g is not None and v in before for v, g in zip(slot(node.op, "Out"), arriving, strict=False))


def _append(
    builder: Builder, child: Builder, op: Operator, inputs: dict[str, object], results: Gradients, **attrs: object
) -> None:
    """Append the operator that runs the block that *child* has built."""
    grad_op = registry.by_type(f"{op.type}_grad")
    operands = tuple(inputs.get(s.name, () if s.many else None) for s in grad_op.inputs)
    outputs = (tuple(results), *((() if s.many else None) for s in grad_op.outputs[1:]))
    builder.emit(grad_op, operands, outputs, grad_op.attributes(attrs), origin=op)  # type: ignore[arg-type]
    builder.inner[builder.ops[-1]] = child


def _gradients_of_inputs(
    builder: Builder, child: Builder, node: Node, mask: list[bool], skip: set[Variable]
) -> Gradients:
    """New variables around the block for the gradients that *child* found of what the block reads from outside."""
    results: Gradients = []
    for value, w in zip(node.wrt, mask, strict=True):
        v = variable_of(value) if value is not None else None
        found = v is not None and v not in skip and w and child.gradient(child.values.initial(v)) is not None
        results.append(builder.gradient_variable(value) if found and value is not None else None)
    return results


def _conditional_block(builder: Builder, node: Node, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    child = inner_builder(builder, op.attrs["sub_block"])
    outs = slot(op, "Out")
    seeds = dict(zip(outs, arriving, strict=False))
    for v, g in seeds.items():
        if v is not None and g is not None:
            child.parts[child.values.current(v)] = [g]
    child.run()
    child.name_all()
    results = _gradients_of_inputs(builder, child, node, mask, set())
    if not any(results):
        forget(builder, child)
        return results
    _append(
        builder,
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


def _while(builder: Builder, node: Node, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    child = inner_builder(builder, op.attrs["sub_block"])
    outs = slot(op, "Out")
    seeds: dict[Variable, Variable] = {}
    given: list[Variable] = []
    for v, g in zip(outs, arriving, strict=False):
        if v is not None and g is not None:
            seeds[v] = _named_after(builder, builder.values.written(op, v), g)
            given.append(seeds[v])
    for v in _carried(child, [v for v in outs if v is not None], seeds):
        seeds[v] = Variable(child.target, names.grad(v.name), v.spec)
        child.target.vars[seeds[v].name] = seeds[v]
    for v, g in seeds.items():
        child.parts[child.values.current(v)] = [g]
    child.run()
    for v, g in seeds.items():
        _write_back(child, v, g)
    child.name_all()
    results = _gradients_of_inputs(builder, child, node, mask, set(seeds))
    for i, (value, w) in enumerate(zip(node.wrt, mask, strict=True)):
        v = variable_of(value) if value is not None else None
        if v is not None and value is not None and w and v in seeds:
            g = seeds[v]
            again = any(g is e for e in given) and g.op is None and builder.values.written(op, v) not in builder.keep
            results[i] = g if again else builder.gradient_variable(value)
    if not any(results):
        forget(builder, child)
        return results
    _append(
        builder,
        child,
        op,
        {"X": slot(op, "X"), "Out": outs, "Out@GRAD": tuple(given), "StepScopes": slot(op, "StepScopes")[0]},
        results,
        sub_block=child.target,
        is_test=op.attrs["is_test"],
        original_output_grad=tuple(g.name for g in given),
    )
    return results


def _named_after(builder: Builder, value: Value, g: Variable) -> Variable:
    """*g*, or a copy of it if its name does not say that it is the gradient of the variable of *value*."""
    v = variable_of(value)
    if g.op is None and names.forward(g.name) == v.name:
        return g
    if g.block is builder.target and names.forward(g.name) == v.name:
        return g
    copied = Variable(builder.target, "", v.spec)
    if builder.borrows(value):
        builder.settle(copied, names.grad(v.name))
        builder.lend(copied, value)
    else:  # nothing is written over it, and the variable of that name has no gradient
        builder.settle_summand(copied, names.grad(v.name))
    assign = registry.by_type("assign")
    builder.emit(assign, (g,), (copied,), assign.attributes({}), like=v)
    return copied


def _carried(child: Builder, outs: list[Variable], seeds: Iterable[Variable]) -> list[Variable]:
    """The loop variables to whose gradient nothing arrives from behind the loop, but something from inside it."""
    known = set(seeds)
    new: list[Variable] = []
    while True:
        reached = reachable(child, {child.values.current(v) for v in known})
        more = [v for v in outs if v not in known and v.dtype.is_differentiable and child.values.initial(v) in reached]
        if not more:
            return new
        new += more
        known.update(more)


def _write_back(child: Builder, v: Variable, g: Variable) -> None:
    """Let the block end with the gradient of what *v* held at its beginning in *g*, where the next run looks for it."""
    value = child.values.initial(v)
    found = child.parts.get(value)
    if not found:
        fill = registry.by_type("fill_any_like")
        child.emit(fill, (g,), (g,), fill.attributes({"value": 0.0, "dtype": -1}))
        child.parts[value] = [g]
        return
    if found[0] is g:
        return
    total = child.accumulate(value, found) if len(found) > 1 else found[0]
    if not total.name:
        total.name = g.name
    child.parts[value] = [g]
    at = next(i for i, op in enumerate(child.ops) if any(o is total for o in each(op.outputs)))
    if any(o is g for op in child.ops[at + 1 :] for o in each(op.inputs)) or any(
        o is g for op in child.ops[at + 1 :] for o in each(op.outputs)
    ):
        total.name = child.numbered(g.name)
        assign = registry.by_type("assign")
        child.emit(assign, (total,), (g,), assign.attributes({}))
        return
    child.taken.discard(total.name)
    op = child.ops[at]
    op.outputs = mapped(op.outputs, lambda v: g if v is total else v)


def _pylayer(builder: Builder, node: Node, arriving: Gradients, mask: list[bool]) -> Gradients:
    op = node.op
    blocks = op.attrs["blocks"]
    if len(blocks) < 2:
        return [None] * len(mask)
    results: Gradients = []
    for v, value, w in zip(slot(op, "Input"), node.wrt, mask, strict=True):
        there = v is not None and w and names.grad(v.name) in blocks[1].vars
        results.append(builder.gradient_variable(value) if there and value is not None else None)
    if any(results):
        grad_op = registry.by_type("pylayer_grad")
        outs = slot(op, "Out")
        inputs = (slot(op, "Input"), tuple(arriving[: len(outs)]), slot(op, "Scope")[0])
        builder.emit(
            grad_op, inputs, (tuple(results), None), grad_op.attributes({"backward_block": blocks[1]}), origin=op
        )
    return results


_RULES: dict[str, Callable[[Builder, Node, Gradients, list[bool]], Gradients]] = {
    "conditional_block": _conditional_block,
    "pylayer": _pylayer,
    "while": _while,
}

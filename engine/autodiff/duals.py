"""Gradients of any operator with a block, of any order: the gradient runs its block like it, the other way round.

What it carries from run to run forwards, the gradient carries backwards. What all runs read, the gradient adds up over
the runs, and what they add up, all runs of the gradient read. What they read from frames gets gradients run by run: the
operator that left the frames finds them (:class:`Injection`) when the sweep comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core import names
from ..ir.blocks import STEP_SCOPES, Carried, Region, reads, region, writes
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..ops import registry
from ..ops.readings import flatten, out_places
from .builder import Builder, Node
from .nested import Gradients, forget, inner_builder, reachable
from .values import Value, variable_of


@dataclass(slots=True)
class Injection:
    """A block whose runs compute gradients of what the runs of another block have left in their frames.

    Attributes:
        scope: the frames of the block that computes them.
        gradients: ``(variable of the other block, its gradient)``.
        child: the builder of the block that computes them.
    """

    scope: Variable
    child: Builder
    gradients: list[tuple[Variable, Variable]]


def dual(builder: Builder, node: Node, arriving: Gradients, mask: list[bool]) -> Gradients:
    """The gradient of an operator with a block, by the form that :func:`~gradtool.engine.ir.blocks.region` gives it."""
    op = node.op
    whole = region(op)
    child = inner_builder(builder, whole.block)
    injected = builder.root.injections.pop(whole.scope, []) if whole.scope is not None else []
    child.outer = builder
    child.visible = [whole.block._find_var_recursive, builder.is_taken, *(i.child.is_taken for i in injected)]
    outs = flatten(op.outputs, out_places(op.op))
    got = {
        v: g for v, g in zip(outs, arriving, strict=True) if v is not None and g is not None and v.kind != STEP_SCOPES
    }
    seeds: dict[Value, list[Variable]] = {}
    given: list[Variable] = []
    for inside, result, _ in whole.sums:
        if result in got:
            seeds.setdefault(child.values.current(inside), []).append(got[result])
            given.append(got[result])
    for injection in injected:
        for v, g in injection.gradients:
            value = child.values.current(v) if v.block is whole.block else child.values.initial(v)
            seeds.setdefault(value, []).append(g)
    carried = [c for c in whole.carried if c.end is not None and c.result in got]
    carried += _carried_too(child, whole, carried, set(seeds))
    ins: list[Variable] = []
    for c in carried:
        assert c.end is not None
        start = Variable(child.target, "", c.end.spec)
        child.settle(start, names.grad(c.end.name))
        child.target.vars[start.name] = start
        ins.append(start)
        seeds.setdefault(child.values.current(c.end), []).append(start)
    child.parts.update(seeds)
    child.run()
    results = _Results(builder, node, mask)
    ends: list[Variable | None] = []
    for c in carried:
        never_read = c.before is None and not (whole.loops or whole.frames)  # there is nothing before the only run
        ends.append(None if never_read else _end(child, c))
        results.carry(c.before)
    child.name_all()
    found = _collect(child, whole)
    for c in whole.carried:  # what only the first run finds, and does not pass on, is like something that it reads
        if c.end is None and c.start is not None and c.before is not None:
            value = child.values.initial(c.start)
            if (g := child.gradient(value)) is not None:
                found.outside.append((c.before, _own(child, value, g)))
    sums = [(v, g) for v, g in found.outside if results.add(v)]
    scope = None
    if found.framed:
        scope = Variable(builder.target, "", whole.frames[0].spec, kind=STEP_SCOPES)
        builder.settle(scope, names.grad(_own_frames(builder, op, whole).name))
    if not results.wanted and scope is None:
        forget(builder, child)
        return results.flat
    own = _own_frames(builder, op, whole)
    scopes = (own, *whole.frames, *(i.scope for i in injected))
    attrs = {
        "sub_block": child.target,
        "backwards": not whole.backwards,
        "starts": tuple(v.name for v in ins),
        "ends": tuple("" if v is None else v.name for v in ends),
        "likes": tuple(c.start.name if c.start is not None else "" for c in carried),
        "sums": tuple(g.name for _, g in sums),
        "sum_likes": tuple(v.name for v, _ in sums),
    }
    grad_op = registry.by_type("block_grad")
    befores = tuple(got.get(c.result) if c.result is not None else None for c in carried)
    afters = tuple(results.of(c.before) for c in carried)
    inputs = (tuple(given), befores, scopes)
    outputs = (afters, tuple(results.of(v) for v, _ in sums), scope)
    builder.emit(grad_op, inputs, outputs, grad_op.attributes(attrs), origin=op)
    builder.inner[builder.ops[-1]] = child
    if scope is not None:
        for owner, gradients in found.framed.items():
            builder.root.injections.setdefault(owner, []).append(Injection(scope, child, gradients))
            results.mark(owner, scope)
    return results.flat


def _own_frames(builder: Builder, op: Operator, whole: Region) -> Variable:
    """The variable with the frames that *op* leaves; a gradient operator gets one when it is first differentiated."""
    if whole.scope is not None:
        return whole.scope
    found = builder.root.new_frames.get(op)
    if found is None:
        like = whole.frames[0]
        name = f"{like.name}@FRAMES"
        number = 0
        taken = {v.name for v in builder.root.new_frames.values()}
        while name in op.block.vars or name in taken:
            number += 1
            name = f"{like.name}@FRAMES@{number}"
        found = Variable(op.block, name, like.spec, kind=STEP_SCOPES)
        found.op = op
        builder.root.new_frames[op] = found
    return found


def _carried_too(child: Builder, whole: Region, known: list[Carried], seeds: set[Value]) -> list[Carried]:
    """What else is carried to whose gradient something arrives from later runs."""
    new: list[Carried] = []
    while True:
        starts = {child.values.current(c.end) for c in (*known, *new) if c.end is not None}
        reached = reachable(child, starts | seeds)
        more = [
            c
            for c in whole.carried
            if c.start is not None
            and c.end is not None
            and c.start.dtype.is_differentiable
            and not any(c is k for k in (*known, *new))
            and child.values.initial(c.start) in reached
        ]
        if not more:
            return new
        new += more


def _end(child: Builder, c: Carried) -> Variable:
    """The variable with the gradient of what a run finds in ``c.start``; zeros where there is none."""
    assert c.start is not None
    value = child.values.initial(c.start)
    found = child.parts.get(value)
    if not found:
        fill = registry.by_type("fill_any_like")
        made = child.gradient_variable(value)
        child.settle_gradient(made, value)
        child.emit(fill, (c.start,), (made,), fill.attributes({"value": 0.0, "dtype": -1}))
        return made
    if len(found) > 1:
        found[:] = [child.accumulate(value, found)]
    elif not found[0].name:
        child.settle_gradient(found[0], value)
    return _own(child, value, found[0])


def _own(child: Builder, value: Value, g: Variable) -> Variable:
    """*g*, or a copy of it in the block that *child* builds."""
    if g.block is child.target:
        return g
    copied = child.gradient_variable(value)
    child.settle_gradient(copied, value)
    copied.kind = g.kind
    assign = registry.by_type("assign")
    child.emit(assign, (g,), (copied,), assign.attributes({}))
    return copied


@dataclass(slots=True)
class _Found:
    """Gradients of what a block reads: from outside, and by the variable of the frames that it reads from."""

    outside: list[tuple[Variable, Variable]] = field(default_factory=list)
    framed: dict[Variable, list[tuple[Variable, Variable]]] = field(default_factory=dict)


def _collect(child: Builder, whole: Region) -> _Found:
    owners = [(scope, region(scope.op).block) for scope in whole.frames if scope.op is not None]
    touched = [(scope, block, {*reads(block), *writes(block)}) for scope, block in owners]
    found = _Found()
    for v in reads(whole.block):
        if whole.start_of(v):
            continue
        if v.kind == STEP_SCOPES:
            parts = child.parts.get(child.values.initial(v))
            g = parts[0] if parts else None
        else:
            g = child.gradient(child.values.initial(v))
        if g is None:
            continue
        g = _own(child, child.values.initial(v), g)
        owner = next((scope for scope, block, used in touched if v.block is block or v in used), None)
        if owner is None:
            found.outside.append((v, g))
        else:
            found.framed.setdefault(owner, []).append((v, g))
    return found


class _Results:
    """Gradients of what an operator reads, by place."""

    def __init__(self, builder: Builder, node: Node, mask: list[bool]) -> None:
        self.builder = builder
        self.places = [
            (variable_of(value) if w and value is not None else None, value)
            for value, w in zip(node.wrt, mask, strict=True)
        ]
        self.flat: Gradients = [None] * len(mask)
        self.wanted = False
        self._made: dict[Variable, Variable] = {}

    def _place(self, v: Variable | None) -> int | None:
        return next((i for i, (e, _) in enumerate(self.places) if v is not None and e is v), None)

    def add(self, v: Variable) -> bool:
        """Make the gradient of *v*, if it is wanted."""
        i = self._place(v)
        if i is None:
            return False
        value = self.places[i][1]
        assert value is not None
        if v not in self._made:
            self._made[v] = self.flat[i] = self.builder.gradient_variable(value)
            self.wanted = True
        return True

    def carry(self, v: Variable | None) -> None:
        """Make the gradient of what *v* held before the first run, if it is wanted."""
        if v is not None:
            self.add(v)

    def of(self, v: Variable | None) -> Variable | None:
        return self._made.get(v) if v is not None else None

    def mark(self, scope: Variable, frames: Variable) -> None:
        """Let the sweep visit the operator that left the frames in *scope*."""
        i = self._place(scope)
        if i is not None:
            self.flat[i] = frames

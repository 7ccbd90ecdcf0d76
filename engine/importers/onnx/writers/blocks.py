"""Branches and loops, and the gradients of branches.

A block becomes a graph inside a node. A branch that is not taken must give something, too: what its variable was
before, or zeros that nobody reads, because ``select_input`` takes the other branch. What the gradient of a branch needs
of the values inside is given by the node of the branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....ir.operator import Operator
from ....ir.variable import DENSE, Variable
from ..tensors import type_number
from ..writing import GraphWriter, MissingRow, OnnxCall
from .rows import writes


def _all_operators(blocks: Iterable[Any]) -> Iterator[Operator]:
    """The operators of blocks, and of those inside them."""
    todo = list(blocks)
    while todo:
        ops = todo.pop().ops
        yield from ops
        todo += (block for op in ops for block in op.sub_blocks)


def _values_for_backward(op: Operator, inside: Any) -> list[Variable]:
    """The values of a block, and of those inside it, that its backward block reads."""
    backward = [b for b in op.block.program.blocks if b.forward_block_idx == inside.idx]
    made = {v for other in _all_operators([inside]) for v in other.output_variables() if v.block is not op.block}
    read = (v for other in _all_operators(backward) for v in other.input_variables())
    return [v for v in dict.fromkeys(read) if v.kind == DENSE and v in made]


def _empty_zeros(w: GraphWriter, v: Variable) -> str:
    """Zeros in the type of a variable, without any element where its sizes are not all known."""
    shape = w.constant([max(d, 0) for d in v.shape])
    return w.node("Expand", w.number(0, v), shape)


def _value_before(w: GraphWriter, v: Variable) -> str:
    """Return the value of a variable where its block does not run."""
    return w.value(v) if w.has_value(v) else _empty_zeros(w, v)


def _expect_dense(variables: Sequence[Variable]) -> None:
    if any(v.kind != DENSE for v in variables):
        raise MissingRow("with arrays of tensors")


@writes("conditional_block")
def _branch(c: OnnxCall) -> Any:
    w, inside = c.w, c.op.sub_blocks[0]
    results = [v for v in c.results("Out") if v is not None]
    needed = _values_for_backward(c.op, inside)
    _expect_dense(results)
    with w.graph() as then:
        w.write(inside.ops)
        for v in (*results, *needed):
            then.give(w.value(v), v)
    with w.graph() as other:
        for v in results:
            other.give(_value_before(w, v), v)
        for v in needed:
            other.give(_empty_zeros(w, v), v)
    made = _write_branch(c, then, other)
    w.values.update(zip(needed, made[len(results) :], strict=True))
    return {"Out": made[: len(results)]}


def _write_branch(c: OnnxCall, then: Any, other: Any) -> list[str]:
    """An ``If`` by the condition of a block."""
    condition = c.w.node("Reshape", c["Cond"], c.w.constant([], "int64"))
    return c.w.several("If", [condition], then.count, then_branch=then.proto("then"), else_branch=other.proto("else"))


@writes("conditional_block_grad")
def _branch_back(c: OnnxCall) -> Any:
    w, inside = c.w, c.op.sub_blocks[0]
    if any(c.results("Written")):
        raise MissingRow("of a branch that overwrites what it reads")
    pairs = list(zip(c.many("Input"), c.results("Input@GRAD"), strict=True))
    wanted = [(x, inside.vars.get(f"{x.name}@GRAD")) for x, gradient in pairs if gradient is not None]
    with w.graph() as then:
        w.write(inside.ops)
        for x, v in wanted:
            then.give(_zeros(w, x) if v is None else w.value(v), x)
    with w.graph() as other:
        for x, _ in wanted:
            other.give(_zeros(w, x), x)
    made = iter(_write_branch(c, then, other))
    return {"Input@GRAD": [None if gradient is None else next(made) for _, gradient in pairs]}


def _zeros(w: GraphWriter, like: Variable) -> str:
    return w.node("Expand", w.number(0, like), w.shape(like))


@writes("select_input")
def _select(c: OnnxCall) -> Any:
    w, choices = c.w, c.many("X")
    if len(choices) != 2:
        raise MissingRow(f"of {len(choices)} branches")
    _expect_dense(choices)
    graphs = []
    for v in choices:
        with w.graph() as graph:
            graph.give(w.value(v), v)
        graphs.append(graph)
    mask = w.node("Cast", w.node("Reshape", c["Mask"], w.constant([], "int64")), to=type_number("bool"))
    other, then = graphs
    return w.several("If", [mask], 1, then_branch=then.proto("then"), else_branch=other.proto("else"))[0]


@writes("select_output")
def _hand_on(c: OnnxCall) -> Any:
    """To both branches: the gradient of the one that was not taken does not look at it."""
    return {"Out": [c.w.node("Identity", c["X"]) for _ in c.results("Out")]}


@writes("while")
def _loop(c: OnnxCall) -> Any:
    w, inside, condition = c.w, c.op.sub_blocks[0], c.var("Condition")
    results = [v for v in c.results("Out") if v is not None]
    carried = [v for v in results if v is not condition]
    _expect_dense(results)
    if not all(map(w.has_value, carried)):
        raise MissingRow("that makes a variable which nothing gave a value before")
    scalar = w.constant([], "int64")
    start = [w.value(v) for v in carried]
    go_on = w.node("Reshape", w.value(condition), scalar)
    with w.graph() as body:
        body.take("round", "int64", ())
        body.take("go_on", "bool", ())
        for v in carried:
            w.values[v] = body.take(v.name, v.dtype.name, None)
        w.write(inside.ops)
        body.give(w.node("Reshape", w.value(condition), scalar), condition)
        for v in carried:
            body.give(w.value(v), v)
    made = dict(
        zip(carried, w.several("Loop", ["", go_on, *start], len(carried), body=body.proto("body")), strict=True)
    )
    ended = w.constant(False, "bool") if len(condition.shape) == 0 else w.constant([False], "bool")
    return {"Out": [made.get(v, ended) for v in results]}

"""Insert a finished backward part into its program: callbacks first, then everything in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from ..ir import roles
from ..ir.blocks import enter, slot
from ..ir.desc import NewOpDesc, OpDesc
from ..ir.operator import Operator, intern_attrs
from ..ir.variable import Variable
from .differentiator import Differentiator

Callback = Callable[..., Any]
_NAME = attrgetter("name")


def call_back(grads: Differentiator, callbacks: Sequence[Callback], seeds: int) -> list[Operator]:
    """The new operators with what *callbacks* added; each is called once for each operator after the seeds.

    Forward operators that are computed again are passed over. While the callbacks run, ``block.desc`` shows the
    operators so far and ``block.ops`` the forward part only.
    """
    if not callbacks:
        return grads.emitted.ops
    pending: list[Any] = grads.target.pending
    context = grads.call.context
    assert context is not None
    scope = {v.name: v for op in grads.emitted.ops for v in op.output_variables()}
    try:
        for i, op in enumerate(grads.emitted.ops):
            inner = grads.emitted.inner.get(op)
            if inner is not None:
                inner.emitted.ops = call_back(inner, callbacks, 0)
            pending.append(op)
            if i < seeds or op.repeats is not None:
                continue
            context["__current_op_desc__"] = OpDesc(op)
            for callback in callbacks:
                callback(block=grads.target, context=context)
                _complete(pending, scope)
        return list(pending)
    finally:
        pending.clear()


def _complete(pending: list[Any], scope: dict[str, Variable]) -> None:
    """Make operators of what a callback has added."""
    for i, entry in enumerate(pending):
        if isinstance(entry, NewOpDesc):
            pending[i] = entry.complete(scope)
            pending[i].role |= roles.BACKWARD


def commit(grads: Differentiator, ops: list[Operator]) -> list[Operator]:
    """Enter everything into the block: saves of overwritten values, new variables by name, new operators.

    Returns:
        The operators that now stand between those that were there, in order.
    """
    grads.recomputed.settle(grads)
    grads.namer.close()
    between = _insert_saves(grads)
    for op, frames in grads.call.frames.items():
        op.outputs = (*op.outputs[:-1], frames)  # every such operator has its frames last
        op.block.add_var(frames).op = op
    if grads.call.blocks:
        enter(grads.call.blocks)
    _append(grads, ops)
    return between


def _append(grads: Differentiator, ops: list[Operator]) -> None:
    """Append the operators to their block, its new variables by name, and the operators inside them to theirs."""
    block = grads.target
    for op in grads.emitted.inner:
        if op.type == "while_grad":
            _name_arriving(op)
    variables: list[Variable] = []
    for op in ops:
        for value in op.outputs:
            for v in value if isinstance(value, tuple) else (value,):
                if v is not None and v.block is block:
                    variables.append(v)
                    v.op = op
    variables.reverse()  # of those with one name the last one stays
    variables.sort(key=_NAME)
    for v in variables:
        block.vars.setdefault(v.name, v)
    block.ops.extend(ops)
    for op in ops if grads.emitted.inner else ():
        inner = grads.emitted.inner.get(op)
        if inner is not None:
            _insert_saves(inner)
            _append(inner, inner.emitted.ops)
            inner.target.owner = op
    block.program.version += 1


def _name_arriving(op: Operator) -> None:
    """Let a loop's gradient operator say what arrives: some of it was named anew since."""
    arriving = tuple(g.name for g in slot(op, "Out@GRAD") if g is not None)
    op.attrs = intern_attrs(op.op, {**op.attrs, "original_output_grad": arriving})


def _insert_saves(grads: Differentiator) -> list[Operator]:
    """Put the saves before the operators that they belong to; returns those of its own block."""
    between: list[Operator] = []
    homes = {save.block for saves in grads.saves.before.values() for save in saves}
    for home in homes:
        body: list[Operator] = []
        for op in (*home.ops, None):
            saves = [save for save in grads.saves.before.get(op, ()) if save.block is home]
            for save in saves:
                saved = next(save.output_variables())
                saved.op = save
                home.vars[saved.name] = saved
            body += saves if op is None else [*saves, op]
            if home is grads.block:
                between += saves
        home._replace_ops(body)
    return between

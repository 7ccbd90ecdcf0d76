"""How a backward part that has been built enters its program: callbacks first, then everything in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..ir import roles
from ..ir.blocks import enter, slot
from ..ir.desc import NewOpDesc, OpDesc
from ..ir.operator import Operator, intern_attrs

if TYPE_CHECKING:
    from .builder import Builder

Callback = Callable[..., Any]


def call_back(builder: Builder, callbacks: Sequence[Callback], seeds: int) -> list[Operator]:
    """The new operators with what *callbacks* added; each is called once for each operator after the seeds.

    Forward operators that are computed again are passed over. While the callbacks run, ``block.desc`` shows the
    operators so far and ``block.ops`` the forward part only.
    """
    if not callbacks:
        return builder.ops
    pending: list[Any] = builder.target.pending
    context = builder.root.context
    scope = {v.name: v for op in builder.ops for v in op.output_variables()}
    try:
        for i, op in enumerate(builder.ops):
            if op in builder.inner:
                inner = builder.inner[op]
                inner.ops = call_back(inner, callbacks, 0)
            pending.append(op)
            if i < seeds or op.repeats is not None:
                continue
            context["__current_op_desc__"] = OpDesc(op)
            for callback in callbacks:
                callback(block=builder.target, context=context)
                for j, entry in enumerate(pending):
                    if isinstance(entry, NewOpDesc):
                        pending[j] = entry.complete(scope)
                        pending[j].role |= roles.BACKWARD
        return list(pending)
    finally:
        pending.clear()


def commit(builder: Builder, ops: list[Operator]) -> list[Operator]:
    """Enter everything into the block: saves of overwritten values, new variables by name, new operators.

    Returns:
        The operators that now stand between those that were there, in order.
    """
    block = builder.target
    for op in builder.inner:
        if op.type == "while_grad":  # some were named anew since
            arriving = tuple(g.name for g in slot(op, "Out@GRAD") if g is not None)
            op.attrs = intern_attrs(op.op, {**op.attrs, "original_output_grad": arriving})
    variables = {v.name: v for op in ops for v in op.output_variables() if v.block is block}
    builder.recomputed.settle(builder)
    between = _insert_saves(builder)
    for op, frames in builder.new_frames.items():
        op.outputs = (*op.outputs[:-1], frames)  # every such operator has its frames last
        op.block.add_var(frames).op = op
    if builder.new_blocks:
        enter(builder.new_blocks)
    for name in sorted(variables):
        block.vars.setdefault(name, variables[name])
    block.ops.extend(ops)
    for op in ops:
        if op in builder.inner:
            inner = builder.inner[op]
            commit(inner, inner.ops)
            inner.target.owner = op
        for v in op.output_variables():
            if v.block is block:
                v.op = op
    block.program.version += 1
    return between


def _insert_saves(builder: Builder) -> list[Operator]:
    """Put the saves before the operators that they belong to; returns those of the builder's own block."""
    between: list[Operator] = []
    homes = {save.block for saves in builder.saves.values() for save in saves}
    for home in homes:
        body: list[Operator] = []
        for op in (*home.ops, None):
            for save in builder.saves.get(op, ()):
                if save.block is not home:
                    continue
                saved = next(save.output_variables())
                saved.op = save
                home.vars[saved.name] = saved
                body.append(save)
                if home is builder.block:
                    between.append(save)
            if op is not None:
                body.append(op)
        home._replace_ops(body)
    return between

"""Control flow: operators that run blocks, and those that join the results of branches.

The operators that hold blocks have no kernels of their own: the executor runs their blocks, and the backward pass
differentiates these (``autodiff/blocks.py``). What stands here are their slots and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...core.errors import ExecutionError
from ..defined import register
from ..opdef import BLOCK, Array, Late, Like, Namespace, OpDef, Operand, Read, Slot, op, parse_slots


class BlockRule:
    """Slots of an operator with a block that take part in gradients; the blocks say how."""

    expands = False
    takes_none = True
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType({})

    def __init__(self, wrt: Sequence[int], outputs: Sequence[int]) -> None:
        self.wrt = tuple(wrt)
        self.reads = tuple(Read("dout", j, late=True) for j in outputs)

    def __call__(
        self,
        k: Namespace,
        args: Sequence[Operand],
        wanted: Sequence[Sequence[bool]],
        attrs: Mapping[str, Any],
    ) -> list[list[Array | None]]:
        raise ExecutionError("the gradient of a block is made of operators, not computed from arrays")


def _holder(name: str, signature: str, attrs: Mapping[str, Any], doc: str, wrt: str) -> OpDef:
    """An operator that runs a block."""

    def kernel(k, *operands):
        raise ExecutionError(f"{name} runs inside a program only")

    kernel.__doc__ = doc
    holder = op(name, signature, attrs=attrs)(kernel)
    holder.rule = BlockRule([holder.input_index[n] for n in wrt.split()], range(len(holder.outputs)))
    return holder


def _gradient(forward: OpDef, signature: str, attrs: Mapping[str, Any], wrt: str) -> OpDef:
    """The operator that runs the backward block of *forward*."""

    def kernel(k, *operands):
        raise ExecutionError(f"{forward.type}_grad runs inside a program only")

    kernel.__doc__ = f"Gradient of {forward.type}: runs the block of the gradients of its block."
    before, _, after = signature.partition("->")
    outputs = tuple(Slot(s.name, s.many, True, s.name in ("Written", "Frames")) for s in parse_slots(after))
    definition = OpDef(
        f"{forward.name}_grad",
        f"{forward.type}_grad",
        parse_slots(before),
        outputs,
        kernel,
        defaults=attrs,
        forward=forward,
    )
    definition.rule = BlockRule([definition.input_index[n] for n in wrt.split()], range(len(definition.outputs)))
    register(definition)
    forward._grad = definition
    return definition


conditional_block = _holder(
    "conditional_block",
    "Input* Cond* -> Out* Scope",
    {"sub_block": BLOCK, "is_scalar_condition": False},
    "Runs its block if the condition holds; else its outputs stay what they were.",
    "Input",
)
_gradient(
    conditional_block,
    "Input* Cond* Out* Out@GRAD* Scope -> Input@GRAD* Written* Frames?",
    {"sub_block": BLOCK, "is_scalar_condition": False},
    "Input Out@GRAD Scope",
)

while_ = _holder(
    "while",
    "X* Condition -> Out* StepScopes",
    {"sub_block": BLOCK, "is_test": False},
    "Runs its block as long as the condition holds.",
    "X",
)
_gradient(
    while_,
    "X* Out* Out@GRAD* StepScopes -> X@GRAD* Frames?",
    {"sub_block": BLOCK, "is_test": False, "original_output_grad": ()},
    "X Out@GRAD StepScopes",
)

pylayer = _holder(
    "pylayer",
    "Input* -> Out* Scope",
    {"blocks": ()},
    "Runs its first block; the second one, if there is one, computes the gradients.",
    "Input",
)
_gradient(
    pylayer,
    "Input* Out@GRAD* Scope -> Input@GRAD* Frames?",
    {"backward_block": BLOCK},
    "Out@GRAD Scope",
)


block_grad = _holder(
    "block_grad",
    "X* Before* Scopes* -> After* Sum* Scope?",
    {
        "sub_block": BLOCK,
        "backwards": True,
        "starts": (),
        "ends": (),
        "likes": (),
        "sums": (),
        "sum_likes": (),
    },
    "Runs a block of gradients of any order, once for each frame that another block left.",
    "X Before Scopes",
)


def _chosen(mask, count, op_type):
    """The place that *mask*, a tensor of one number, asks for."""
    place = int(mask.reshape(()))
    if not 0 <= place < count:
        raise ExecutionError(f"{op_type}: the mask is {place}, but there are {count} to choose from")
    return place


@op("select_input", "X* Mask -> Out")
def select_input(k, x, mask):
    """The tensor of *x* at the place that *mask* says; the others need not have been computed."""
    chosen = x[_chosen(mask, len(x), "select_input")]
    if chosen is None:
        raise ExecutionError("select_input: the tensor that the mask asks for was not computed")
    return chosen


@select_input.infer
def _(x, mask):
    first, second = x[0], x[-1]
    if first.ndim != second.ndim:
        return second
    return second.replace_shape(m if m == n else -1 for m, n in zip(first.shape, second.shape, strict=True))


@select_input.gradient(wrt="X", expands=True)
def _(k, mask, dout):
    outs = k.select_output(dout, mask)
    return [outs[0], outs[1]]


@op("select_output", "X Mask -> Out*")
def select_output(k, x, mask):
    """*x* at the one of two places that *mask* says; nothing at the other."""
    place = _chosen(mask, 2, "select_output")
    return [x if i == place else None for i in range(2)]


@select_output.infer
def _(x, mask):
    return ((x, x),)


@select_output.gradient(wrt="X", expands=True)
def _(k, x: Like, mask, dout: Late):
    return k.select_input([k.full_like(x, value=0.0) if g is None else g for g in dout], mask)

"""A cut taken out of a static program, to see what a gradient is without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...answers.why.answers import Answer
from ...answers.why.verdicts import Verdict
from ...ir.operator import Operator, each
from ...ir.program import Block, Program
from ...ir.variable import Parameter, Variable
from ...ops.registry import get_by_type
from .model import ProgramModel


def mend(model: ProgramModel, answer: Answer) -> None:
    """Take the cut that *answer* names out of the program."""
    program = model.program
    if answer.verdict is Verdict.NO_GRAD_SET:
        model.calls = [replace(call, no_grad=set()) for call in model.calls]
        return
    name = answer.cut or answer.tensor
    v = next(block.vars[name] for block in program.blocks if name in block.vars)
    if isinstance(v, Parameter):
        v.trainable = True
    v.stop_gradient = False
    op = v.op
    if op is not None and op.type == "share_data":
        op.op = get_by_type("assign")
        op.attrs = op.op.defaults
    _release(program, v)


def _operators_in_order(block: Block) -> Iterator[Operator]:
    """The operators of *block*; those in blocks come before the operator that holds these."""
    for op in block.ops:
        for inner in op.sub_blocks:
            yield from _operators_in_order(inner)
        yield op


def _release(program: Program, start: Variable) -> None:
    """Let gradients through what stopped them only because *start* did."""
    released = {start}
    for op in _operators_in_order(program.global_block()):
        read = list(each(op.inputs))
        if op.op.differentiable and released.intersection(read) and all(v.stop_gradient or v in released for v in read):
            for v in each(op.outputs):
                v.stop_gradient = False
                released.add(v)

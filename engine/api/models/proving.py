"""``--prove``: run the model again with the smallest change that connects a tensor, and look at its gradient."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.ir.operator import Operator, each
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Parameter, Variable
from gradtool.engine.ops.registry import by_type

from . import cases
from .errors import CommandError
from .loader import Request
from .notes import SILENT, Notes
from .program_model import ProgramModel

_CUTS = {
    Verdict.DETACHED: "without that cut",
    Verdict.NO_GRAD: "outside no_grad",
    Verdict.STOP_GRADIENT: "without stop_gradient",
    Verdict.FROZEN: "if it were not frozen",
    Verdict.NO_GRAD_SET: "without the no_grad_set",
}


def proved(answer: Answer, request: Request, options: dict[str, Any], out: Notes) -> Answer:
    """*answer* with what the gradient is without the cut, where taking out a cut is what it takes."""
    if answer.verdict not in _CUTS:
        if answer.verdict is Verdict.OK or answer.verdict.is_zero:
            return answer
        return dataclasses.replace(answer, proved="not proved: no single change of the graph connects it")
    quiet = SILENT
    again = dataclasses.replace(request, spared=answer.cut_lines)
    changed = {**options, "run_": True}
    if answer.verdict is Verdict.NO_GRAD_SET:
        changed["no_grad"] = ()
    try:
        with cases.opened(again, [answer.name], changed, quiet, lambda model: _amend(model, answer)) as found:
            if found.case is None:
                raise CommandError(f"{found.name} raised")
            subject = found.case.subjects()[0]
            now = found.case.answer(subject)
    except CommandError as error:
        return dataclasses.replace(answer, proved=f"not proved: {error}")
    if now.verdict is answer.verdict and now.location[:1] and now.source == answer.source:
        return dataclasses.replace(answer, proved="not proved: no single change of the program connects it")
    if now.gradient is None:
        return dataclasses.replace(answer, proved=f"{_CUTS[answer.verdict]} still: {now.label}, {now.source}")
    shape = "×".join(map(str, answer.shape)) or "[]"
    text = f"{_CUTS[answer.verdict]}: ‖g‖ = {now.gradient['norm']:.4g} ({shape})   [proved by running again]"
    return dataclasses.replace(answer, proved=text)


def _amend(model: ProgramModel, answer: Answer) -> None:
    """Take the cut out of a static program."""
    program = model.program
    if answer.verdict is Verdict.NO_GRAD_SET:
        model.made = [(loss, listed, set(), at) for loss, listed, _, at in model.made]
        return
    name = answer.cut or answer.tensor
    v = next(block.vars[name] for block in program.blocks if name in block.vars)
    if isinstance(v, Parameter):
        v.trainable = True
    v.stop_gradient = False
    op = v.op
    if op is not None and op.type == "share_data":
        op.op = by_type("assign")
        op.attrs = op.op.defaults
    _release(program, v)


def _in_order(block: Block) -> Iterator[Operator]:
    """The operators of *block*; those in blocks come before the operator that holds these."""
    for op in block.ops:
        for inner in op.sub_blocks:
            yield from _in_order(inner)
        yield op


def _release(program: Program, start: Variable) -> None:
    """Let gradients through what stopped them only because *start* did."""
    released = {start}
    for op in _in_order(program.global_block()):
        read = list(each(op.inputs))
        if op.op.differentiable and released.intersection(read) and all(v.stop_gradient or v in released for v in read):
            for v in each(op.outputs):
                v.stop_gradient = False
                released.add(v)
